"""Symbols: the one tokenization that every content check shares, for Chinese, English and mixed pages.

A symbol is a CJK ideograph or kana, a sign that says something by itself ($, ✓, the minus of −5), or a whole run of
letters and digits in a script that writes words with spaces (spec 1, "characters"). Text is NFKC-normalized, folded to
lower case and simplified first: full-width digits, capitals and traditional characters do not count.

A page is cut up and hashed by array operations over its code points, since a loop over its symbols would cost more than
all checks together. The hash of the symbol c_0 c_1 … c_m is fmix64(Σ c_i · B^i mod 2^64): B is a fixed odd number,
fmix64 the finalizer of MurmurHash3 (Appleby, 2011).
"""

from __future__ import annotations

import unicodedata
from functools import cache, cached_property, lru_cache

import msgspec
import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content import kernels
from dedupcrawl.content.character_tables import ALONE, DIGIT, LETTER, TABLED, TOUCH, simplified, tables
from dedupcrawl.content.digests import NO_SECRET, Secret

_TABLES = tables()
VOWEL_SIGNS = _TABLES.vowel_signs
"""As a class of a regular expression: part of a word though no letters, such as the vowel signs of Hindi and Thai."""
VALUES = _TABLES.values
"""Signs that say how much, how good or whether: as numbers do, where another stands in their place."""
SIGNS = _TABLES.signs
"""Signs that say something by themselves, those and emoji: each is a symbol. Bullets and frames are none."""

_MARKS_TOGETHER = 30  # combining characters in a row, as many as in a text in stream-safe format (UAX #15, section 13)
KINDS = np.frombuffer(_TABLES.kinds, dtype=np.uint8)
"""Shape (0x110000,): for each folded code point the bits LETTER, ALONE, DIGIT and MARK, or TOUCH."""
_FOLDED = np.frombuffer(_TABLES.folded, dtype="<u4").astype(np.uint32, copy=False)
_MARKS = np.frombuffer(_TABLES.marks, dtype=np.bool_)
_simplified = cache(simplified)


def _text(code_points: NDArray[np.uint32]) -> str:
    return code_points.astype("<u4", copy=False).tobytes().decode("utf-32-le", "surrogatepass")


def code_points(text: str) -> NDArray[np.uint32]:
    """Shape (len(text),): the text as numbers; lone surrogates are kept."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint32, copy=False)


def _without_piled_marks(text: str) -> str:
    """Of combining characters in a row the first `_MARKS_TOGETHER`: normalizing sorts them in quadratic time."""
    numbers = code_points(text)
    marks = _MARKS[numbers]
    if np.count_nonzero(marks) <= _MARKS_TOGETHER:
        return text
    places = np.arange(len(numbers))
    before = np.maximum.accumulate(np.where(marks, -1, places))
    return _text(numbers[places - before <= _MARKS_TOGETHER])


def _fold_by_definition(text: str) -> str:
    return unicodedata.normalize("NFKC", _without_piled_marks(text)).casefold().translate(_simplified())


def fold(text: str) -> str:
    """NFKC-normalize and case-fold `text`, and make its characters simplified ones: two spellings become equal.

    Of more than 30 combining characters in a row only so many stay, so that it takes time linear in the text's length.
    Idempotent but for a few letters whose case-folding is not normalized. By table where each character folds to one
    other whatever stands beside it, which takes a fifth of the time on Chinese text.
    """
    if text.isascii():
        return text.casefold()
    text = text.replace("…", "...")  # the one common character that folds to several
    if kernels.compiled is not None:
        by_table = kernels.compiled.fold(text, _FOLDED)
        return _fold_by_definition(text) if by_table is None else by_table
    numbers = code_points(text)
    if int(numbers.max()) < TABLED:
        folded = _FOLDED[numbers]
        if folded.all():
            return _text(folded)
    return _fold_by_definition(text)


_INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"  # soft hyphen, zero-width space, joiners, byte order mark


def without_invisible(text: str) -> str:
    """Without the characters that only say where a word may break, or how its letters join."""
    if not text.isascii():
        for character in _INVISIBLE:
            text = text.replace(character, "")
    return text


SYMBOLS_VERSION = 3
"""Changes whenever a text's symbols or their hashes do; part of every index's header."""

_BASE = 0x9E3779B97F4A7C15  # 2^64 divided by the golden ratio: odd, and without a pattern in its bits
_BASE_INVERSE = pow(_BASE, -1, 1 << 64)
_FEW = 1 << 16  # characters: of all texts that are no longer the powers are the same


def fmix64(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finalizer of MurmurHash3 x64 128, in place and returned: every input bit changes half of the output's."""
    for factor in (np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)):
        values ^= values >> np.uint64(33)
        values *= factor
    values ^= values >> np.uint64(33)
    return values


