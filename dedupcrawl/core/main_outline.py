# cython: language_level=3
"""Main outline: what an index keeps of a main text, so that later pages can be compared with it.

It holds the symbols, with a break between two paragraphs. Each block is identified by a hash of its skeleton, which is
its symbols with numbers and the words of dates masked; by these hashes the site template is recognized, on kept pages
too. "Read 2,862 times" and "Read 17 times" are one slot of the site template with two values.
"""

import cython
from cython.cimports.dedupcrawl.core.arrays import uint16s, unset
from cython.cimports.dedupcrawl.core.packing import pack, unpack
from cython.cimports.dedupcrawl.core.symbols import Block, SymbolText
from cython.cimports.libc.string import memcpy

from dedupcrawl.core.alignment import LONGEST
from dedupcrawl.core.digests import NO_SECRET, digest_of
from dedupcrawl.core.symbols import BETWEEN_BLOCKS, blocks_of
from dedupcrawl.core.words import kinds_of

READ_LAST = 512
"""Kept pages whose unpacked outlines are cached: the same few are compared with one new page after another.

(Of the kept pages that were read on four sites .30 to .75 had been among the last 16, .44 to .86 among the last 64, .61
to .94 among the last 256, and .77 to .96 among the last 1,024.)
"""
OUTLINE_SYMBOLS = LONGEST
"""Symbols and breaks that the outline of a text holds one by one; it has only a hash of any further symbols."""

_TAIL_BYTES = 12  # the number of further symbols, and a hash
_WINDOW = 4_096  # symbols, the last ones stored, within which a tail begins; a longer insertion before it moves it
_HASH = cython.declare(uint64_t, 0x9E3779B97F4A7C15)  # 2**64 divided by the golden ratio (Knuth)


class MainOutline:
    """An unpacked outline: the stored symbols of a main text in blocks, and how many more there are.

    Attributes:
        packed: The stored form. `core.packing` packs the kind of each symbol, the upper 15 bits of its hash and, as bit
            0, whether it holds a digit; zeros stand between two paragraphs. If the text has more than
            `OUTLINE_SYMBOLS` symbols and breaks, only the first so many are packed; then follow 4 bytes with the number
            of the other symbols and 8 with the hash of all symbols of the tail, little-endian.
        raw: The symbols without breaks, two bytes each.
        kinds: The kind of each symbol, see `core.words`.
        ends: The position where each block ends; it begins where the one before it ends.
        hashes: MurmurHash3 x86 32 of each block's skeleton, two bytes a symbol, little-endian.
        tail: The number of symbols that are not stored.
        tail_hash: The hash of the symbols from `tail_begins` on; empty if all symbols are stored.
        tail_begins: The position among the symbols where the tail begins.
    """

    @staticmethod
    def of(text: SymbolText) -> MainOutline:
        """The outline of a text."""
        values, kinds = text.values, kinds_of(text)
        if len(values) > 2 * OUTLINE_SYMBOLS:
            return read(_cut(text, values, kinds), text.secret)
        made: MainOutline = MainOutline.__new__(MainOutline)
        made.packed, made.count = pack(values, kinds, b""), text.count
        made.raw, made.kinds = unset(2 * text.count), unset(text.count)
        made.ends, made.hashes = [], []
        number: cython.int
        raw: cython.p_char = made.raw
        of_each: cython.p_char = made.kinds
        all_values: cython.p_const_char = values
        all_kinds: cython.p_const_char = kinds
        for number in range(text.block_count):
            block: cython.pointer(Block) = text.blocks + number
            memcpy(raw + 2 * block.first, all_values + 2 * (block.first + number), 2 * block.count)
            memcpy(of_each + block.first, all_kinds + block.first + number, block.count)
            made.ends.append(block.first + block.count)
            made.hashes.append(block.hash)
        made.tail, made.tail_hash, made.tail_begins = 0, b"", made.count
        return made

    @staticmethod
    def read(outline: bytes, secret: object) -> MainOutline:
        """Unpack an outline from the index with this secret."""
        made: MainOutline = MainOutline.__new__(MainOutline)
        values, kinds, tail = unpack(outline, OUTLINE_SYMBOLS, _TAIL_BYTES)
        made.packed = outline
        made.raw, made.kinds, made.ends, made.hashes = blocks_of(values, kinds, secret)
        made.count = len(made.raw) // 2
        made.tail_begins = tail_begins(made.raw) if tail else made.count
        made.tail, made.tail_hash = int.from_bytes(tail[:4], "little"), tail[4:]
        return made

    def read_blocks(self):
        if self.all_blocks is None:
            self.all_blocks = frozenset(self.hashes)
        return self.all_blocks

    @property
    def blocks(self):
        """The different `hashes`."""
        return self.read_blocks()

    @property
    def symbols(self):
        """The symbols without breaks, of type "H"."""
        return memoryview(self.raw).cast("H")


