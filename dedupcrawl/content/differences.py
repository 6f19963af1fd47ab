"""Differences: each place where two aligned texts differ, as one typed value.

A difference is what stands in the new page and not in the kept one (added), the other way round (left out), or both
(replaced). What moved is no difference of words: it is counted by `Alignment.moves`. Of each is told where it stands,
what it is, whether it is the page's own text or furniture, and whether the kept page says the same elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content import kernels
from dedupcrawl.content.alignment import Alignment, align
from dedupcrawl.content.antonyms import antonyms
from dedupcrawl.content.tiles import Symbols
from dedupcrawl.content.view import View
from dedupcrawl.content.word_kinds import CONTENT, CONTENT_NUMERAL, NEGATION, NUMBER, word_kinds

Flags = NDArray[np.bool_]
Counts = NDArray[np.int64]

SHORT = 3
"""Symbols on either side of a difference that may reverse its sentence by a "not" or an antonym."""

_WORD, _BESIDE = 1, 2


class Side(msgspec.Struct, frozen=True, gc=False):
    """One of two texts, symbol by symbol; all arrays of shape (n,).

    Attributes:
        symbols: The text.
        own: Which are its own text, no furniture.
        differs: Which do not stand in the other.
        is_novel: Which of these the other does not have beside a neighbour they have here, anywhere.
        is_new: Which of these are content words or numbers that the other has nowhere at all.
        own_novel: Which of the novel ones are own text.
        own_new: Which of the new ones are own text.
        is_number: Which hold a digit.
        is_value: Which are numbers, in digits or words, or signs that say how much.
    """

    symbols: Symbols
    own: Flags
    differs: Flags
    is_novel: Flags
    is_new: Flags
    own_novel: Flags
    own_new: Flags
    is_number: Flags
    is_value: Flags

    @classmethod
    def of(cls, symbols: Symbols, own: Flags, aligned: Flags, other: Symbols) -> Side:
        """The side `symbols` of a pair."""
        occurs, differs, kinds = occurrences(symbols, other), ~aligned, word_kinds()[symbols]
        telling = (kinds == CONTENT) | (kinds == CONTENT_NUMERAL) | (kinds == NUMBER)
        is_novel = differs & (occurs & _BESIDE == 0)
        is_new = differs & telling & (occurs & _WORD == 0)
        return cls(
            symbols,
            own,
            differs,
            is_novel,
            is_new,
            is_novel & own,
            is_new & own,
            symbols & 1 != 0,
            (kinds == NUMBER) | (kinds >= CONTENT_NUMERAL),
        )


class Differences(msgspec.Struct, frozen=True, gc=False):
    """All differences of a pair; arrays of shape (k,), one value a difference, in the order of the new text.

    Attributes:
        new: The new text.
        kept: The kept text.
        alignment: How they are aligned.
    """

    new: Side
    kept: Side
    alignment: Alignment

    @classmethod
    def of(cls, new: View, kept: View) -> Differences:
        """Align the main texts of two pages, once."""
        mine, its = new.main, kept.main
        same_tail = mine.tail_hash == its.tail_hash
        end, kept_end = (mine.tail_begins, its.tail_begins) if same_tail else (None, None)
        symbols, kept_symbols = mine.blocks.symbols[:end], its.blocks.symbols[:kept_end]
        found = align(symbols, kept_symbols)
        return cls(
            Side.of(symbols, new.own[:end], found.new, kept_symbols),
            Side.of(kept_symbols, kept.own[:kept_end], found.kept, symbols),
            found,
        )

    def count(self, flags: Flags) -> Counts:
        """How many symbols of the new side of each difference are flagged."""
        pieces = self.alignment.pieces
        return _between(flags, pieces[:, 0], pieces[:, 1])

    def count_kept(self, flags: Flags) -> Counts:
        """The same of the kept side."""
        pieces = self.alignment.pieces
        return _between(flags & self.kept.differs, pieces[:, 2], pieces[:, 3])

    def values(self) -> int:
        """How many short differences in own text are a number, or a word or sign that says how much, for another."""
        pieces = self.alignment.pieces
        size, kept_size = pieces[:, 1] - pieces[:, 0], pieces[:, 3] - pieces[:, 2]
        values = self.count(self.new.is_value & self.new.own) + self.count_kept(self.kept.is_value & self.kept.own)
        return int(np.count_nonzero((values > 0) & (size <= SHORT) & (kept_size <= SHORT)))

    def reversed(self) -> int:
        """How many short differences are a "not" more or less, or a word in whose place its antonym stands."""
        pieces = self.alignment.pieces
        short = (pieces[:, 1] - pieces[:, 0] <= SHORT) & (pieces[:, 3] - pieces[:, 2] <= SHORT)
        total = 0
        for begin, end, kept_begin, kept_end in pieces[short].tolist():
            here, there = self.new.symbols[begin:end], self.kept.symbols[kept_begin:kept_end]
            negations = _is_negation()
            if negations[here].sum() != negations[there].sum():
                total += 1
            elif len(here) and len(there):
                pairs = (here.astype(np.uint32)[:, None] << np.uint32(16) | there).ravel()
                known = antonyms()
                places = np.minimum(known.searchsorted(pairs), len(known) - 1)
                total += bool((known[places] == pairs).any())
        return total


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
    every = np.ones(len(differences.kept.symbols), dtype=np.bool_)
    news = differences.count(differences.new.is_new) + differences.count_kept(differences.kept.is_new)
    numbers = differences.count(differences.new.is_number) + differences.count_kept(differences.kept.is_number)
    own = differences.count(differences.new.own) + differences.count_kept(differences.kept.own)
    there = differences.count_kept(every)
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
    if kernels.compiled is not None:
        return np.frombuffer(kernels.compiled.occurrences(new, kept), np.uint8)
    flags = np.isin(new, kept).astype(np.uint8)
    beside = np.isin(_pairs(new), _pairs(kept))
    flags[:-1] |= beside * np.uint8(_BESIDE)
    flags[1:] |= beside * np.uint8(_BESIDE)
    return flags


def _pairs(symbols: Symbols) -> NDArray[np.uint32]:
    pairs: NDArray[np.uint32] = symbols[:-1].astype(np.uint32) << np.uint32(16) | symbols[1:]
    return pairs


def _between(flags: Flags, begins: NDArray[np.int32], ends: NDArray[np.int32]) -> Counts:
    before = np.zeros(len(flags) + 1, dtype=np.int64)
    flags.cumsum(out=before[1:])
    counts: Counts = before[ends] - before[begins]
    return counts


@cache
def _is_negation() -> Flags:
    negations: Flags = word_kinds() == NEGATION
    return negations
