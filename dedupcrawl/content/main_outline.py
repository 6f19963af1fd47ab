"""Main outline: what is kept of a main text so that later pages can be laid beside it when the text itself is gone."""

from __future__ import annotations

from functools import lru_cache

import mmh3
import msgspec
import numpy as np

from dedupcrawl.content.blocks import BREAK, Blocks, with_breaks
from dedupcrawl.content.symbols import SymbolText
from dedupcrawl.content.tiles import LONGEST, Symbols

OUTLINE_SYMBOLS = LONGEST
"""Symbols of a text that its outline holds one by one."""

_WINDOW = 4_096  # symbols: with as many put in before, a tail begins elsewhere
_HASH = np.uint64(0x9E3779B97F4A7C15)


class MainOutline(msgspec.Struct, frozen=True, gc=False):
    """An outline that was read.

    Attributes:
        blocks: What is kept of it symbol by symbol.
        tail: How many symbols more there are.
        tail_hash: Of the symbols from `tail_begins` on.
        tail_begins: At which symbol of the blocks.
    """

    blocks: Blocks
    tail: int
    tail_hash: bytes
    tail_begins: int


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


@lru_cache(maxsize=8)  # of the page at hand, which is compared with others in turn
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
