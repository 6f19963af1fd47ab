# cython: language_level=3
"""Terms: the words of a folded text that spaces or marks separate, and the rest for a Chinese or Japanese segmenter."""

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
"""Characters; longer words are cut into pieces, to bound the memory of the caches."""
PLACE = "\ue000"
"""Stands for a spaced word in the text for the segmenter; a private-use character, so part of no word."""

_LONGEST = cython.declare(cython.Py_ssize_t, LONGEST_WORD)
_PLACE = cython.declare(uint32_t, ord(PLACE))
_REMEMBERED = 1 << 16  # words whose terms are cached
_FACTOR = cython.declare(uint64_t, 0x9E3779B97F4A7C15)  # 2**64 divided by the golden ratio (Knuth)
# Random in each process, so the authors of pages cannot predict the slots of words.
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
    """Store, for the characters that most texts consist of, whether they are letters or digits."""
    point: cython.int
    for point in range(KNOWN):
        if Py_UNICODE_ISALNUM(point):
            _classes[point] |= ALNUM


_mark_letters()


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _is_spaced(point: uint32_t, kind: uint8_t) -> cython.bint:
    """Whether a character of these classes is part of a word in a script that separates words by spaces."""
    if kind & (IDEOGRAPH | VOWEL_SIGN):
        return kind & VOWEL_SIGN != 0
    return kind != 0 if point < KNOWN else Py_UNICODE_ISALNUM(point)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _is_joining(point: uint32_t) -> cython.bint:
    """Whether a character is one of "#%&+-._"."""
    return point == 0x23 or 0x25 <= point <= 0x26 or point == 0x2B or 0x2D <= point <= 0x2E or point == 0x5F


class TermHashes:
    """Word → MurmurHash3 x86 32 of its term, with a cache.

    Args:
        stemmer: As for `term_of`.
    """

    def __cinit__(self, stemmer: object):
        self.hashes, self.stemmer = {}, stemmer

    def of(self, word):
        """The hash of a word's term, −1 if the word has none."""
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
    """The hashes of the terms of words that spaces or marks separate, with a cache by the words' characters.

    Args:
        of_words: The hashes of the terms of all words.
    """

    def __cinit__(self, of_words: TermHashes):
        self.of_words, self.lock = of_words, Lock()
        self.table, self.characters = bytes(SLOTS * cython.sizeof(Slot)), bytes(4 * ROOM)
        self.slots, self.points = cython.cast(cython.pointer(Slot), uint8s(self.table)), uint32s(self.characters)

    def __dealloc__(self):
        free(self.found)

    def of(self, text: SymbolText) -> tuple:
        """The hashes of the terms of a text's words, four bytes each, and the rest of the text for the segmenter.

        The rest is the text's ideographs and kana, with one line break in place of all words and marks between two of
        them. Marks at which jieba does not split ideographs are kept; of several in a row, the first. So jieba finds
        the same words, and has half as much to read.
        """
        with self.lock:  # making a term runs Python code, during which another thread may run
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
    """Split a folded text into the words that spaces or marks separate, and the text for the segmenter.

    Returns:
        The text with `PLACE` in place of each of these words, and nowhere else: a segmenter would cut Cyrillic into
        letters. It is empty if the text has no ideographs or kana. And the words, in order.
    """
    points: cython.pointer(cython.Py_UCS4) = PyUnicode_AsUCS4Copy(folded)
    try:
        return _cut(cython.cast(cython.pointer(uint32_t), points), len(folded), True, None)
    finally:
        PyMem_Free(points)


def is_word(segment: str) -> object:
    """Whether a segment, which must not be empty, is a word or a piece of one, and not a mark."""
    first: uint32_t = cython.cast(uint32_t, segment[0])
    return _classes[first] & IDEOGRAPH != 0 or _is_spaced(first, _classes[first]) or first == _PLACE


def term_of(word: str, stemmer: object) -> str:
    """The term of a folded word; empty for a stop word or a mark.

    Args:
        word: The word, not empty.
        stemmer: Returns the function that stems words of the letters a … z; called only for such words, so that the
            stemmer's library is not loaded before.
    """
    if word in STOP_WORDS or not is_word(word):
        return ""
    if not word.isascii() or not word.isalpha():
        return word
    return stemmer()(word)


def term_hashes(words: list, of_words: TermHashes) -> tuple:
    """The hashes of the terms of words, four bytes each, if they have one; and the words that are too long."""
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
