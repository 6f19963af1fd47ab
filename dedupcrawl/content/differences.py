"""Differences: each place where two aligned texts differ, as one typed value.

A difference is what stands in the new page and not in the kept one (added), the other way round (left out), or both
(replaced). What moved is not a difference of words: it is counted by `Alignment.moves`. Each difference says where it
stands, what it is, whether it is the page's own text or furniture, and whether the kept page says the same elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content import kernels
from dedupcrawl.content.alignment import Alignment, Pieces, align
from dedupcrawl.content.taken import taken
from dedupcrawl.content.tiles import Symbols
from dedupcrawl.content.view import View
from dedupcrawl.content.word_kinds import CONTENT, CONTENT_NUMERAL, NEGATION, NUMBER, antonyms, word_kinds

Marks = NDArray[np.uint8]

Flags = NDArray[np.bool_]
Counts = NDArray[np.int32]

SHORT = 3
"""Symbols on either side of a difference that may reverse its sentence by a "not" or an antonym."""

_WORD, _BESIDE = 1, 2

EVERY, OWN, NEW, NUMERIC, VALUE, OWN_VALUE, NEGATES, HAS_ANTONYM = range(8)
"""Bits of a symbol's marks, and columns of `Differences.count`: any symbol; own text, no furniture; a content word or
number that the other text has nowhere; one with a digit; a number, in digits or words, or a sign that says how much;
one of these in own text; a negation; a word that has an antonym."""


class Side(msgspec.Struct, frozen=True, gc=False):
    """One of two texts, symbol by symbol; all arrays of shape (n,).

    Attributes:
        symbols: The text.
        own: Which are its own text, no furniture.
        differs: Which do not stand in the other.
        is_new: Which of these are content words or numbers that the other has nowhere at all.
        own_novel: Which of the own ones that differ the other has nowhere beside a neighbour that they have here.
        own_new: Which of the new ones are own text.
        count: Shape (k, 8): how many of its symbols of each difference have each of the marks `EVERY` … `HAS_ANTONYM`.
    """

    symbols: Symbols
    own: Flags
    differs: Flags
    is_new: Flags
    own_novel: Flags
    own_new: Flags
    count: Counts

    @classmethod
    def of(cls, symbols: Symbols, own: Flags, aligned: Flags, other: Symbols, pieces: Pieces, column: int) -> Side:  # noqa: PLR0913 - both sides of an alignment
        """The side `symbols` of a pair, whose parts of the pieces stand in two columns, from `column` on."""
        if kernels.compiled is not None:
            flags, counted = kernels.compiled.side(symbols, own, aligned, other, pieces, column, _tells(), _marks())
            differs, is_new, novel, own_new = np.frombuffer(flags, np.bool_).reshape(4, len(symbols))
            counts = np.frombuffer(counted, np.int32).reshape(len(pieces), 8)
            return cls(symbols, own, differs, is_new, novel, own_new, counts)
        occurs, differs = occurrences(symbols, other), ~aligned
        is_new = differs & (occurs & _WORD < _tells().take(symbols))
        own_novel = differs & own & (occurs & _BESIDE == 0)
        marks = _marks()[own.view(np.uint8), symbols] | is_new.view(np.uint8) << np.uint8(NEW)
        count = _count(marks, differs, *pieces[:, column : column + 2].T)
        return cls(symbols, own, differs, is_new, own_novel, is_new & own, count)


class Differences(msgspec.Struct, frozen=True, gc=False):
    """All differences of a pair, in the order of the new text.

    Attributes:
        new: The new text.
        kept: The kept text.
        alignment: How they are aligned.
        count: Shape (k, 8): how many symbols of the new side of each difference have each mark.
        count_kept: The same of the kept side.
    """

    new: Side
    kept: Side
    alignment: Alignment
    count: Counts
    count_kept: Counts

    @classmethod
    def of(cls, new: View, kept: View) -> Differences:
        """Align the main texts of two pages, once."""
        mine, its = new.main, kept.main
        same_tail = mine.tail_hash == its.tail_hash
        end, kept_end = (mine.tail_begins, its.tail_begins) if same_tail else (None, None)
        symbols, kept_symbols = mine.blocks.symbols[:end], its.blocks.symbols[:kept_end]
        found = _aligned(symbols, kept_symbols, taken(new, kept), taken(kept, new))
        one = Side.of(symbols, new.own[:end], found.new, kept_symbols, found.pieces, 0)
        other = Side.of(kept_symbols, kept.own[:kept_end], found.kept, symbols, found.pieces, 2)
        return cls(one, other, found, one.count, other.count)

    def values(self) -> int:
        """How many short differences in own text are a number, or a word or sign that says how much, for another."""
        values = self.count[:, OWN_VALUE] + self.count_kept[:, OWN_VALUE]
        return int(np.count_nonzero((values > 0) & self._is_short()))

    def reversed(self) -> int:
        """How many short differences are an added or removed negation, or a word in whose place its antonym stands."""
        new, kept, is_short = self.count, self.count_kept, self._is_short()
        negated = is_short & (new[:, NEGATES] != kept[:, NEGATES])
        antonymous = is_short & ~negated & (np.minimum(new[:, HAS_ANTONYM], kept[:, HAS_ANTONYM]) > 0)
        found = sum(self._holds_antonyms(*piece) for piece in self.alignment.pieces[antonymous].tolist())
        return int(np.count_nonzero(negated)) + found

    def _is_short(self) -> Flags:
        pieces = self.alignment.pieces
        short: Flags = (pieces[:, 1] - pieces[:, 0] <= SHORT) & (pieces[:, 3] - pieces[:, 2] <= SHORT)
        return short

    def _holds_antonyms(self, begin: int, end: int, kept_begin: int, kept_end: int) -> bool:
        there = self.kept.symbols[kept_begin:kept_end][self.kept.differs[kept_begin:kept_end]].tolist()
        return any((one, other) in antonyms() for one in self.new.symbols[begin:end].tolist() for other in there)


def _aligned(symbols: Symbols, kept: Symbols, taken: Flags | None, kept_taken: Flags | None) -> Alignment:
    """Align two texts but for what extraction took for main text on one side only: that stands on both."""
    if taken is None and kept_taken is None:
        return align(symbols, kept)
    here, there = (_others(len(text), flags) for text, flags in ((symbols, taken), (kept, kept_taken)))
    found = align(symbols[here], kept[there])
    pieces = np.empty_like(found.pieces)
    for column, places, count in ((0, here, len(symbols)), (2, there, len(kept))):
        begins, ends = found.pieces[:, column], found.pieces[:, column + 1]
        first = np.append(places, count).astype(np.int32)
        pieces[:, column] = first[begins]
        pieces[:, column + 1] = np.where(ends > begins, first[ends - 1] + 1, first[begins])
    in_new, in_kept = np.ones(len(symbols), dtype=np.bool_), np.ones(len(kept), dtype=np.bool_)
    in_new[here], in_kept[there] = found.new, found.kept
    return Alignment(in_new, in_kept, pieces, found.moves)


def _others(count: int, taken: Flags | None) -> NDArray[np.int64]:
    return np.arange(count) if taken is None else (~taken[:count]).nonzero()[0]


Kind = Literal["replaced", "added", "left out"]


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference, for people.

    Attributes:
        kind: Whether both texts have something there.
        at: Which symbol of the new page's main text it begins at.
        symbols: How many symbols the new page has there.
        kept_symbols: How many the kept page has there.
        is_number: Whether numbers differ.
        is_own: Whether it is the page's own text and no furniture.
    """

    kind: Kind
    at: int
    symbols: int
    kept_symbols: int
    is_number: bool
    is_own: bool


