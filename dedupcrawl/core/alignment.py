# cython: language_level=3
"""Align two sequences of symbols: find the symbols that both have in common, and the pieces that differ.

The common parts are *tiles*: runs of anchors, which may have moved. An anchor is a gram of four symbols that occurs
equally often in both sequences; its i-th occurrence in one is paired with its i-th in the other. This is patience diff
(Cohen), except that blocks may have moved and that repeated text has anchors too. Two short pieces in each other's
place are no tiles, because "to A … to B" says something else than "to B … to A". Between two tiles lies a gap: the
remaining symbols of the new sequence on one side, and on the other the symbols of the kept sequence between the same
tiles that no tile covers. The two sides are aligned by a longest common subsequence (Hyyrö 2004).

Cost: the tiles are found in linear time, by hashing. A gap with a side longer than `GAP_LIMIT` is not aligned. Once the
gaps together have gone through the kept sequence `EFFORT` times, which needs a page made for it, no more are aligned.
"""

import os

import cython
from cython.cimports.dedupcrawl.core.arrays import int32s, resized, uint8s, uint16s, uint64s, unset, zeros
from cython.cimports.dedupcrawl.core.slots import Slot, Slots, begin_round, counted_slot, find_slot
from cython.cimports.libc.string import memcpy, memset

LONGEST = 1 << 14
"""The most symbols that a sequence may have."""

_longest = cython.declare(cython.Py_ssize_t, LONGEST)
_slots = cython.declare(Slots)  # grams and how often they occur
_slots.odd = int.from_bytes(os.urandom(8), "little") | 1
_work = cython.declare(Work)
_rows = cython.declare(bytes, bytes(8 * (GAP_LIMIT + 1) * WORDS))
_masks = cython.declare(bytes, bytes(8 * GAP_LIMIT * WORDS))
_which = cython.declare(bytes, bytes(2 << 16))
_work.rows, _work.masks, _work.which = uint64s(_rows), uint64s(_masks), uint16s(_which)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _first_of_gram(symbols: cython.pointer(cython.const[uint16_t])) -> uint64_t:
    """The first three symbols of a gram."""
    return cython.cast(uint64_t, symbols[0]) << 32 | cython.cast(uint64_t, symbols[1]) << 16 | symbols[2]


@cython.cfunc
def _find_anchors(
    new: cython.pointer(cython.const[uint16_t]),
    count: cython.Py_ssize_t,
    kept: cython.pointer(cython.const[uint16_t]),
    kept_count: cython.Py_ssize_t,
    places: cython.pointer(int32_t),
) -> cython.int:
    """Fill in, for each gram of `new`, the position in `kept` that it is anchored to, −1 if there is none."""
    slot: cython.pointer(Slot)
    all_following: bytes = unset(4 * kept_count)
    following: cython.pointer(int32_t) = int32s(all_following)
    homes: bytes = unset(4 * count)
    home: cython.pointer(int32_t) = int32s(homes)
    i: cython.Py_ssize_t
    begin_round(cython.address(_slots), count)
    slots: Slots = _slots
    gram: uint64_t = _first_of_gram(new)
    for i in range(count):
        gram = gram << 16 | new[i + GRAM - 1]
        slot = counted_slot(slots, gram)
        slot.count += 1
        home[i] = slot - slots.items
    gram = _first_of_gram(kept)
    for i in range(kept_count):
        gram = gram << 16 | kept[i + GRAM - 1]
        slot = find_slot(slots, gram)
        if slot.round != slots.round:
            continue
        if slot.there:
            following[slot.last] = i
        else:
            slot.first = i
        slot.there += 1
        slot.last = i
    for i in range(count):
        slot = slots.items + home[i]
        places[i] = -1
        if slot.count == slot.there:  # equally often in both: pair the i-th occurrences
            places[i] = slot.first
            if slot.first != slot.last:
                slot.first = following[slot.first]
    return 0


