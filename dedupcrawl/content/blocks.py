"""Blocks: a text as its paragraphs, each known by a hash, so that those can be left out that a whole site repeats.

An outline holds symbols and, between two paragraphs, a break. The hash of a block is made of its symbols in the outline
alone: what a block is can be told of a kept page, too, when its text is gone. Blocks are compared as wholes: a date or
a name inside a block makes it another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

import mmh3
import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content import kernels
from dedupcrawl.content.symbols import SymbolText
from dedupcrawl.content.tiles import Symbols
from dedupcrawl.content.wording import symbols_of

BREAK = 0
"""Stands between two blocks in an outline; no symbol's value."""

_INSTEAD_OF_BREAK = 2  # the value of the few symbols whose hash begins with 15 zeros


def _symbols_before(text: SymbolText, lines: list[str]) -> NDArray[np.intp]:
    """Shape (number of newlines,): how many symbols stand before each newline."""
    newlines = [end - 1 for end in accumulate(len(line) + 1 for line in lines[:-1])]
    before: NDArray[np.intp] = text.starts.searchsorted(newlines)
    return before


def with_breaks(text: SymbolText) -> Symbols:
    """The symbols of a text, as in `dedupcrawl.content.wording.symbols_of`, with a break between its paragraphs.

    A paragraph without any symbol is none.
    """
    if kernels.compiled is not None:
        return np.frombuffer(kernels.compiled.broken_symbols(text.text, text.starts, text.hashes), dtype=np.uint16)
    symbols = symbols_of(text)
    if not symbols.all():
        symbols = np.where(symbols == BREAK, np.uint16(_INSTEAD_OF_BREAK), symbols)
    places = _symbols_before(text, text.text.split("\n"))
    places = places[places < len(symbols)]
    if not len(places):
        return symbols
    first = np.ones(len(places), dtype=np.bool_)
    np.not_equal(places[1:], places[:-1], out=first[1:])
    first &= places > 0
    inside = places[first]
    is_symbol = np.ones(len(symbols) + len(inside), dtype=np.bool_)
    is_symbol[inside + np.arange(len(inside))] = False
    broken = np.zeros(len(is_symbol), dtype="<u2")
    broken[is_symbol] = symbols
    return broken


def without_blocks(text: SymbolText, left_out: Sequence[bool]) -> str:
    """A folded text without some of its blocks; one flag a block, and what has no flag stays."""
    lines = text.text.split("\n")
    edges = pairwise([0, *_symbols_before(text, lines).tolist(), len(text.starts)])
    flags = iter(left_out)
    kept = [line for line, (begin, end) in zip(lines, edges, strict=True) if not (begin < end and next(flags, False))]
    return "\n".join(kept)


@dataclass(frozen=True)
class Blocks:
    """The blocks of a text, in its order.

    Attributes:
        symbols: Shape (n,): the symbols without breaks.
        ends: Where in `symbols` each block ends; it begins where the one before it ends.
    """

    symbols: Symbols
    ends: list[int]

    @classmethod
    def of(cls, broken: Symbols) -> Blocks:
        """The blocks of symbols with breaks between them."""
        if kernels.compiled is not None:
            packed, block_ends, hashes = kernels.compiled.blocks(broken)
            blocks = cls(np.frombuffer(packed, dtype=np.uint16), block_ends)
            blocks.__dict__["hashes"] = hashes  # it is not made again
            return blocks
        is_symbol = broken != BREAK
        breaks = (~is_symbol).nonzero()[0]
        if not len(breaks):
            return cls(broken, [len(broken)] if len(broken) else [])
        ends = [*(breaks - np.arange(len(breaks))).tolist(), len(broken) - len(breaks)]
        return cls(broken[is_symbol], [end for begin, end in pairwise([0, *ends]) if begin < end])

    @cached_property
    def hashes(self) -> list[int]:
        """MurmurHash3 x86 32 of each block's symbols, two bytes each, little-endian."""
        packed = self.symbols.tobytes()
        return [mmh3.hash(packed[2 * begin : 2 * end], 0, False) for begin, end in pairwise([0, *self.ends])]

    def keep(self, left_out: Sequence[bool]) -> NDArray[np.bool_]:
        """Shape (n,): which symbols stand in blocks that are not left out; one flag a block."""
        keep = np.ones(len(self.symbols), dtype=np.bool_)
        for flag, (begin, end) in zip(left_out, pairwise([0, *self.ends]), strict=True):
            if flag:
                keep[begin:end] = False
        return keep
