"""Two texts side by side, for people: what one says where the other says something else."""

from __future__ import annotations

from typing import NamedTuple

from dedupcrawl.content.symbols import SymbolText
from dedupcrawl.content.tiles import LONGEST, tiles
from dedupcrawl.content.word_kinds import symbols_of


class Stretch(NamedTuple):
    """A stretch of two texts.

    Attributes:
        same: How many symbols both have here; 0 where they differ.
        new: What the new text says.
        kept: What the kept text says in its place; where they do not differ, what it says too, folded alike.
    """

    same: int
    new: str
    kept: str


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