@cython.cfunc
def _find_tiles(
    new: cython.pointer(cython.const[uint16_t]),
    count: cython.Py_ssize_t,
    kept: cython.pointer(cython.const[uint16_t]),
    kept_count: cython.Py_ssize_t,
    work: cython.pointer(Work),
) -> cython.int:
    """Fill in the tiles, the maximal runs of anchors, in the order of `new`; where two overlap, cut the later one."""
    work.tile_count = 0
    if count < GRAM or kept_count < GRAM:
        return 0
    count -= GRAM - 1
    anchors: bytes = unset(4 * count)
    places: cython.pointer(int32_t) = int32s(anchors)
    end: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t = 0
    _find_anchors(new, count, kept, kept_count - (GRAM - 1), places)
    if count > work.tile_room:
        work.tiles = cython.cast(cython.pointer(Tile), resized(work.tiles, count, cython.sizeof(Tile)))
        work.tile_room = count
    while i < count:
        place: cython.Py_ssize_t = places[i]
        if place < 0:
            i += 1
            continue
        first: cython.Py_ssize_t = i
        while i < count and places[i] == place + i - first:
            i += 1
        overlap: cython.Py_ssize_t = max(0, end - first)
        end = i - 1 + GRAM
        tile: cython.pointer(Tile) = cython.address(work.tiles[work.tile_count])
        tile.begin, tile.kept_begin, tile.length = first + overlap, place + overlap, end - first - overlap
        work.tile_count += 1
    return 0


@cython.cfunc
@cython.exceptval(check=False)
def _stands_in_place(
    tiles: cython.pointer(Tile),
    count: cython.Py_ssize_t,
    i: cython.Py_ssize_t,
    j: cython.Py_ssize_t,
    kept_count: cython.Py_ssize_t,
) -> cython.bint:
    """Whether the kept sequence has tile `j`, and little else, between the tiles before and after `i`."""
    begin: cython.Py_ssize_t = tiles[i - 1].kept_begin + tiles[i - 1].length if i else 0
    end: cython.Py_ssize_t = tiles[i + 1].kept_begin if i + 1 < count else kept_count
    is_between: cython.bint = begin <= tiles[j].kept_begin and tiles[j].kept_begin + tiles[j].length <= end
    return is_between and end - begin <= EXCHANGED


@cython.cfunc
def _drop_exchanged(work: cython.pointer(Work), kept_count: cython.Py_ssize_t) -> cython.int:
    """Drop each two short tiles that stand in each other's place, where the sequences differ; return how many."""
    tiles: cython.pointer(Tile) = work.tiles
    count: cython.Py_ssize_t = work.tile_count
    left: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    gone: bytes = zeros(count)
    dropped: cython.pointer(uint8_t) = uint8s(gone)
    for i in range(count):
        if tiles[i].length > EXCHANGED or _stands_in_place(tiles, count, i, i, kept_count):
            continue
        for j in range(i + 1, min(count, i + REACH)):
            if (
                tiles[j].length <= EXCHANGED
                and _stands_in_place(tiles, count, i, j, kept_count)
                and _stands_in_place(tiles, count, j, i, kept_count)
            ):
                dropped[i] = dropped[j] = 1
    for i in range(count):
        if not dropped[i]:
            tiles[left] = tiles[i]
            left += 1
    work.tile_count = left
    return count - left


def work_at_hand():
    """The working memory that all alignments share, without pieces; the interpreter's lock makes sharing safe."""
    _work.count = 0
    return cython.address(_work)


@cython.cfunc
def _add(
    work: cython.pointer(Work),
    begin: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    kept_begin: cython.Py_ssize_t,
    kept_end: cython.Py_ssize_t,
) -> cython.int:
    if work.count == work.room:
        room: cython.Py_ssize_t = 2 * work.room + 64
        work.pieces = cython.cast(cython.pointer(int32_t), resized(work.pieces, room, 16))
        work.room = room
    piece: cython.pointer(int32_t) = work.pieces + 4 * work.count
    piece[0], piece[1], piece[2], piece[3] = begin, end, kept_begin, kept_end
    work.count += 1
    return 0