@lru_cache(maxsize=4)
def _made_powers(base: int, count: int) -> NDArray[np.uint64]:
    powers = np.full(count, base, dtype=np.uint64)
    powers[:1] = 1
    return np.multiply.accumulate(powers)


def _powers(base: int, count: int) -> NDArray[np.uint64]:
    return _made_powers(base, max(count, _FEW))[:count]


class SymbolText(msgspec.Struct, frozen=True, dict=True):
    """A page's main text as symbols."""

    text: str  # the folded main text, paragraphs separated by newlines
    secret: Secret = NO_SECRET  # of the index whose pages it is compared with

    @classmethod
    def of(cls, paragraphs: tuple[str, ...], secret: Secret = NO_SECRET) -> SymbolText:
        """Fold `paragraphs`, without characters that nobody sees, and join them by newlines."""
        return cls(fold(without_invisible("\n".join(paragraphs))), secret)

    def __post_init__(self) -> None:
        if kernels.compiled is not None:  # all at once; what is in __dict__ is not made again
            starts, hashes, lengths = kernels.compiled.symbols(self.text, KINDS)
            self.__dict__["starts"] = np.frombuffer(starts, np.int64)
            self.__dict__["hashes"] = np.frombuffer(hashes, np.uint64)
            self.__dict__["lengths"] = np.frombuffer(lengths, np.int64)

    @cached_property
    def code_points(self) -> NDArray[np.uint32]:
        """Shape (len(text),): the text as numbers."""
        return code_points(self.text)

    @cached_property
    def kinds(self) -> NDArray[np.uint8]:
        """Shape (len(text),): the kind of each character, bits of `dedupcrawl.content.symbols`."""
        kind = KINDS.take(self.code_points)
        touching = kind == TOUCH
        if touching.any():
            part = np.zeros(len(kind) + 2, dtype=np.bool_)
            part[1:-1] = (kind & LETTER) != 0
            kind[touching & (part[:-2] != part[2:])] = LETTER | ALONE
        return kind

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Shape (len(hashes),): where in the text each symbol starts."""
        kind = self.kinds
        letter = (kind & LETTER) != 0
        joins = (kind & (LETTER | ALONE)) == LETTER  # joins its neighbours to one symbol
        letter[1:] &= ~(joins[1:] & joins[:-1])
        return np.flatnonzero(letter)

    @cached_property
    def hashes(self) -> NDArray[np.uint64]:
        """Shape (number of symbols,): a 64-bit hash of each symbol, in text order.

        Bit 0 says whether the symbol holds a digit, so numbers can be told from words after the text is gone.
        Part of the stored format: equal on every machine and byte order.
        """
        starts, kind = self.starts, self.kinds
        if not len(starts):
            return np.zeros(0, dtype=np.uint64)
        terms = _powers(_BASE, len(kind)) * self.code_points
        terms *= kind & LETTER
        values: NDArray[np.uint64] = np.add.reduceat(terms, starts)
        values *= _powers(_BASE_INVERSE, len(kind))[starts]
        fmix64(values)
        values &= ~np.uint64(1)
        with_digit = starts.searchsorted((kind & DIGIT).nonzero()[0], side="right") - 1
        values[with_digit] |= np.uint64(1)
        return values

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Shape (number of symbols,): letters and digits of each symbol."""
        starts = self.starts
        return np.add.reduceat(self.kinds & LETTER, starts, dtype=np.int64) if len(starts) else starts

    @property
    def normalized(self) -> bytes:
        """The symbols in UTF-8, with a space between two: what digests of the text are made of."""
        starts, lengths = self.starts, self.lengths
        if not len(starts):
            return b""
        edges = np.zeros(len(self.text) + 1, dtype=np.int8)
        edges[starts] = 1
        edges[starts + lengths] -= 1  # one symbol may begin where another ends
        letters = code_points(self.text)[edges.cumsum(dtype=np.int8)[:-1].view(np.bool_)]
        is_letter = np.ones(len(letters) + len(starts) - 1, dtype=np.bool_)
        is_letter[lengths.cumsum()[:-1] + np.arange(len(starts) - 1)] = False
        spaced = np.full(len(is_letter), ord(" "), dtype=np.uint32)
        spaced[is_letter] = letters
        return _text(spaced).encode("utf-8", "surrogatepass")

    @cached_property
    def symbols(self) -> list[str]:
        """The symbols in text order; no check needs more of them than `hashes`."""
        places = zip(self.starts.tolist(), self.lengths.tolist(), strict=True)
        return [self.text[start : start + length] for start, length in places]
