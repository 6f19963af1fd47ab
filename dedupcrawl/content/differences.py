"""Differences: each place where two aligned texts differ, as one typed value.

A difference is what stands in the new page and not in the kept one (added), the other way round (left out), or both
(replaced). What moved is not a difference of words: it is counted by `Alignment.moves`. Each difference says where it
stands, what it is, whether it is the page's own text or furniture, and whether the kept page says the same elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content.alignment import Alignment, align
from dedupcrawl.content.sides import EVERY, NEW, NUMERIC, OWN, Flags, Side, Tally, sides
from dedupcrawl.content.taken import taken
from dedupcrawl.content.tiles import Symbols
from dedupcrawl.content.view import View


class Differences(msgspec.Struct, frozen=True, gc=False):
    """All differences of a pair, in the order of the new text.

    Attributes:
        new: The new text.
        kept: The kept text.
        alignment: How they are aligned.
        tally: What is counted of them.
    """

    new: Side
    kept: Side
    alignment: Alignment
    tally: Tally

    @classmethod
    def of(cls, new: View, kept: View) -> Differences:
        """Align the main texts of two pages, once."""
        mine, its = new.main, kept.main
        same_tail = mine.tail_hash == its.tail_hash
        end, kept_end = (mine.tail_begins, its.tail_begins) if same_tail else (None, None)
        symbols, kept_symbols = mine.blocks.symbols[:end], its.blocks.symbols[:kept_end]
        found = _aligned(symbols, kept_symbols, taken(new, kept), taken(kept, new))
        one, other, tally = sides(symbols, new.own[:end], kept_symbols, kept.own[:kept_end], found)
        return cls(one, other, found, tally)


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
    there = differences.kept.count
    both = differences.new.count + there
    first = np.sort((-(both[:, NEW] + (both[:, OWN] > 0))).argsort(kind="stable")[:most])
    found = []
    rows = zip(pieces[first].tolist(), both[first].tolist(), there[first, EVERY].tolist(), strict=True)
    for (begin, end, _, _), marks, kept_size in rows:
        kind: Kind = "replaced" if end > begin and kept_size else "added" if end > begin else "left out"
        found.append(Difference(kind, begin, end - begin, kept_size, bool(marks[NUMERIC]), bool(marks[OWN])))
    return found
