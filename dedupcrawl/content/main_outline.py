"""Main outline: what is kept of a main text so that later pages can be laid beside it when the text itself is gone.

It holds symbols and, between two paragraphs, a break. Its blocks, by which a site's furniture is recognized, are each
known by a hash of its skeleton: its symbols with numbers and the words of dates masked. "Read 2,862 times" and "Read 17
times" are one slot of the site with two values. What a block is can so be told of a kept page, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import mmh3
import msgspec
import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content import kernels
from dedupcrawl.content.alignment import LONGEST, Symbols
from dedupcrawl.content.symbols import SymbolText
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
    lines = (text.code_points == ord("\n")).cumsum()[text.starts]
    broken: Symbols = np.insert(symbols, (lines[1:] != lines[:-1]).nonzero()[0] + 1, BREAK)
    return broken


def without_blocks(text: SymbolText, ends: Sequence[int], left_out: Sequence[bool]) -> str:
    """A folded text without some of its blocks, with one flag a block; what follows the last one stays.

    `ends` says where in its symbols its blocks end, as in `Blocks`.
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
    """The blocks of a text, in its order."""

    symbols: Symbols  # shape (n,): the symbols without breaks
    ends: list[int]  # where in `symbols` each block ends; it begins where the one before it ends
    hashes: list[int]  # MurmurHash3 x86 32 of each block's skeleton, two bytes a symbol, little-endian

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


READ_LAST = 512
"""Kept pages of which what was read is remembered: the same few are compared with one new page after the other.

(Of the kept pages that were read on four sites .30 to .75 had been among the last 16, .44 to .86 among the last 64, .61
to .94 among the last 256, and .77 to .96 among the last 1,024.)
"""
OUTLINE_SYMBOLS = LONGEST
"""Symbols of a text that its outline holds one by one."""

_WINDOW = 4_096  # symbols: with as many put in before, a tail begins elsewhere
_HASH = np.uint64(0x9E3779B97F4A7C15)


class MainOutline(msgspec.Struct, frozen=True, gc=False):
    """An outline that was read."""

    blocks: Blocks  # what is kept of it symbol by symbol
    tail: int  # how many symbols more there are
    tail_hash: bytes  # of the symbols from `tail_begins` on
    tail_begins: int  # at which symbol of the blocks


def packed(text: SymbolText) -> bytes:
    """The main text for the index.

    Little-endian: 2 bytes a symbol, the upper 15 bits of its hash and, as bit 0, whether it holds a digit; 2 zero bytes
    between two paragraphs. Of a text of more than `OUTLINE_SYMBOLS` symbols and breaks the first so many, then 4 bytes
    with the number of the other symbols and 8 with the hash of all from where its tail begins.
    """
    symbols = with_breaks(text)
    if len(symbols) <= OUTLINE_SYMBOLS:
        return symbols.tobytes()
    first = symbols[:OUTLINE_SYMBOLS]
    kept = first[first != BREAK]
    tail = mmh3.mmh3_x64_128_digest(text.hashes[tail_begins(kept) :].astype("<u8", copy=False).tobytes())[:8]
    return first.tobytes() + (len(text.hashes) - len(kept)).to_bytes(4, "little") + tail


@lru_cache(maxsize=READ_LAST)
def read(outline: bytes) -> MainOutline:
    """What `packed` made."""
    if len(outline) <= 2 * OUTLINE_SYMBOLS:
        blocks = Blocks.of(np.frombuffer(outline, dtype="<u2", count=len(outline) // 2))
        return MainOutline(blocks, 0, b"", len(blocks.symbols))
    tail = outline[2 * OUTLINE_SYMBOLS :]
    blocks = Blocks.of(np.frombuffer(outline, dtype="<u2", count=OUTLINE_SYMBOLS))
    return MainOutline(blocks, int.from_bytes(tail[:4], "little"), tail[4:], tail_begins(blocks.symbols))


def tail_begins(kept: Symbols) -> int:
    """At which of the symbols that are kept one by one, without breaks, the tail of a longer text begins.

    A tail is known by its hash alone. If it began after a fixed number of symbols, one word put in before would make it
    another one. So it begins where the text itself says, within the last of the symbols that are kept one by one: at
    the gram of the least hash (a minimizer: Schleimer, Wilkerson, Aiken, SIGMOD 2003).
    """
    window = kept[-_WINDOW:].astype(np.uint64)
    if len(window) < 4:
        return len(kept)
    grams = window[:-3] << np.uint64(48) | window[1:-2] << np.uint64(32) | window[2:-1] << np.uint64(16) | window[3:]
    return len(kept) - len(window) + int((grams * _HASH).argmin())
