"""Differences for people: the kinds and places of differences in words, and two texts side by side in stretches.

Text that has moved is not a difference of words: `Pair.moves` counts it.
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
    "counted": "another count",
    "credited": "another reporter, editor or source",
    "filler": "words that say nothing",
    "renamed": "replaced as before",
    "added": "added",
    "left out": "left out",
    "longer": "words more, or fewer, in the value of a labelled line",
    "replaced": "another passage",
    "reworded": "other words",
    "named": "another name",
    "measured": "another unit",
    "dated": "another date or time",
    "figured": "another number",
    "turned": "a negation or an opposite",
    "swapped": "the other way round",
}
"""Name of each kind of difference → the kind in words, in the order of their numbers in `core.diff`."""

PLACES_IN_WORDS: Mapping[str, str] = {
    "top": "in the first line",
    "head": "at the beginning",
    "sentence": "in a sentence",
    "line": "in a line",
    "closing": "in the last sentence",
    "foot": "at the end",
    "fact": "in a labelled line",
}
"""Name of each place of a difference → the place in words, likewise."""


class Stretch(NamedTuple):
    """A stretch of two texts."""

    same: int  # how many symbols both have here; 0 if they differ
    new: str  # what the new text says, folded
    kept: str  # what the kept text says here, folded; in an equal stretch only the marks between symbols may differ


def stretches(new: SymbolText, kept: SymbolText) -> list[Stretch]:
    """Split two texts into stretches that are equal and stretches that differ, in the order of the new text.

    Blocks that have moved are equal. Text of the kept page around their former place may be missing, but no text is
    shown twice as different: all stretches together are no longer than three texts. The first `LONGEST` symbols of
    both texts are compared, in linear time.
    """
    new_symbols, kept_symbols = symbols_of(new)[: 2 * LONGEST], symbols_of(kept)[: 2 * LONGEST]
    matches = tiles(new_symbols, kept_symbols)
    result: list[Stretch] = []
    at = kept_at = 0
    for begin, kept_begin, length in (*matches, (len(new_symbols) // 2, len(kept_symbols) // 2, 0)):
        here, there = _piece(new, at, begin), _piece(kept, kept_at, kept_begin)
        if here or there:
            result.append(Stretch(0, here, there))
        if length:
            result.append(
                Stretch(length, _piece(new, begin, begin + length), _piece(kept, kept_begin, kept_begin + length))
            )
        at, kept_at = begin + length, max(kept_at, kept_begin + length)
    return result


def _piece(text: SymbolText, begin: int, end: int) -> str:
    """The text from symbol `begin` to the one before `end`."""
    return "" if end <= begin else text.between(begin, end - 1)
