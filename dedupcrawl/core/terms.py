# cython: language_level=3
"""Words of a folded text: those that spaces or marks part, and what is left for a segmenter of Chinese and Japanese."""

import re

import cython
from cython.cimports.cpython.mem import PyMem_Free
from cython.cimports.cpython.unicode import PyUnicode_FromKindAndData
from cython.cimports.libc.stdlib import calloc, free, malloc

from dedupcrawl.core.characters import CJK, VOWEL_SIGNS

LONGEST_WORD = 64
"""Characters; longer words are cut into pieces, so that what is remembered stays small."""
PLACE = "\ue000"
"""Stands where a spaced word is; a character for private use, so part of no word."""

_LONGEST = cython.declare(cython.Py_ssize_t, LONGEST_WORD)
_PLACE = cython.declare(uint32_t, ord(PLACE))
_classes = cython.declare(cython.pointer(uint8_t), cython.cast(cython.pointer(uint8_t), calloc(POINTS, 1)))
if _classes is cython.NULL:
    raise MemoryError


@cython.cfunc
def _mark(ranges: str, bit: uint8_t):
    for first, last in re.findall("(.)(?:-(.))?", ranges):
        point: cython.int
        for point in range(ord(first), ord(last or first) + 1):
            _classes[point] |= bit


_mark(CJK, IDEOGRAPH)
_mark(VOWEL_SIGNS, VOWEL_SIGN)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _is_spaced(point: uint32_t) -> cython.bint:
    """Whether it is part of a word in a script that writes words with spaces."""
    if _classes[point]:
        return _classes[point] & VOWEL_SIGN != 0
    return Py_UNICODE_ISALNUM(point)


@cython.cfunc
def _cut(points: cython.pointer(uint32_t), size: cython.Py_ssize_t) -> tuple:
    at: cython.Py_ssize_t = 0
    end: cython.Py_ssize_t
    written: cython.Py_ssize_t = 0
    has_ideograph: cython.bint = False
    words: list = []
    for at in range(size):
        if _classes[points[at]] & IDEOGRAPH:
            has_ideograph = True
            break
    out: cython.pointer(uint32_t) = cython.NULL
    if has_ideograph:
        out = cython.cast(cython.pointer(uint32_t), malloc(4 * size))
        if out is cython.NULL:
            raise MemoryError
    at = 0
    try:
        while at < size:
            end = at
            while end < size and end - at < _LONGEST and _is_spaced(points[end]):
                end += 1
            if end > at:
                words.append(PyUnicode_FromKindAndData(4, points + at, end - at))
            if has_ideograph:
                mark: uint32_t = points[at]
                if end > at:
                    mark = _PLACE
                elif mark == _PLACE:
                    mark = 0x20
                elif 0xD800 <= mark < 0xE000:
                    mark = 0x3F
                out[written] = mark
                written += 1
            at = max(end, at + 1)
        return PyUnicode_FromKindAndData(4, out, written) if has_ideograph else "", words
    finally:
        free(out)


def cut(folded: str) -> tuple:
    """The words of a folded text that spaces or marks part, and what else there is to segment.

    Returns:
        The text with `PLACE` in the place of each of these words, and no other, for a segmenter, which would cut
        Cyrillic into letters; empty for a text without ideographs and kana. And the words, in order.
    """
    points: cython.pointer(cython.Py_UCS4) = PyUnicode_AsUCS4Copy(folded)
    try:
        return _cut(cython.cast(cython.pointer(uint32_t), points), len(folded))
    finally:
        PyMem_Free(points)


def cut_text(text: SymbolText) -> tuple:
    """`cut` of its folded text."""
    return _cut(text.folded, text.size)


def term_hashes(words: list, remembered: object) -> bytes:
    """The hashes of the terms of words, four bytes each, but for those without one.

    Args:
        words: Any number of them.
        remembered: Mapping of word → hash of its term, −1 where it has none.
    """
    count: cython.Py_ssize_t = 0
    made: bytes = bytes(4 * len(words))
    out: cython.pointer(uint32_t) = cython.cast(cython.pointer(uint32_t), cython.cast(cython.p_char, made))
    for word in words:
        hashed: cython.longlong = remembered[word]
        if hashed >= 0:
            out[count] = cython.cast(uint32_t, hashed)
            count += 1
    return made[: 4 * count]
