"""The two sides of an alignment, symbol by symbol, and what is counted of their differences."""

from __future__ import annotations

from functools import lru_cache

import msgspec
import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content import kernels
from dedupcrawl.content.alignment import Alignment, Symbols
from dedupcrawl.content.word_kinds import CONTENT, CONTENT_NUMERAL, NEGATION, NUMBER, antonyms, word_kinds
from dedupcrawl.core.digests import NO_SECRET, Secret

Marks = NDArray[np.uint8]

Flags = NDArray[np.bool_]
Counts = NDArray[np.int32]

SHORT = 3
"""Symbols on either side of a difference that may reverse its sentence by a "not" or an antonym."""

EVERY, OWN, NEW, NUMERIC, VALUE, OWN_VALUE, NEGATES, HAS_ANTONYM = range(8)
"""Bits of a symbol's marks, and columns of `Side.count`: any symbol; own text, no furniture; a content word or number
that the other text has nowhere; one with a digit; a number, in digits or words, or a sign that says how much; one of
these in own text; a negation; a word that has an antonym."""

_HEAD, _HEAD_SHARE, _FOOT = 12, 0.04, 0.07
"""Where bylines and datelines stand: so many symbols at the beginning of a text, or this share of it; this share at its
end. (The mean AUC on sources not fitted on is .9647. With the same at the end as at the beginning it is .9633: short
pages say another thing in their last words. With .07 at the beginning as well it is .9653, but then a wiki's pages are
told apart by notes of a redirect.)"""
_STRAY = 0.01
"""Share of the common symbols at either end that may stand far from the others, as a common word of a byline does.
(With 0 and .05 the AUC on sources not fitted on is the same within .001.)"""


class Side(msgspec.Struct, frozen=True, gc=False):
    """One of two texts, symbol by symbol. Of most pairs nobody asks for more than a Tally, so the rest stays packed."""

    symbols: Symbols  # the text, shape (n,)
    own: Flags  # which are its own text, no furniture; shape (n,)
    flags: bytes  # what `differs` and `is_new` are made of
    counts: bytes  # what `count` is made of

    @property
    def differs(self) -> Flags:
        """Shape (n,): which do not stand in the other text."""
        return np.frombuffer(self.flags, np.bool_, count=len(self.symbols))

    @property
    def is_new(self) -> Flags:
        """Shape (n,): which of these are content words or numbers that the other text has nowhere at all."""
        return np.frombuffer(self.flags, np.bool_, offset=len(self.symbols))

    @property
    def count(self) -> Counts:
        """Shape (k, 8): how many of its symbols of each difference have each of the marks `EVERY` … `HAS_ANTONYM`."""
        return np.frombuffer(self.counts, np.int32).reshape(-1, 8)


class Tally(msgspec.Struct, frozen=True, gc=False):
    """What is counted of two sides; symbols of the new text, and places where the texts differ."""

    own: int  # its own text, no furniture
    uncovered: int  # those of it that differ
    kept_uncovered: int  # the same of the kept text
    novel: int  # those that the kept text has nowhere beside a neighbour that they have here
    novel_inside: int  # those of them that stand at neither end of the text
    new_inside: int  # own content words and numbers there that the kept text has nowhere at all
    common: int  # what stands in both
    spread: int  # from the first of these to the last
    dense: int  # the same without those that may stand far from the others
    amid: int  # places among these
    values: int  # short places in own text with a number, or a word or sign that says how much
    exchanged: int  # numbers and values of own text, in digits or in words, in whose place others stand
    reversed: int  # short places with an added or removed negation, or a word in whose place its antonym stands
    slots: int  # places in furniture with something on both sides


def sides(  # noqa: PLR0913 - two texts, and how they lie side by side
    new: Symbols, own: Flags, kept: Symbols, kept_own: Flags, found: Alignment, secret: Secret = NO_SECRET
) -> tuple[Side, Side, Tally]:
    """The sides of two texts as they were aligned: the new one, the kept one, and what is counted of them.

    `own` and `kept_own` say which of their symbols are their own text, `secret` is that of their index.
    """
    if kernels.compiled is not None:
        given = (new, own, found.new, kept, kept_own, found.kept, found.pieces, _marks(secret), antonyms(secret))
        packed, kept_packed, tally = kernels.compiled.sides(*given)
        return Side(new, own, *packed), Side(kept, kept_own, *kept_packed), Tally(*tally)
    one = _side(new, own, found.new, kept, found.pieces[:, :2], secret)
    other = _side(kept, kept_own, found.kept, new, found.pieces[:, 2:], secret)
    return one, other, _tally(one, other, found, secret)


