"""Differences: each place where two aligned texts differ, as one typed value.

A difference is in the new page and not in the kept one (added), the other way round (left out), or both (replaced).
Text that moved is not a difference of words: `Alignment.moves` counts it. Each difference says where it stands, what it
is, whether it is the page's own text or the site's, and whether the kept page says the same elsewhere.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content.main_outline import Symbols, symbols_of
from dedupcrawl.content.view import LITTLE, View
from dedupcrawl.core import diff
from dedupcrawl.core.alignment import LONGEST, align, tiles
from dedupcrawl.core.symbols import SymbolText, vocabulary_of

Flags = NDArray[np.bool_]

KINDS = tuple(
    name.lower().replace("_", " ")
    for name in (
        *("FURNITURE", "SLOT", "VALUE", "COUNTED", "FILLER", "ADDED", "LEFT_OUT", "REPLACED", "REWORDED"),
        *("RENAMED", "NAMED", "MEASURED", "DATED", "FIGURED", "TURNED", "SWAPPED"),
    )
)
"""Names of the kinds of differences, by their numbers in `core.diff`."""

PLACES = ("top", "head", "sentence", "line", "closing", "foot")
"""Names of the places where they stand, likewise."""


class Side(msgspec.Struct, frozen=True, gc=False):
    """One of two texts, symbol by symbol."""

    symbols: Symbols  # the text, shape (n,)
    own: Flags  # which are its own text, no furniture; shape (n,)
    differs: Flags  # which do not stand in the other text; shape (n,)
    is_new: Flags  # which of these are content words or numbers that the other text has nowhere at all; shape (n,)


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


class Differences(msgspec.Struct, frozen=True, gc=False):
    """All differences of a pair, in the order of the new text."""

    new: Side
    kept: Side
    pieces: NDArray[np.int32]  # shape (k, 4): begin and end of each in the new text, begin and end in the kept one
    rows: NDArray[np.uint8]  # shape (k, 3): the kind of each, its place, and whether it is of own text
    moves: int  # places where what follows in the new text stands earlier in the kept one
    tally: Tally  # what is counted of them

    @classmethod
    def of(cls, new: View, kept: View) -> Differences:
        """Align the main texts of two pages, once."""
        mine, its = new.main, kept.main
        same_tail = mine.tail_hash == its.tail_hash
        end, kept_end = (mine.tail_begins, its.tail_begins) if same_tail else (None, None)
        symbols, kept_symbols = mine.symbols[:end], its.symbols[:kept_end]
        own, kept_own = new.own[:end], kept.own[:kept_end]
        in_kept, in_new, pieces, moves = _aligned(symbols, kept_symbols, taken(new, kept), taken(kept, new))
        here = symbols.tobytes(), mine.kinds, own.tobytes(), mine.ends
        there = kept_symbols.tobytes(), its.kinds, kept_own.tobytes(), its.ends
        rows, is_new, is_kept_new, tally = diff.differences(here, there, in_kept, in_new, pieces.tobytes(), new.secret)
        one = Side(symbols, own, ~np.frombuffer(in_kept, np.bool_), np.frombuffer(is_new, np.bool_))
        other = Side(kept_symbols, kept_own, ~np.frombuffer(in_new, np.bool_), np.frombuffer(is_kept_new, np.bool_))
        return cls(one, other, pieces, np.frombuffer(rows, np.uint8).reshape(-1, 3), moves, Tally(*tally))


def _aligned(
    symbols: Symbols, kept: Symbols, taken: Flags | None, kept_taken: Flags | None
) -> tuple[bytes, bytes, NDArray[np.int32], int]:
    """Align two texts but for what extraction took for main text on one side only: that stands on both."""
    here, there = (_others(len(text), flags) for text, flags in ((symbols, taken), (kept, kept_taken)))
    new_flags, kept_flags, raw, moves = align(symbols[here].tobytes(), kept[there].tobytes())
    found = np.frombuffer(raw, np.int32).reshape(-1, 4)
    if taken is None and kept_taken is None:
        return new_flags, kept_flags, found, moves
    pieces = np.empty_like(found)
    for column, places, count in ((0, here, len(symbols)), (2, there, len(kept))):
        begins, ends = found[:, column], found[:, column + 1]
        first = np.append(places, count).astype(np.int32)
        pieces[:, column] = first[begins]
        pieces[:, column + 1] = np.where(ends > begins, first[ends - 1] + 1, first[begins])
    in_new, in_kept = np.ones(len(symbols), dtype=np.bool_), np.ones(len(kept), dtype=np.bool_)
    in_new[here], in_kept[there] = np.frombuffer(new_flags, np.bool_), np.frombuffer(kept_flags, np.bool_)
    return in_new.tobytes(), in_kept.tobytes(), pieces, moves


def _others(count: int, taken: Flags | None) -> NDArray[np.int64]:
    return np.arange(count) if taken is None else (~taken[:count]).nonzero()[0]


class Difference(msgspec.Struct, frozen=True):
    """One difference, for people."""

    kind: str  # of `KINDS`
    place: str  # of `PLACES`
    new: range  # symbols of the new page's main text
    kept: list[int]  # symbols of the kept page's that stand in their place
    is_own: bool  # whether it is the page's own text and no furniture


def told(differences: Differences, most: int) -> list[Difference]:
    """The differences that tell most, in the order of the new text."""
    pieces, rows = differences.pieces, differences.rows
    first = np.sort((-rows[:, 0].astype(int) - len(KINDS) * rows[:, 2]).argsort(kind="stable")[:most])
    differs = differences.kept.differs
    return [
        Difference(
            KINDS[kind],
            PLACES[place],
            range(begin, end),
            (kept_begin + differs[kept_begin:kept_end].nonzero()[0]).tolist(),
            bool(is_own),
        )
        for (begin, end, kept_begin, kept_end), (kind, place, is_own) in zip(
            pieces[first].tolist(), rows[first].tolist(), strict=True
        )
    ]


# Set by hand: share of its own text that must be left. A post that stands in a side bar is not compared by its byline.
_LEAST = 0.5


def taken(page: View, other: View) -> NDArray[np.bool_] | None:
    """Shape (n,): which symbols extraction has taken for main text of this page only; None where none, or most.

    A box of the template, or a list of links, may be worth as much as what a page is about; then one line more or less
    decides whether it is main text. A block that only one main text has is a difference of the pages if neither nearly
    all pages of the site have it nor the other page says it beside its main text; else it is one of extraction, and
    stands on both. (At 98 % precision .871 of the duplicates of a shop not fitted on were found, .814 without it; both
    with half of the pages for nearly all.)
    """
    main = page.main
    only = page.blocks - other.blocks
    if not only:
        return None
    around, everywhere = other.said_around, only.intersection(page.everywhere)
    beside = only.intersection(around.asides) | only.intersection(around.link_lines)
    if not everywhere and not beside:
        return None
    left_out = [
        block in everywhere or (block in beside and _is_constant(page, begin, end))
        for block, (begin, end) in zip(main.hashes, pairwise([0, *main.ends]), strict=True)
    ]
    if not any(left_out):
        return None
    stays = main.keep(left_out)
    rest = int(np.count_nonzero(page.own & stays)) + main.tail
    return ~stays if rest >= max(LITTLE, _LEAST * page.own_count) else None


def _is_constant(page: View, begin: int, end: int) -> bool:
    """A line beside is known by its skeleton alone: with a value in it, it may say another thing."""
    symbols = page.main.symbols[begin:end]
    return bool(np.array_equal(vocabulary_of(page.secret).skeleton_table[symbols], symbols))


class Stretch(NamedTuple):
    """A stretch of two texts."""

    same: int  # how many symbols both have here; 0 where they differ
    new: str  # what the new text says
    kept: str  # what the kept text says in its place; where they do not differ, what it says too, folded alike


def stretches(new: SymbolText, kept: SymbolText) -> list[Stretch]:
    """The texts in stretches that are equal and stretches that differ, in the order of the new text.

    Blocks that have moved are equal; what the kept text has around where they came from may be missing, and nothing of
    it is told twice as different: all stretches together are not longer than three texts. Of both texts the first
    `LONGEST` symbols are compared, in O(n log n).
    """
    new_symbols, kept_symbols = symbols_of(new)[:LONGEST], symbols_of(kept)[:LONGEST]
    found = tiles(new_symbols.tobytes(), kept_symbols.tobytes())
    told: list[Stretch] = []
    at = kept_at = 0
    for begin, kept_begin, length in (*found, (len(new_symbols), len(kept_symbols), 0)):
        here, there = _piece(new, at, begin), _piece(kept, kept_at, kept_begin)
        if here or there:
            told.append(Stretch(0, here, there))
        if length:
            told.append(
                Stretch(length, _piece(new, begin, begin + length), _piece(kept, kept_begin, kept_begin + length))
            )
        at, kept_at = begin + length, max(kept_at, kept_begin + length)
    return told


def _piece(text: SymbolText, begin: int, end: int) -> str:
    """What stands from one symbol to before another."""
    if end <= begin:
        return ""
    return text.text[text.starts[begin] : text.starts[end - 1] + text.lengths[end - 1]]
