# cython: language_level=3
"""Signatures of a text: SimHash fingerprints and sampled shingles."""

import os

import cython
from cython.cimports.cpython import array
from cython.cimports.dedupcrawl.core.hashing import fmix64
from cython.cimports.libc.stdlib import calloc, free, malloc, qsort
from cython.cimports.libc.string import memcpy, memset

LONG_WORD = 4
"""Letters of a word that is a SimHash feature by itself."""
TERM_FREQUENCY_CAP = 8
"""How often one pair of symbols, or one word, counts as a SimHash feature."""

_LONG_WORD = cython.declare(uint32_t, LONG_WORD)
_CAP = cython.declare(cython.int, TERM_FREQUENCY_CAP)
_FACTOR = cython.declare(uint64_t, 0xD1342543DE82EF95)
_KEYS = cython.declare(array.array, array.array("Q"))
# Chosen anew in each process: where a value stands in a hash table cannot be foreseen by who makes pages.
_table_seed = cython.declare(uint64_t, int.from_bytes(os.urandom(8), "little"))


@cython.cfunc
@cython.exceptval(check=False)
def _add_at(counters: cython.pointer(Counters), place: cython.int, carry: uint64_t) -> cython.void:
    """Add 2 to the power of a place to the counter of each bit that is set."""
    while carry:
        plane: uint64_t = counters.planes[place]
        counters.planes[place] = plane ^ carry
        carry &= plane
        place += 1


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _sum(plane: cython.pointer(uint64_t), one: uint64_t, other: uint64_t) -> uint64_t:
    """Add two words to a plane; what is carried to the next one (Harley and Seal)."""
    half: uint64_t = plane[0] ^ one
    carry: uint64_t = (plane[0] & one) | (half & other)
    plane[0] = half ^ other
    return carry


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _add(counters: cython.pointer(Counters), feature: uint64_t) -> cython.void:
    """Add 1 to the counter of each bit that is set, once four features are together."""
    counters.waiting[counters.count & 3] = feature
    counters.count += 1
    if counters.count & 3:
        return
    planes: cython.pointer(uint64_t) = counters.planes
    waiting: cython.pointer(uint64_t) = counters.waiting
    one: uint64_t = _sum(planes, waiting[0], waiting[1])
    other: uint64_t = _sum(planes, waiting[2], waiting[3])
    _add_at(counters, 2, _sum(planes + 1, one, other))


@cython.cfunc
@cython.exceptval(check=False)
def _more_than(counters: cython.pointer(Counters), most: uint64_t) -> uint64_t:
    """The bits whose counters hold more, compared from their highest places on."""
    more: uint64_t = 0
    equal: uint64_t = ~more
    place: cython.int
    for place in range(31, -1, -1):
        plane: uint64_t = counters.planes[place]
        if most >> place & 1:
            equal &= plane
        else:
            more |= equal & plane
            equal &= ~plane
    return more


@cython.cfunc
@cython.exceptval(check=False)
def _counts(
    values: cython.pointer(uint64_t), seen: cython.pointer(uint8_t), mask: cython.size_t, value: uint64_t
) -> cython.bint:
    """Whether one more of this value counts."""
    place: cython.size_t = fmix64(value ^ _table_seed) & mask
    while seen[place] and values[place] != value:
        place = (place + 1) & mask
    values[place] = value
    if seen[place] == _CAP:
        return False
    seen[place] += 1
    return True


