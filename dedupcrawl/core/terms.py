# cython: language_level=3
"""Words of a folded text: those that spaces or marks part, and what is left for a segmenter of Chinese and Japanese."""

import os
import re
from threading import Lock

import cython
from cython.cimports.cpython.mem import PyMem_Free
from cython.cimports.cpython.unicode import PyUnicode_FromKindAndData
from cython.cimports.dedupcrawl.core.arrays import resized, uint8s, uint32s
from cython.cimports.dedupcrawl.core.hashing import fmix64, murmur3_32
from cython.cimports.libc.stdlib import free
from cython.cimports.libc.string import memcmp, memcpy, memset

from dedupcrawl.core.characters import CJK, VOWEL_SIGNS
from dedupcrawl.core.words import STOP_WORDS

LONGEST_WORD = 64
"""Characters; longer words are cut into pieces, so that what is remembered stays small."""
PLACE = "\ue000"
"""Stands where a spaced word is; a character for private use, so part of no word."""

_LONGEST = cython.declare(cython.Py_ssize_t, LONGEST_WORD)
_PLACE = cython.declare(uint32_t, ord(PLACE))
_REMEMBERED = 1 << 16  # words whose terms are
_FACTOR = cython.declare(uint64_t, 0x9E3779B97F4A7C15)  # 2**64 by the golden ratio (Knuth)
# Chosen anew in each process: where a word stands in the table cannot be foreseen by who makes pages.
_seed = cython.declare(uint64_t, int.from_bytes(os.urandom(8), "little"))
_all_classes = cython.declare(bytes, bytes(POINTS))
_classes = cython.declare(cython.pointer(uint8_t), uint8s(_all_classes))


@cython.cfunc
def _mark(ranges: str, bit: uint8_t):
    for first, last in re.findall("(.)(?:-(.))?", ranges):
        point: cython.int
        for point in range(ord(first), ord(last or first) + 1):
            _classes[point] |= bit


_mark(CJK, IDEOGRAPH)
_mark(VOWEL_SIGNS, VOWEL_SIGN)


@cython.cfunc
def _mark_letters():
    """Of the characters that most texts are made of it is known once whether they are letters or digits."""
    point: cython.int
    for point in range(KNOWN):
        if Py_UNICODE_ISALNUM(point):
            _classes[point] |= ALNUM


_mark_letters()


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _is_spaced(point: uint32_t, kind: uint8_t) -> cython.bint:
    """Whether it is part of a word in a script that writes words with spaces; `kind` are its classes."""
    if kind & (IDEOGRAPH | VOWEL_SIGN):
        return kind & VOWEL_SIGN != 0
    return kind != 0 if point < KNOWN else Py_UNICODE_ISALNUM(point)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _is_joining(point: uint32_t) -> cython.bint:
    """Whether it is one of "#%&+-._"."""
    return point == 0x23 or 0x25 <= point <= 0x26 or point == 0x2B or 0x2D <= point <= 0x2E or point == 0x5F


class TermHashes:
    """Word → MurmurHash3 x86 32 of its term; for a while remembered.

    Args:
        stemmer: As of `term_of`.
    """

    def __cinit__(self, stemmer: object):
        self.hashes, self.stemmer = {}, stemmer

    def of(self, word):
        """−1 where it has no term."""
        remembered: object = self.hashes.get(word)
        if remembered is not None:
            return remembered
        if len(self.hashes) >= _REMEMBERED:
            self.hashes.clear()
        hashed: int64_t = -1
        term: str = term_of(word, self.stemmer) if word != PLACE else ""
        if term:
            raw: bytes = term.encode("utf-8", "replace")
            hashed = murmur3_32(uint8s(raw), len(raw), 0)
        self.hashes[word] = hashed
        return hashed


class SpacedTerms:
    """The hashes of the terms of words that spaces or marks part, remembered by their characters.

    Args:
        of_words: Those of all words.
    """

    def __cinit__(self, of_words: TermHashes):
        self.of_words, self.lock = of_words, Lock()
        self.table, self.characters = bytes(SLOTS * cython.sizeof(Slot)), bytes(4 * ROOM)
        self.slots, self.points = cython.cast(cython.pointer(Slot), uint8s(self.table)), uint32s(self.characters)

    def __dealloc__(self):
        free(self.found)

    def of(self, text: SymbolText) -> tuple:
        """The hashes of a text's words, four bytes each, but for those without a term; and what else is to be cut.

        That is its ideographs and kana, with one line break in the place of all words and marks between two of them.
        The marks stay that jieba does not part ideographs at, of several in a row the first: so it finds the same
        words, and has half as much to read.
        """
        with self.lock:  # to make a term, Python runs, and may go on with another thread
            self.count = 0
            rest, _ = _cut(text.folded, text.size, False, self)
            return cython.cast(cython.p_char, self.found)[: 4 * self.count] if self.count else b"", rest

    def add(self, word, size):
        hashed: uint64_t = _seed
        i: cython.Py_ssize_t
        for i in range(size):
            hashed = (hashed ^ word[i]) * _FACTOR
        hashed = fmix64(hashed)
        place: cython.size_t = hashed & (SLOTS - 1)
        while self.slots[place].size:
            slot: cython.pointer(Slot) = self.slots + place
            if slot.hash == hashed and slot.size == size and not memcmp(self.points + slot.begin, word, 4 * size):
                return self.note(slot.term)
            place = (place + 1) & (SLOTS - 1)
        term: int64_t = self.of_words.of(PyUnicode_FromKindAndData(4, word, size))
        if 2 * (self.used + 1) > SLOTS or self.filled + size > ROOM:
            memset(self.slots, 0, SLOTS * cython.sizeof(Slot))
            self.used = self.filled = 0
            place = hashed & (SLOTS - 1)
        slot = self.slots + place
        slot.hash, slot.term, slot.begin, slot.size = hashed, term, self.filled, size
        memcpy(self.points + self.filled, word, 4 * size)
        self.used += 1
        self.filled += size
        return self.note(term)

    def note(self, term):
        if term < 0:
            return 0
        if self.count == self.room:
            room: cython.Py_ssize_t = 2 * self.room + 512
            self.found = cython.cast(cython.pointer(uint32_t), resized(self.found, room, 4))
            self.room = room
        self.found[self.count] = term
        self.count += 1
        return 0


