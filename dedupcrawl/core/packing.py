# cython: language_level=3
"""Packing: compress the symbols of a text and their kinds, without the table of codes that each text would need.

Hashes of words are random, so only repetition can be compressed. An item is a symbol with its kind, or a break between
two blocks. The writer has two memories of items, which the reader builds up in the same way: one holds the item that
last followed each item (by its hash), the other the last two items for each of 128 hashes. The bits of an item are:

- 1: it is the one that last followed the item before it;
- 0, 1, and 8 bits: it is in the other memory, at this place;
- 0, 0, and 16 bits: its symbol; then 1 if it is a plain word, else 0 and 7 bits with its kind. A plain word has the
  script of the last item that was written in full.

The break after a block says whether the block ends with a sentence. (The records that Zstandard, level 2, made of 1,338
pages of uci had 870 bytes, of 1,290 of nankai 1,000, of 927 planted ones 901; these have 858, 966 and 812, and take
less than a quarter of the instructions. No command prints it.)
"""

import cython
from cython.cimports.dedupcrawl.core.arrays import uint8s, uint16s, unset
from cython.cimports.dedupcrawl.core.symbols import BREAK
from cython.cimports.dedupcrawl.core.words import ENDS, KIND
from cython.cimports.libc.string import memcpy, memset


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _place(item: uint32_t) -> uint32_t:
    return cython.cast(uint32_t, item * cython.cast(uint32_t, 0x9E3779B1)) >> 24


@cython.cfunc
@cython.exceptval(check=False)
def _begin(memory: cython.pointer(Memory)) -> cython.void:
    memset(memory, 0xFF, cython.sizeof(Memory))  # no item has this value
    memory.last = memory.script = 0


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _remember(memory: cython.pointer(Memory), place: uint32_t, item: uint32_t) -> cython.void:
    """Move an item to the first of the two places of its hash; `place` is that one, or where it is now."""
    if place & 1 or memory.items[place] != item:
        memory.items[place | 1] = memory.items[place & ~1]
        memory.items[place & ~1] = item


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _put(bits: cython.pointer(Bits), value: uint64_t, count: cython.int) -> cython.void:
    """Write at most 32 bits, the lowest first."""
    bits.waiting |= value << bits.count
    bits.count += count
    if bits.count >= 32:
        memcpy(bits.data + bits.at, cython.address(bits.waiting), 4)
        bits.at += 4
        bits.waiting >>= 32
        bits.count -= 32


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _take(bits: cython.pointer(Bits), count: cython.int) -> uint32_t:
    """Read at most 32 bits; after the end, zeros."""
    while bits.count < count:
        if bits.at < bits.size:
            bits.waiting |= cython.cast(uint64_t, bits.data[bits.at]) << bits.count
        bits.at += 1
        bits.count += 8
    taken: uint32_t = cython.cast(uint32_t, bits.waiting & ((cython.cast(uint64_t, 1) << count) - 1))
    bits.waiting >>= count
    bits.count -= count
    return taken


