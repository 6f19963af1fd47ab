"""Blocks: a text as its paragraphs, each known by a hash of its skeleton, by which a site's furniture is recognized.

An outline holds symbols and, between two paragraphs, a break. The skeleton of a block is its symbols with numbers and
the words of dates masked: "Read 2,862 times" and "Read 17 times" are one slot of the site with two values. It is made
of the outline alone, so what a block is can be told of a kept page, too, when its text is gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import mmh3
import msgspec
import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content import kernels
from dedupcrawl.content.symbols import SymbolText
from dedupcrawl.content.tiles import Symbols
from dedupcrawl.content.word_kinds import skeletons, symbols_of

BREAK = 0
"""Stands between two blocks in an outline; no symbol's value."""

_INSTEAD_OF_BREAK = 2  # the value of the few symbols whose hash begins with 15 zeros


def with_breaks(text: SymbolText) -> Symbols:
    """The symbols of a text, as in `dedupcrawl.content.word_kinds.symbols_of`, with a break between its paragraphs.

    A paragraph without any symbol is none.
    """
    if kernels.compiled is not None:
        return np.frombuffer(kernels.compiled.broken_symbols(text.text, text.starts, text.hashes), dtype=np.uint16)
    symbols = symbols_of(text)
    if not symbols.all():
        symbols = np.where(symbols == BREAK, np.uint16(_INSTEAD_OF_BREAK), symbols)
    newlines = (text.code_points == ord("\n")).nonzero()[0]
    places = text.starts.searchsorted(newlines)
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


def without_blocks(text: SymbolText, ends: Sequence[int], left_out: Sequence[bool]) -> str:
    """A folded text without some of its blocks.

    Args:
        text: The text.
        ends: Where in its symbols its blocks end, as in `Blocks`; what follows the last one stays.
        left_out: One flag a block.
    """
    folded, starts = text.text, text.starts
    kept = []
    at = 0
    for leave, (begin, end) in zip(left_out, pairwise([0, *ends]), strict=True):
        if leave:
            kept.append(folded[at : folded.rfind("\n", 0, starts.item(begin)) + 1])
            line_end = folded.find("\n", starts.item(end - 1))
            if line_end < 0:  # the last line: nothing follows the one before it
                return "".join(kept)[:-1]
            at = line_end + 1
    return "".join((*kept, folded[at:]))


class Blocks(msgspec.Struct, frozen=True, gc=False):
    """The blocks of a text, in its order.

    Attributes:
        symbols: Shape (n,): the symbols without breaks.
        ends: Where in `symbols` each block ends; it begins where the one before it ends.
        hashes: MurmurHash3 x86 32 of each block's skeleton, two bytes a symbol, little-endian.
    """

    symbols: Symbols
    ends: list[int]
    hashes: list[int]

    @classmethod
    def of(cls, broken: Symbols) -> Blocks:
        """The blocks of symbols with breaks between them."""
        if kernels.compiled is not None:
            packed, ends, hashes = kernels.compiled.blocks(broken, skeletons())
            return cls(np.frombuffer(packed, dtype=np.uint16), ends, hashes)
        is_symbol = broken != BREAK
        breaks = (~is_symbol).nonzero()[0]
        edges = [0, *(breaks - np.arange(len(breaks))).tolist(), len(broken) - len(breaks)]
        blocks = [(begin, end) for begin, end in pairwise(edges) if begin < end]
        symbols = broken[is_symbol]
        packed = skeletons()[symbols].tobytes()
        hashes = [mmh3.hash(packed[2 * begin : 2 * end], 0, False) for begin, end in blocks]
        return cls(symbols, [end for _, end in blocks], hashes)

    def keep(self, left_out: Sequence[bool]) -> NDArray[np.bool_]:
        """Shape (n,): which symbols stand in blocks that are not left out; one flag a block."""
        keep = np.ones(len(self.symbols), dtype=np.bool_)
        if any(left_out):
            for flag, (begin, end) in zip(left_out, pairwise([0, *self.ends]), strict=True):
                if flag:
                    keep[begin:end] = False
        return keep