def _side(  # noqa: PLR0913
    symbols: Symbols, own: Flags, aligned: Flags, other: Symbols, pieces: NDArray[np.int32], secret: Secret
) -> Side:
    marks = np.unpackbits(_marks(secret)[symbols, None], axis=1, bitorder="little").view(np.bool_)
    marks[:, NEW] &= ~np.isin(symbols, other)
    marks[:, OWN] = own
    marks[:, OWN_VALUE] = marks[:, VALUE] & own
    marks &= ~aligned[:, None]
    before = np.zeros((len(symbols) + 1, 8), dtype=np.int32)
    marks.cumsum(axis=0, out=before[1:])
    flags, counts = np.concatenate((~aligned, marks[:, NEW])), before[pieces[:, 1]] - before[pieces[:, 0]]
    return Side(symbols, own, flags.tobytes(), counts.tobytes())


def _tally(one: Side, other: Side, found: Alignment, secret: Secret) -> Tally:
    pieces, new, kept = found.pieces, one.count, other.count
    own, inside = one.differs & one.own, _inside(len(one.symbols))
    novel = own & ~_beside(one.symbols, other.symbols)
    common = found.new.nonzero()[0]
    spread = dense = amid = 0
    if len(common):
        stray = int(_STRAY * len(common))
        begin, end = common[stray], common[-1 - stray] + 1
        spread, dense = int(common[-1] - common[0]) + 1, int(end - begin)
        amid = count_of((pieces[:, 0] >= begin) & (pieces[:, 1] <= end))
    is_short = (pieces[:, 1::2] - pieces[:, ::2]).max(axis=1, initial=0) <= SHORT
    negated = is_short & (new[:, NEGATES] != kept[:, NEGATES])
    may_reverse = is_short & ~negated & (np.minimum(new[:, HAS_ANTONYM], kept[:, HAS_ANTONYM]) > 0)
    return Tally(
        own=count_of(one.own),
        uncovered=count_of(own),
        kept_uncovered=count_of(other.differs & other.own),
        novel=count_of(novel),
        novel_inside=count_of(novel & inside),
        new_inside=count_of(one.is_new & one.own & inside),
        common=len(common),
        spread=spread,
        dense=dense,
        amid=amid,
        values=count_of(is_short & (new[:, OWN_VALUE] + kept[:, OWN_VALUE] > 0)),
        exchanged=int(np.minimum(new[:, OWN_VALUE], kept[:, VALUE]).sum()),
        reversed=count_of(negated)
        + sum(_holds_antonyms(one, other, at, secret) for at in pieces[may_reverse].tolist()),
        slots=count_of((new[:, OWN] + kept[:, OWN] == 0) & (new[:, EVERY] > 0) & (kept[:, EVERY] > 0)),
    )


def _beside(new: Symbols, kept: Symbols) -> Flags:
    """Shape (n,): which symbols of `new` the other has beside a neighbour of here."""
    pairs, others = (text[:-1].astype(np.uint32) << np.uint32(16) | text[1:] for text in (new, kept))
    alike = np.isin(pairs, others)
    beside = np.zeros(len(new), dtype=np.bool_)
    beside[:-1] = alike
    beside[1:] |= alike
    return beside


def _inside(count: int) -> Flags:
    """Which symbols stand at neither end of a text."""
    inside = np.zeros(count, dtype=np.bool_)
    inside[max(_HEAD, int(_HEAD_SHARE * count)) : count - int(_FOOT * count)] = True
    return inside


def _holds_antonyms(one: Side, other: Side, piece: list[int], secret: Secret) -> bool:
    begin, end, kept_begin, kept_end = piece
    there = other.symbols[kept_begin:kept_end][other.differs[kept_begin:kept_end]]
    pairs = one.symbols[begin:end, None].astype(np.uint32) << np.uint32(16) | there
    return bool(np.isin(pairs, antonyms(secret)).any())


def count_of(flags: Flags) -> int:
    """How many are flagged."""
    return int(np.count_nonzero(flags))


def occurring(symbols: Symbols, text: Symbols) -> int:
    """How many of these symbols a text has."""
    if kernels.compiled is not None:
        return kernels.compiled.occurring(symbols, text)
    occurs = np.zeros(1 << 16, dtype=np.bool_)
    occurs[text] = True
    return count_of(occurs[symbols])


@lru_cache(maxsize=16)
def _marks(secret: Secret) -> Marks:
    """Shape (65536,): the marks of each symbol in furniture, where the other text has it nowhere."""
    kinds, symbols = word_kinds(secret), np.arange(1 << 16)
    flags = {
        EVERY: symbols >= 0,
        NEW: np.isin(kinds, (CONTENT, CONTENT_NUMERAL, NUMBER)),
        NUMERIC: symbols & 1 != 0,
        VALUE: (kinds == NUMBER) | (kinds >= CONTENT_NUMERAL),
        NEGATES: kinds == NEGATION,
        HAS_ANTONYM: np.isin(symbols, antonyms(secret) >> np.uint32(16)),
    }
    marks = np.zeros(1 << 16, dtype=np.uint8)
    for bit, which in flags.items():
        marks |= which.view(np.uint8) << bit
    return marks