def told(differences: Differences, most: int) -> list[Difference]:
    """The differences that tell most, in the order of the new text."""
    pieces = differences.alignment.pieces
    if not len(pieces):
        return []
    both = differences.count + differences.count_kept
    news, numbers, own, there = both[:, NEW], both[:, NUMERIC], both[:, OWN], differences.count_kept[:, EVERY]
    first = np.sort((-(news + (own > 0))).argsort(kind="stable")[:most])
    found = []
    for number in first.tolist():
        begin, end, _, _ = pieces[number].tolist()
        size, kept_size = end - begin, int(there[number])
        kind: Kind = "replaced" if size and kept_size else "added" if size else "left out"
        found.append(Difference(kind, begin, size, kept_size, bool(numbers[number]), bool(own[number])))
    return found


def occurrences(new: Symbols, kept: Symbols) -> NDArray[np.uint8]:
    """Shape (n,): of each symbol of `new` bit 0, whether `kept` has it; bit 1, whether beside a neighbour of here."""
    flags = np.isin(new, kept).astype(np.uint8)
    beside = np.isin(_pairs(new), _pairs(kept))
    flags[:-1] |= beside * np.uint8(_BESIDE)
    flags[1:] |= beside * np.uint8(_BESIDE)
    return flags


def _pairs(symbols: Symbols) -> NDArray[np.uint32]:
    pairs: NDArray[np.uint32] = symbols[:-1].astype(np.uint32) << np.uint32(16) | symbols[1:]
    return pairs


def _count(marks: Marks, differs: Flags, begins: NDArray[np.int32], ends: NDArray[np.int32]) -> Counts:
    """Shape (k, 8): how many symbols that differ have each mark, from each begin to its end."""
    places = differs.nonzero()[0]
    before = np.zeros((len(places) + 1, 8), dtype=np.int32)
    np.unpackbits(marks[places], bitorder="little").reshape(-1, 8).cumsum(axis=0, out=before[1:])
    counts: Counts = before[places.searchsorted(ends)] - before[places.searchsorted(begins)]
    return counts


@cache
def _marks() -> Marks:
    """Shape (2, 65536): the marks that a symbol has in any text, in furniture and in own text."""
    kinds, symbols = word_kinds(), np.arange(1 << 16)
    is_value = (kinds == NUMBER) | (kinds >= CONTENT_NUMERAL)
    flags = {
        EVERY: symbols >= 0,
        NUMERIC: symbols & 1 != 0,
        VALUE: is_value,
        NEGATES: kinds == NEGATION,
        HAS_ANTONYM: np.isin(symbols, [one for one, _ in antonyms()]),
    }
    marks = np.zeros((2, 1 << 16), dtype=np.uint8)
    for bit, which in flags.items():
        marks |= which.view(np.uint8) << bit
    marks[1] |= 1 << OWN | is_value.view(np.uint8) << OWN_VALUE
    return marks


@cache
def _tells() -> NDArray[np.uint8]:
    """Shape (65536,): 1 for content words and numbers."""
    return np.isin(word_kinds(), (CONTENT, CONTENT_NUMERAL, NUMBER)).view(np.uint8)