@cython.cfunc
def _cut(points: cython.pointer(uint32_t), size: cython.Py_ssize_t, keeps_places: cython.bint, terms: object) -> tuple:
    at: cython.Py_ssize_t = 0
    end: cython.Py_ssize_t
    written: cython.Py_ssize_t = 0
    has_ideograph: cython.bint = False
    words: list = []
    classes: cython.pointer(uint8_t) = _classes
    kind: uint8_t
    for at in range(size):
        if classes[points[at]] & IDEOGRAPH:
            has_ideograph = True
            break
    rest: bytes = bytes(4 * size) if has_ideograph else b""
    out: cython.pointer(uint32_t) = uint32s(rest)
    at = 0
    while at < size:
        kind = classes[points[at]]
        if kind & (IDEOGRAPH | VOWEL_SIGN) == IDEOGRAPH:
            out[written] = points[at]
            written += 1
            at += 1
            continue
        end = at
        most: cython.Py_ssize_t = min(size, at + _LONGEST)
        while end < most and _is_spaced(points[end], classes[points[end]]):
            end += 1
        if end > at:
            if terms is None:
                words.append(PyUnicode_FromKindAndData(4, points + at, end - at))
            else:
                cython.cast(SpacedTerms, terms).add(points + at, end - at)
        if has_ideograph:
            mark: uint32_t = points[at]
            if not keeps_places:
                mark = mark if end == at and _is_joining(mark) else 0x0A
            elif end > at:
                mark = _PLACE
            elif mark == _PLACE:
                mark = 0x20
            elif 0xD800 <= mark < 0xE000:
                mark = 0x3F
            if not keeps_places:
                if mark == 0x0A and (not written or out[written - 1] == 0x0A):
                    at = max(end, at + 1)
                    continue
                if _is_joining(mark) and written and _is_joining(out[written - 1]):
                    at += 1
                    continue
            out[written] = mark
            written += 1
        at = max(end, at + 1)
    return PyUnicode_FromKindAndData(4, out, written) if has_ideograph else "", words


def cut(folded: str) -> tuple:
    """The words of a folded text that spaces or marks part, and what else there is to segment.

    Returns:
        The text with `PLACE` in the place of each of these words, and no other, for a segmenter, which would cut
        Cyrillic into letters; empty for a text without ideographs and kana. And the words, in order.
    """
    points: cython.pointer(cython.Py_UCS4) = PyUnicode_AsUCS4Copy(folded)
    try:
        return _cut(cython.cast(cython.pointer(uint32_t), points), len(folded), True, None)
    finally:
        PyMem_Free(points)


def is_word(segment: str) -> object:
    """Whether a segment, which is not empty, is a word or a piece of one, and no mark."""
    first: uint32_t = cython.cast(uint32_t, segment[0])
    return _classes[first] & IDEOGRAPH != 0 or _is_spaced(first, _classes[first]) or first == _PLACE


def term_of(word: str, stemmer: object) -> str:
    """The term of a folded word, which is not empty; an empty one for a stop word or a mark.

    Args:
        word: The word.
        stemmer: Gives what stems a word of the letters a … z, when there is one for the first time.
    """
    if word in STOP_WORDS or not is_word(word):
        return ""
    if not word.isascii() or not word.isalpha():
        return word
    return stemmer()(word)


def term_hashes(words: list, of_words: TermHashes) -> tuple:
    """The hashes of the terms of words, four bytes each, but for those without one; and the words that are too long."""
    count: cython.Py_ssize_t = 0
    longer: list = []
    made: bytes = bytes(4 * len(words))
    out: cython.pointer(uint32_t) = uint32s(made)
    for word in words:
        if len(cython.cast(str, word)) > _LONGEST:
            longer.append(word)
            continue
        hashed: int64_t = of_words.of(word)
        if hashed >= 0:
            out[count] = cython.cast(uint32_t, hashed)
            count += 1
    return made[: 4 * count], longer
