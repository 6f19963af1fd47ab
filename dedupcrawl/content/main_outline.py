"""Main outline: what is kept of a main text so that later pages can be laid beside it when the text itself is gone.

It holds symbols and, between two paragraphs, a break. Its blocks, by which a site's furniture is recognized, are each
known by a hash of its skeleton: its symbols with numbers and the words of dates masked. "Read 2,862 times" and "Read 17
times" are one slot of the site with two values. What a block is can so be told of a kept page, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import msgspec
import numpy as np
from numpy.typing import NDArray

from dedupcrawl.core.alignment import LONGEST
from dedupcrawl.core.digests import NO_SECRET, Secret, digest_of
from dedupcrawl.core.symbols import BETWEEN_BLOCKS, SymbolText, blocks_of
from dedupcrawl.core.words import kinds_of

Symbols = NDArray[np.uint16]
"""Symbols of an outline: 15 bits of hash, and bit 0 for those that hold a digit."""

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
    """An outline that was read: what is kept of it symbol by symbol, in blocks, and how much more there is."""

    symbols: Symbols  # shape (n,): the symbols without breaks
    kinds: bytes  # of each symbol its kind, as `core.words` has them
    ends: list[int]  # where in `symbols` each block ends; it begins where the one before it ends
    hashes: list[int]  # MurmurHash3 x86 32 of each block's skeleton, two bytes a symbol, little-endian
    tail: int  # how many symbols more there are
    tail_hash: bytes  # of the symbols from `tail_begins` on
    tail_begins: int  # at which of `symbols`
    secret: Secret  # of the index

    def keep(self, left_out: Sequence[bool]) -> NDArray[np.bool_]:
        """Shape (n,): which symbols stand in blocks that are not left out; one flag a block."""
        keep = np.ones(len(self.symbols), dtype=np.bool_)
        if any(left_out):
            for flag, (begin, end) in zip(left_out, pairwise([0, *self.ends]), strict=True):
                if flag:
                    keep[begin:end] = False
        return keep


def packed(text: SymbolText) -> bytes:
    """The main text for the index.

    Little-endian: 2 bytes a symbol, the upper 15 bits of its hash and, as bit 0, whether it holds a digit; 2 zero bytes
    between two paragraphs; then of each of these one byte with its kind. Of a text of more than `OUTLINE_SYMBOLS`
    symbols and breaks the first so many, then 4 bytes with the number of the other symbols and 8 with the hash of all
    from where its tail begins.
    """
    values, kinds = text.values, kinds_of(text)
    if len(values) <= 2 * OUTLINE_SYMBOLS:
        return values + kinds
    first = np.frombuffer(values, dtype="<u2", count=OUTLINE_SYMBOLS)
    kept = first[first != BETWEEN_BLOCKS]
    hashes = text.hashes
    tail = digest_of(hashes[tail_begins(kept) :].astype("<u8", copy=False).tobytes())[:8]
    return first.tobytes() + kinds[:OUTLINE_SYMBOLS] + (len(hashes) - len(kept)).to_bytes(4, "little") + tail


def symbols_of(text: SymbolText) -> Symbols:
    """Shape (n,) uint16: the upper 15 bits of each symbol's hash and, as bit 0, whether it holds a digit."""
    symbols: Symbols = (text.hashes >> np.uint64(48)).astype("<u2")
    symbols &= np.uint16(0xFFFE)
    symbols |= (text.hashes & np.uint64(1)).astype("<u2")
    return symbols


def values_of(outline: bytes) -> Symbols:
    """The symbols of an outline, with breaks between blocks; of a longer text, those that are kept one by one."""
    return np.frombuffer(outline, dtype="<u2", count=min(len(outline) // 3, OUTLINE_SYMBOLS))


@lru_cache(maxsize=READ_LAST)
def read(outline: bytes, secret: Secret = NO_SECRET) -> MainOutline:
    """What `packed` made, of a text of the index of this secret."""
    count = min(len(outline) // 3, OUTLINE_SYMBOLS)
    raw, kinds, ends, hashes = blocks_of(outline[: 2 * count], outline[2 * count : 3 * count], secret)
    symbols = np.frombuffer(raw, dtype="<u2")
    tail = outline[3 * OUTLINE_SYMBOLS :]
    begins = tail_begins(symbols) if tail else len(symbols)
    return MainOutline(symbols, kinds, ends, hashes, int.from_bytes(tail[:4], "little"), tail[4:], begins, secret)


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