@cython.cfunc
def _cut(text: SymbolText, values: bytes, kinds: bytes) -> bytes:
    """The packed outline of a text that is too long to be stored whole."""
    i: cython.Py_ssize_t
    first: bytes = values[: 2 * OUTLINE_SYMBOLS]
    kept: bytes = b"".join([first[2 * i : 2 * i + 2] for i in range(len(first) // 2) if not _is_break(first, i)])
    tail = digest_of(text.hashes[tail_begins(kept) :].tobytes())[:8]
    return pack(first, kinds[:OUTLINE_SYMBOLS], (text.count - len(kept) // 2).to_bytes(4, "little") + tail)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _at(raw: cython.p_const_char, place: cython.Py_ssize_t) -> uint16_t:
    value: uint16_t = 0
    memcpy(cython.address(value), raw + 2 * place, 2)
    return value


@cython.cfunc
def _is_break(raw: bytes, place: cython.Py_ssize_t) -> cython.bint:
    return _at(raw, place) == cython.cast(uint16_t, BETWEEN_BLOCKS)


def packed(text: SymbolText) -> bytes:
    """The outline of a text as an index stores it, see `MainOutline.packed`."""
    return MainOutline.of(text).packed


def symbols_of(text):
    """The upper 15 bits of each symbol's hash and, as bit 0, whether it holds a digit: two bytes each."""
    i: cython.Py_ssize_t
    made: bytes = unset(2 * text.count)
    out: cython.pointer(uint16_t) = uint16s(made)
    for i in range(text.count):
        out[i] = text.items[i].hash >> 48 & 0xFFFE | text.items[i].hash & 1
    return made


def values_of(outline: bytes) -> object:
    """The stored symbols of a packed outline, with breaks between blocks, of type "H"."""
    return memoryview(unpack(outline, OUTLINE_SYMBOLS, _TAIL_BYTES)[0]).cast("H")


_last: dict = {}  # (packed outline, secret) → outline, least recently used first


def read(outline: bytes, secret: object = NO_SECRET) -> MainOutline:
    """Unpack an outline from the index with this secret, or take it from the cache."""
    made: MainOutline = _last.pop((outline, secret), None)
    return remember(MainOutline.read(outline, secret) if made is None else made, secret)


def remember(outline: MainOutline, secret: object) -> MainOutline:
    """Put the outline of a page that is kept into the cache, as if it had been read."""
    while len(_last) >= READ_LAST:
        _last.pop(next(iter(_last)), None)  # another thread may have removed it
    _last[outline.packed, secret] = outline
    return outline


def tail_begins(kept: bytes) -> int:
    """The position among the stored symbols (two bytes each, no breaks) where the tail of a longer text begins.

    Only the hash of a tail is stored. If it began after a fixed number of symbols, one word inserted before it would
    change it. So the text itself decides: the tail begins at the gram with the least hash among the last stored symbols
    (a minimizer: Schleimer, Wilkerson, Aiken, SIGMOD 2003).
    """
    i: cython.Py_ssize_t
    data: cython.p_const_char = kept
    count: cython.Py_ssize_t = len(kept) // 2
    first: cython.Py_ssize_t = max(0, count - _WINDOW)
    best: cython.Py_ssize_t = count
    least: uint64_t = 0
    for i in range(first, count - 3):
        gram: uint64_t = cython.cast(uint64_t, _at(data, i)) << 48 | cython.cast(uint64_t, _at(data, i + 1)) << 32
        gram |= cython.cast(uint64_t, _at(data, i + 2)) << 16 | _at(data, i + 3)
        if best == count or gram * _HASH < least:
            best, least = i, gram * _HASH
    return best