def pack(values: bytes, kinds: bytes, tail: bytes) -> bytes:
    """Pack symbols and breaks, two bytes each, with their kinds, a byte each; append the tail. b"" if there are none.

    Raises:
        ValueError: There are not as many kinds as symbols.
    """
    memory: Memory
    bits: Bits
    count: cython.Py_ssize_t = len(values) // 2
    i: cython.Py_ssize_t
    if len(kinds) != count:
        raise ValueError("each symbol has a kind")
    if not count:
        return b""
    symbols: cython.pointer(uint16_t) = uint16s(values)
    of_each: cython.pointer(uint8_t) = uint8s(kinds)
    made: bytes = unset(LEAST + 4 * count + len(tail))  # at most 26 bits for each
    bits.data, bits.at, bits.count = uint8s(made), 0, 0
    bits.waiting = 0
    _begin(cython.address(memory))
    _put(cython.address(bits), count, 24)
    _put(cython.address(bits), len(tail) != 0, 1)
    _put(cython.address(bits), (of_each[count - 1] & ENDS) != 0, 1)
    for i in range(count):
        kind: uint32_t = of_each[i] & ~ENDS
        if symbols[i] == BREAK:
            kind = of_each[i - 1] & ENDS if i else 0
        item: uint32_t = kind << 16 | symbols[i]
        after: cython.pointer(uint32_t) = cython.address(memory.after[memory.last])
        memory.last = _place(item)
        if after[0] == item:
            _put(cython.address(bits), 1, 1)
            continue
        after[0] = item
        place: uint32_t = memory.last & ~1
        if memory.items[place] == item or memory.items[place | 1] == item:
            place |= memory.items[place] != item
            _put(cython.address(bits), cython.cast(uint64_t, place) << 2 | 2, 10)
        else:
            _put(cython.address(bits), cython.cast(uint64_t, symbols[i]) << 2, 18)
            if kind == memory.script:
                _put(cython.address(bits), 1, 1)
            else:
                _put(cython.address(bits), (kind & KIND) << 1 | kind >> 5 << 5, 8)
                memory.script = kind & SCRIPTS
        _remember(cython.address(memory), place, item)
    memcpy(bits.data + bits.at, cython.address(bits.waiting), 4)
    return made[: bits.at + (bits.count + 7) // 8] + tail


def unpack(packed: bytes, most: cython.Py_ssize_t, tail_size: cython.Py_ssize_t) -> tuple:
    """Symbols, kinds and tail as `pack` was given them: at most `most` symbols, and no tail or one of `tail_size`.

    Raises:
        ValueError: `pack` did not make these bytes, or not from so few symbols and such a tail.
    """
    memory: Memory
    bits: Bits
    i: cython.Py_ssize_t
    if not packed:
        return b"", b"", b""
    bits.data, bits.at, bits.count, bits.size = uint8s(packed), 0, 0, len(packed)
    bits.waiting = 0
    count: cython.Py_ssize_t = _take(cython.address(bits), 24)
    has_tail: cython.bint = _take(cython.address(bits), 1)
    ends: uint8_t = ENDS if _take(cython.address(bits), 1) else 0
    if not count or count > most:
        raise ValueError("an outline has too many symbols, or none")
    values: bytes = unset(2 * count)
    kinds: bytes = unset(count)
    symbols: cython.pointer(uint16_t) = uint16s(values)
    of_each: cython.pointer(uint8_t) = uint8s(kinds)
    _begin(cython.address(memory))
    for i in range(count):
        after: cython.pointer(uint32_t) = cython.address(memory.after[memory.last])
        item: uint32_t = after[0]
        if not _take(cython.address(bits), 1):
            place: uint32_t
            if _take(cython.address(bits), 1):
                place = _take(cython.address(bits), 8)
                item = memory.items[place]
            else:
                item = _take(cython.address(bits), 16)
                kind: uint32_t = memory.script
                if not _take(cython.address(bits), 1):
                    kind = _take(cython.address(bits), 7)
                    kind = kind & KIND | kind >> 4 << 5
                    memory.script = kind & SCRIPTS
                item |= kind << 16
                place = _place(item) & ~1
            after[0] = item
            _remember(cython.address(memory), place, item)
        memory.last = _place(item)
        if item == NO_ITEM or bits.at > bits.size:
            raise ValueError("an outline is cut off, or no outline")
        symbols[i], of_each[i] = cython.cast(uint16_t, item), cython.cast(uint8_t, item >> 16)
        if symbols[i] == BREAK:
            if i:
                of_each[i - 1] |= of_each[i] & ENDS
            of_each[i] = 0
    of_each[count - 1] |= ends
    end: cython.Py_ssize_t = bits.at
    tail: bytes = packed[end:]
    if len(tail) != (tail_size if has_tail else 0):
        raise ValueError("an outline is cut off, or something follows")
    return values, kinds, tail


def renamed(said, names):
    """JSON values with other keys, as far as `names` has them; a number of a later version becomes a string."""
    if type(said) is dict:
        made: dict = {}
        for name, value in cython.cast(dict, said).items():
            is_made: cython.bint = type(value) is dict or type(value) is list
            made[names[name] if name in names else str(name)] = renamed(value, names) if is_made else value
        return made
    if type(said) is list:
        return [renamed(value, names) for value in cython.cast(list, said)]
    return said


def count_of(packed: bytes) -> int:
    """The number of packed symbols and breaks, plus one if a tail follows."""
    return (int.from_bytes(packed[:3], "little") + (packed[3] & 1)) if len(packed) > 3 else 0
