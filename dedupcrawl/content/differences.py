"""Differences: each place where two aligned texts differ, as one typed value.

A difference is in the new page and not in the kept one (added), the other way round (left out), or both (replaced).
Text that moved is not a difference of words: `Alignment.moves` counts it. Each difference says where it stands, what it
is, whether it is the page's own text or the site's, and whether the kept page says the same elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from dedupcrawl.core.alignment import LONGEST, tiles
from dedupcrawl.core.main_outline import symbols_of
from dedupcrawl.core.symbols import SymbolText

KINDS_IN_WORDS: Mapping[str, str] = {
    "template": "on one page only",
    "slot": "another value",
    "value": "another number",
    "counted": "another count",
    "credited": "another reporter, editor or source",
    "filler": "words that say nothing",
    "renamed": "replaced as before",
    "added": "added",
    "left out": "left out",
    "replaced": "another passage",
    "reworded": "other words",
    "named": "another name",
    "measured": "another unit",
    "dated": "another date or time",
    "figured": "another number",
    "turned": "a negation or an opposite",
    "swapped": "the other way round",
}
"""Name of each kind of differences, by their numbers in `core.diff` → the kind in words."""

PLACES_IN_WORDS: Mapping[str, str] = {
    "top": "in the first line",
    "head": "at the beginning",
    "sentence": "in a sentence",
    "line": "in a line",
    "closing": "in the last sentence",
    "foot": "at the end",
}
"""Name of each place where they stand, likewise."""


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
    new_symbols, kept_symbols = symbols_of(new)[: 2 * LONGEST], symbols_of(kept)[: 2 * LONGEST]
    found = tiles(new_symbols, kept_symbols)
    told: list[Stretch] = []
    at = kept_at = 0
    for begin, kept_begin, length in (*found, (len(new_symbols) // 2, len(kept_symbols) // 2, 0)):
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
    return "" if end <= begin else text.between(begin, end - 1)