def simhash(text: SymbolText, pairs: bool) -> tuple:
    """The SimHash of a text and how many features it has (Charikar 2002; Manku, Jain, Das Sarma 2007).

    Args:
        text: The text, without URLs.
        pairs: Features are pairs of neighbouring symbols, and words of more than three letters, each counted at most
            `TERM_FREQUENCY_CAP` times. False: these words alone, as often as they occur.
    """
    size: cython.size_t = 16
    feature: uint64_t
    counters: Counters
    most: cython.size_t = text.count
    i: cython.int
    for i in range(text.count):
        most += text.items[i].length >= _LONG_WORD
    while pairs and size < 2 * most:
        size *= 2
    values: cython.pointer(uint64_t) = cython.cast(cython.pointer(uint64_t), malloc(8 * size))
    seen: cython.pointer(uint8_t) = cython.cast(cython.pointer(uint8_t), calloc(size, 1))
    if values is cython.NULL or seen is cython.NULL:
        free(values)
        free(seen)
        raise MemoryError
    memset(cython.address(counters), 0, cython.sizeof(Counters))
    is_pairs: cython.bint = pairs
    for i in range(text.count):
        if is_pairs and i + 1 < text.count:
            feature = fmix64(3 * text.items[i].hash + text.items[i + 1].hash)
            if _counts(values, seen, size - 1, feature):
                _add(cython.address(counters), feature)
        if text.items[i].length >= _LONG_WORD:
            feature = fmix64(text.items[i].hash)
            if not is_pairs or _counts(values, seen, size - 1, feature):
                _add(cython.address(counters), feature)
    for i in range(counters.count & 3):
        _add_at(cython.address(counters), 0, counters.waiting[i])
    free(values)
    free(seen)
    return _more_than(cython.address(counters), counters.count // 2), counters.count


@cython.cfunc
@cython.exceptval(check=False)
@cython.nogil
def _ascending(one: cython.p_const_void, other: cython.p_const_void) -> cython.int:
    a: uint32_t = cython.cast(cython.pointer(uint32_t), one)[0]
    b: uint32_t = cython.cast(cython.pointer(uint32_t), other)[0]
    return (a > b) - (a < b)


def sampled_shingles(text: SymbolText, most: int, levels: int, fewest: int) -> tuple:
    """The level of a text's sample and its different sampled shingles, ascending, 4 bytes each.

    At level i those hashes of four neighbouring symbols are in the sample of which the lower 32 bits are 0 modulo 2^i;
    the level is the highest, up to `levels`, at which there are `fewest`. Only the first `most` symbols count.
    """
    count: cython.Py_ssize_t = max(0, min(most, text.count) - SHINGLE + 1)
    kept: cython.Py_ssize_t = 0
    different: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    level: cython.int = levels
    values: cython.pointer(uint32_t) = cython.cast(cython.pointer(uint32_t), malloc(4 * count + 4))
    sample: cython.pointer(uint32_t) = cython.cast(cython.pointer(uint32_t), malloc(4 * count + 4))
    if values is cython.NULL or sample is cython.NULL:
        free(values)
        free(sample)
        raise MemoryError
    for i in range(count):
        one: uint64_t = text.items[i].hash * _FACTOR + text.items[i + 1].hash
        other: uint64_t = text.items[i + 2].hash * _FACTOR + text.items[i + 3].hash
        values[i] = cython.cast(uint32_t, fmix64(one * (_FACTOR * _FACTOR) + other))
    while True:
        below: uint32_t = (cython.cast(uint32_t, 1) << level) - 1
        kept = different = 0
        for i in range(count):
            if not values[i] & below:
                sample[kept] = values[i]
                kept += 1
        if kept >= fewest or not level:
            qsort(sample, kept, 4, _ascending)
            for i in range(kept):
                if not different or sample[different - 1] != sample[i]:
                    sample[different] = sample[i]
                    different += 1
            if different >= fewest or not level:
                break
        level -= 1
    try:
        return level, cython.cast(cython.p_char, sample)[: 4 * different]
    finally:
        free(values)
        free(sample)


def shingle_keys(signature: bytes) -> object:
    """What a sample is posted under, as an array of type "Q": each shingle, and below it their number and the level.

    A sample is a byte with its level, and the shingles.
    """
    i: cython.Py_ssize_t
    value: uint32_t = 0
    count: cython.Py_ssize_t = max(0, len(signature) - 1) // 4
    data: cython.p_const_char = signature
    made: array.array = array.clone(_KEYS, count, False)
    view: uint64_t[::1] = made
    for i in range(count):
        memcpy(cython.address(value), data + 1 + 4 * i, 4)
        view[i] = cython.cast(uint64_t, value) << 32 | cython.cast(uint64_t, count) << 3 | cython.cast(uint8_t, data[0])
    return made


def shared_shingles(new: bytes, kept: bytes) -> tuple:
    """How many shingles one sample has at the larger level of both, and how many of them the other has.

    A sample is a byte with its level, and the shingles.
    """
    mine: cython.Py_ssize_t = 0
    shared: cython.Py_ssize_t = 0
    if not new or not kept:
        return mine, shared
    here: cython.pointer(cython.const[uint8_t]) = cython.cast(
        cython.pointer(cython.const[uint8_t]), cython.cast(cython.p_const_char, new)
    )
    there: cython.pointer(cython.const[uint8_t]) = cython.cast(
        cython.pointer(cython.const[uint8_t]), cython.cast(cython.p_const_char, kept)
    )
    below: uint32_t = (cython.cast(uint32_t, 1) << (max(here[0], there[0]) & 31)) - 1
    count: cython.Py_ssize_t = (len(new) - 1) // 4
    kept_count: cython.Py_ssize_t = (len(kept) - 1) // 4
    place: cython.Py_ssize_t = 0
    value: uint32_t = 0
    other: uint32_t = 0
    i: cython.Py_ssize_t
    for i in range(count):
        memcpy(cython.address(value), here + 1 + 4 * i, 4)  # neither is aligned
        if value & below:
            continue
        mine += 1
        while place < kept_count:
            memcpy(cython.address(other), there + 1 + 4 * place, 4)
            if other >= value:
                break
            place += 1
        shared += place < kept_count and other == value
    return mine, shared
