"""Differences: each place where two aligned texts differ, as one typed value.

A difference is what stands in the new page and not in the kept one (added), the other way round (left out), or both
(replaced). What moved is not a difference of words: it is counted by `Alignment.moves`. Each difference says where it
stands, what it is, whether it is the page's own text or furniture, and whether the kept page says the same elsewhere.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content.alignment import LONGEST, Alignment, Symbols, align, tiles
from dedupcrawl.content.sides import EVERY, NEW, OWN, Flags, Side, Tally, sides
from dedupcrawl.content.view import LITTLE, View
from dedupcrawl.content.word_kinds import symbols_of
from dedupcrawl.core.symbols import SymbolText, vocabulary_of


class Differences(msgspec.Struct, frozen=True, gc=False):
    """All differences of a pair, in the order of the new text."""

    new: Side
    kept: Side
    alignment: Alignment  # how they are aligned
    tally: Tally  # what is counted of them

    @classmethod
    def of(cls, new: View, kept: View) -> Differences:
        """Align the main texts of two pages, once."""
        mine, its = new.main, kept.main
        same_tail = mine.tail_hash == its.tail_hash
        end, kept_end = (mine.tail_begins, its.tail_begins) if same_tail else (None, None)
        symbols, kept_symbols = mine.blocks.symbols[:end], its.blocks.symbols[:kept_end]
        found = _aligned(symbols, kept_symbols, taken(new, kept), taken(kept, new))
        one, other, tally = sides(symbols, new.own[:end], kept_symbols, kept.own[:kept_end], found, new.secret)
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


class Difference(msgspec.Struct, frozen=True):
    """One difference, for people."""

    kind: Kind  # whether both texts have something there
    at: int  # which symbol of the new page's main text it begins at
    symbols: int  # how many symbols the new page has there
    kept_symbols: int  # how many the kept page has there
    is_own: bool  # whether it is the page's own text and no furniture


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
        found.append(Difference(kind, begin, end - begin, kept_size, bool(marks[OWN])))
    return found


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
    blocks = page.main.blocks
    only = page.blocks - other.blocks
    if not only:
        return None
    around, everywhere = other.said_around, only.intersection(page.everywhere)
    beside = only.intersection(around.asides) | only.intersection(around.link_lines)
    if not everywhere and not beside:
        return None
    left_out = [
        block in everywhere or (block in beside and _is_constant(page, begin, end))
        for block, (begin, end) in zip(blocks.hashes, pairwise([0, *blocks.ends]), strict=True)
    ]
    if not any(left_out):
        return None
    stays = blocks.keep(left_out)
    rest = int(np.count_nonzero(page.own & stays)) + page.main.tail
    return ~stays if rest >= max(LITTLE, _LEAST * page.own_count) else None


def _is_constant(page: View, begin: int, end: int) -> bool:
    """A line beside is known by its skeleton alone: with a value in it, it may say another thing."""
    symbols = page.main.blocks.symbols[begin:end]
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
    found = tiles(new_symbols, kept_symbols)
    told: list[Stretch] = []
    at = kept_at = 0
    pieces = zip(found.new.tolist(), found.kept.tolist(), found.length.tolist(), strict=True)
    for begin, kept_begin, length in (*pieces, (len(new_symbols), len(kept_symbols), 0)):
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
