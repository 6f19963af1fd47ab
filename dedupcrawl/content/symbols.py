"""Symbols: the one tokenization that every content check shares, for Chinese, English and mixed pages.

A symbol is a CJK ideograph or kana, a sign that says something by itself ($, ✓, the minus of −5), or a whole run of
letters and digits in a script that writes words with spaces (spec 1, "characters"). Text is NFKC-normalized, folded to
lower case and simplified first: full-width digits, capitals and traditional characters do not count.

A page is cut up and hashed by array operations over its code points, since a loop over its symbols would cost more than
all checks together. The hash of the symbol c_0 c_1 … c_m is fmix64(Σ c_i · B^i mod 2^64): B is a fixed odd number,
fmix64 the finalizer of MurmurHash3 (Appleby, 2011).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content import kernels
from dedupcrawl.content.character_tables import ALONE, DIGIT, LETTER, TOUCH
from dedupcrawl.content.characters import code_points, fold, kinds, symbol_pattern, without_invisible

SYMBOLS_VERSION = 3
"""Changes whenever a text's symbols or their hashes do; part of every index's header."""

_BASE = 0x9E3779B97F4A7C15  # 2^64 divided by the golden ratio: odd, and without a pattern in its bits
_BASE_INVERSE = pow(_BASE, -1, 1 << 64)
_AT_ONCE = 1 << 16  # characters hashed together: memory beside the text itself does not grow with it


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
    return _made_powers(base, max(count, _AT_ONCE))[:count]


def _hashes(points: NDArray[np.uint32], kind: NDArray[np.uint8], starts: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Hashes of the symbols that start at `starts`, of a text or a part of one."""
    if not len(starts):
        return np.zeros(0, dtype=np.uint64)
    terms = _powers(_BASE, len(kind)) * points
    terms *= kind & LETTER
    values: NDArray[np.uint64] = np.add.reduceat(terms, starts)
    values *= _powers(_BASE_INVERSE, len(kind))[starts]
    fmix64(values)
    values &= ~np.uint64(1)
    with_digit = starts.searchsorted((kind & DIGIT).nonzero()[0], side="right") - 1
    values[with_digit] |= np.uint64(1)
    return values


@dataclass(frozen=True)
class SymbolText:
    """A page's main text as symbols."""

    text: str  # the folded main text, paragraphs separated by newlines

    @classmethod
    def of(cls, paragraphs: tuple[str, ...]) -> SymbolText:
        """Fold `paragraphs`, without characters that nobody sees, and join them by newlines."""
        return cls(fold(without_invisible("\n".join(paragraphs))))

    def __post_init__(self) -> None:
        if kernels.compiled is not None:  # all at once; what is in __dict__ is not made again
            starts, hashes, lengths = kernels.compiled.symbols(self.text, kinds())
            self.__dict__["starts"] = np.frombuffer(starts, np.int64)
            self.__dict__["hashes"] = np.frombuffer(hashes, np.uint64)
            self.__dict__["lengths"] = np.frombuffer(lengths, np.int64)

    @cached_property
    def code_points(self) -> NDArray[np.uint32]:
        """Shape (len(text),): the text as numbers."""
        return code_points(self.text)

    @cached_property
    def kinds(self) -> NDArray[np.uint8]:
        """Shape (len(text),): the kind of each character, bits of `dedupcrawl.content.characters`."""
        kind = kinds().take(self.code_points)
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
        starts, end = self.starts, len(self.text)
        if end <= _AT_ONCE:
            return _hashes(self.code_points, self.kinds, starts)
        edges = [0]
        while edges[-1] < len(starts):
            edges.append(max(edges[-1] + 1, int(starts.searchsorted(starts[edges[-1]] + _AT_ONCE))))
        begins = [*starts[edges[:-1]].tolist(), end]
        parts = [
            _hashes(self.code_points[begin:stop], self.kinds[begin:stop], starts[first:last] - begin)
            for (first, last), (begin, stop) in zip(pairwise(edges), pairwise(begins), strict=True)
        ]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.uint64)

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Shape (number of symbols,): letters and digits of each symbol."""
        starts = self.starts
        return np.add.reduceat(self.kinds & LETTER, starts, dtype=np.int64) if len(starts) else starts

    @cached_property
    def symbols(self) -> list[str]:
        """The symbols in text order; slower than `hashes`, which most checks need only."""
        return symbol_pattern().findall(self.text)