@cython.cfunc
@cython.exceptval(check=False)
def _fill_rows(
    here: cython.pointer(cython.const[uint16_t]),
    n: cython.Py_ssize_t,
    kept: cython.pointer(cython.const[uint16_t]),
    places: cython.pointer(int32_t),
    m: cython.Py_ssize_t,
    work: cython.pointer(Work),
) -> cython.Py_ssize_t:
    """Fill the rows of the table of longest common subsequences, as bits (Hyyrö 2004); return the words of a row.

    Bit j of row i is 0 if the first i symbols of `here` have a longer common subsequence with the first j + 1 symbols
    of the kept side than with its first j.
    """
    words: cython.Py_ssize_t = (m + 63) // 64
    different: cython.int = 0
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    word: cython.Py_ssize_t
    for j in range(m):
        value: uint16_t = kept[places[j]]
        if not work.which[value]:
            memset(work.masks + different * words, 0, 8 * words)
            different += 1
            work.which[value] = different
        work.masks[(work.which[value] - 1) * words + j // 64] |= cython.cast(uint64_t, 1) << (j % 64)
    memset(work.rows, 255, 8 * words)
    for i in range(n):
        row: cython.pointer(uint64_t) = work.rows + i * words
        following: cython.pointer(uint64_t) = row + words
        carry: uint64_t = 0
        which: cython.int = work.which[here[i]]
        for word in range(words):
            hits: uint64_t = row[word] & work.masks[(which - 1) * words + word] if which else 0
            total: uint64_t = row[word] + hits
            everything: uint64_t = total + carry
            carry = (total < hits) | (everything < carry)
            following[word] = everything | (row[word] & ~hits)
    for j in range(m):
        work.which[kept[places[j]]] = 0
    return words


@cython.cfunc
@cython.exceptval(check=False)
def _is_set(row: cython.pointer(uint64_t), bit: cython.Py_ssize_t) -> cython.bint:
    return row[bit // 64] >> (bit % 64) & 1


@cython.cfunc
def _align_gap(
    new: cython.pointer(cython.const[uint16_t]),
    begin: cython.Py_ssize_t,
    n: cython.Py_ssize_t,
    kept: cython.pointer(cython.const[uint16_t]),
    places: cython.pointer(int32_t),
    m: cython.Py_ssize_t,
    after: cython.Py_ssize_t,
    in_kept: cython.pointer(uint8_t),
    in_new: cython.pointer(uint8_t),
    work: cython.pointer(Work),
) -> cython.int:
    """Add the pieces of a gap and flag its common symbols; `after` is where the kept side ends."""
    words: cython.Py_ssize_t = _fill_rows(new + begin, n, kept, places, m, work)
    first: cython.Py_ssize_t = work.count
    i: cython.Py_ssize_t = n
    j: cython.Py_ssize_t = m
    end: cython.Py_ssize_t = n
    other_end: cython.Py_ssize_t = m
    while True:
        common: cython.bint = False
        if i and j:
            if _is_set(work.rows + i * words, j - 1):
                j -= 1
                continue
            if not _is_set(work.rows + (i - 1) * words, j - 1):
                i -= 1
                continue
            common = True
        else:
            i = j = 0
        if i < end or j < other_end:
            begins: cython.Py_ssize_t = places[j] if j < m else after
            _add(work, begin + i, begin + end, begins, places[other_end - 1] + 1 if j < other_end else begins)
        if not common:
            break
        i -= 1
        j -= 1
        end, other_end = i, j
        in_kept[begin + i] = 1
        in_new[places[j]] = 1
    last: cython.Py_ssize_t = work.count - 1
    swapped: int32_t[4]
    while first < last:  # the pieces were added last to first
        memcpy(swapped, work.pieces + 4 * first, 16)
        memcpy(work.pieces + 4 * first, work.pieces + 4 * last, 16)
        memcpy(work.pieces + 4 * last, swapped, 16)
        first += 1
        last -= 1
    return 0


def aligned(new, count, kept, kept_count, in_kept, in_new, work):
    """Fill the flags, which are all zeros, and the pieces; return the number of moves, as `align` counts them."""
    if count > _longest or kept_count > _longest:
        raise ValueError(f"a sequence has {max(count, kept_count)} symbols, more than {LONGEST}")
    _find_tiles(new, count, kept, kept_count, work)
    moves: cython.Py_ssize_t = _drop_exchanged(work, kept_count)
    tiles: cython.pointer(Tile) = work.tiles
    tile_count: cython.Py_ssize_t = work.tile_count
    flags: bytes = unset(kept_count)
    covered: cython.pointer(uint8_t) = uint8s(flags)
    opposite: bytes = unset(4 * kept_count)
    places: cython.pointer(int32_t) = int32s(opposite)
    at: cython.Py_ssize_t = 0
    kept_at: cython.Py_ssize_t = 0
    effort: cython.Py_ssize_t = EFFORT * kept_count
    i: cython.Py_ssize_t
    place: cython.Py_ssize_t
    tile: Tile
    for i in range(tile_count):
        memset(in_kept + tiles[i].begin, 1, tiles[i].length)
        memset(in_new + tiles[i].kept_begin, 1, tiles[i].length)
    memcpy(covered, in_new, kept_count)
    for i in range(tile_count + 1):
        if i < tile_count:
            tile = tiles[i]
        else:
            tile.begin, tile.kept_begin, tile.length = count, kept_count, 0
        n: cython.Py_ssize_t = tile.begin - at
        m: cython.Py_ssize_t = 0
        if tile.kept_begin >= kept_at:
            for place in range(kept_at, tile.kept_begin):
                if not covered[place]:
                    places[m] = place
                    m += 1
            effort -= tile.kept_begin - kept_at
        else:
            moves += 1
        after: cython.Py_ssize_t = tile.kept_begin if tile.kept_begin > kept_at else kept_at
        if n and m and n <= GAP_LIMIT and m <= GAP_LIMIT and effort >= 0:
            _align_gap(new, at, n, kept, places, m, after, in_kept, in_new, work)
        elif n or m:
            begins: cython.Py_ssize_t = places[0] if m else after
            _add(work, at, tile.begin, begins, places[m - 1] + 1 if m else begins)
        at = tile.begin + tile.length
        kept_at = tile.kept_begin + tile.length
    return moves


@cython.cfunc
def _sequence(symbols: bytes) -> cython.pointer(cython.const[uint16_t]):
    if len(symbols) > 2 * _longest:
        raise ValueError(f"a sequence has {len(symbols) // 2} symbols, more than {LONGEST}")
    return uint16s(symbols)


def align(new: bytes, kept: bytes) -> tuple:
    """Align two sequences, two bytes a symbol, neither longer than `LONGEST`.

    Returns:
        Four values: a byte for each symbol of the new sequence, 1 if it is aligned with one of the kept sequence; the
        same for the kept sequence; the pieces that differ, in the order of the new sequence, each as four int32 (begin
        and end in the new sequence, begin and end in the kept one; aligned symbols between these do not belong to the
        piece); and the number of moves, which are tiles that begin in the kept sequence before the previous one ends,
        or short pieces in each other's place.
    """
    count: cython.Py_ssize_t = len(new) // 2
    kept_count: cython.Py_ssize_t = len(kept) // 2
    in_kept: bytes = zeros(count)
    in_new: bytes = zeros(kept_count)
    work: cython.pointer(Work) = work_at_hand()
    moves: cython.Py_ssize_t = aligned(
        _sequence(new),
        count,
        _sequence(kept),
        kept_count,
        uint8s(in_kept),
        uint8s(in_new),
        work,
    )
    pieces = cython.cast(cython.p_char, work.pieces)[: 16 * work.count] if work.count else b""
    return in_kept, in_new, pieces, moves


def tiles(new: bytes, kept: bytes) -> list:
    """The tiles in the order of the new sequence: for each its begin there, its begin in the kept one, its length."""
    i: cython.Py_ssize_t
    work: cython.pointer(Work) = work_at_hand()
    _find_tiles(_sequence(new), len(new) // 2, _sequence(kept), len(kept) // 2, work)
    made: cython.pointer(Tile) = work.tiles
    return [(made[i].begin, made[i].kept_begin, made[i].length) for i in range(work.tile_count)]
