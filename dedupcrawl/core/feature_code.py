# cython: language_level=3
"""Feature codes: select the symbols that make a text's code, and the grams by which codes are found."""

import cython
from cython.cimports.cpython import array
from cython.cimports.dedupcrawl.core.arrays import keys_in, sort, sort_once, uint8s, uint32s, uint64s
from cython.cimports.dedupcrawl.core.characters import MARK, kind_of
from cython.cimports.dedupcrawl.core.hashing import fmix64
from cython.cimports.dedupcrawl.core.postings import new_keys
from cython.cimports.dedupcrawl.core.symbols import Block
from cython.cimports.libc.math import ceil
from cython.cimports.libc.string import memcpy

_FACTOR = cython.declare(uint64_t, 0xD1342543DE82EF95)  # a multiplier for 64 bits (Steele and Vigna, 2021)
_PLACES = cython.declare(array.array, array.array("q"))


def code_positions(
    text: SymbolText,
    anchors: cython.const[uint64_t][::1],
    unit_length: cython.Py_ssize_t,
    unit_share: cython.double,
    most: cython.Py_ssize_t,
    least: cython.Py_ssize_t,
) -> object:
    """Algorithm 2: the positions of the symbols that make the code, in text order, as an array of type "q".

    Args:
        text: The text.
        anchors: Hashes of the words that are anchors besides punctuation.
        unit_length: A paragraph of at least this many symbols is a unit of extraction.
        unit_share: So is a paragraph with at least this share of the text's symbols.
        most: Only this many symbols of the text are read, its first ones; 0 for all.
        least: If the code has fewer symbols, it is replaced by this many first symbols of the text.
    """
    count: cython.Py_ssize_t = min(most, text.count) if most else text.count
    end: cython.Py_ssize_t = text.items[count].start if count < text.count else text.size
    i: cython.Py_ssize_t
    rooms: tuple[bytes, bytes, bytes] = bytes(4 * count + 4), bytes(4 * count + 8), bytes(count + 1)
    paragraph: cython.pointer(uint32_t) = uint32s(rooms[0])
    first_of: cython.pointer(uint32_t) = uint32s(rooms[1])
    is_beside: cython.pointer(uint8_t) = uint8s(rooms[2])
    groups: cython.Py_ssize_t = _paragraphs(text, count, paragraph, first_of)
    units: cython.Py_ssize_t = 0
    for i in range(groups):
        units += _is_unit(first_of[i + 1] - first_of[i], count, unit_length, unit_share)
    if not units and groups >= 2 * END_PARAGRAPHS:  # case 3b
        ends = array.clone(_PLACES, 4 * END_PARAGRAPHS, False)
        ends_view: int64_t[::1] = ends
        for i in range(2 * END_PARAGRAPHS):
            group: cython.Py_ssize_t = i if i < END_PARAGRAPHS else groups - 2 * END_PARAGRAPHS + i
            ends_view[2 * i], ends_view[2 * i + 1] = first_of[group], first_of[group + 1] - 1
        return ends
    is_whole: cython.bint = not units  # case 3c: all paragraphs as one
    if is_whole:
        for i in range(count):
            paragraph[i] = 0
        first_of[0], first_of[1], groups = 0, count, min(count, 1)
    for i in range(groups):
        block: cython.pointer(Block) = text.blocks + i
        begins: cython.Py_ssize_t = 0 if is_whole else block.begin
        ends_at: cython.Py_ssize_t = end if is_whole else min(end, block.end)
        _mark_neighbours(text, begins, ends_at, first_of[i], first_of[i + 1], is_beside)
    word: cython.Py_ssize_t
    for word in range(count if anchors.shape[0] else 0):
        if _is_anchor(anchors, text.items[word].hash):
            if word and paragraph[word - 1] == paragraph[word]:
                is_beside[word - 1] = True
            if word + 1 < count and paragraph[word + 1] == paragraph[word]:
                is_beside[word + 1] = True
    written: cython.Py_ssize_t = 0
    for i in range(groups):
        is_unit: cython.bint = is_whole or _is_unit(first_of[i + 1] - first_of[i], count, unit_length, unit_share)
        if is_unit:
            is_beside[first_of[i]] = True
        for word in range(first_of[i], first_of[i + 1]):
            is_beside[word] &= is_unit and not _is_anchor(anchors, text.items[word].hash)
            written += is_beside[word]
    if written < least:
        for i in range(count):
            is_beside[i] = i < least
        written = min(least, count)
    made = array.clone(_PLACES, written, False)
    view: int64_t[::1] = made
    written = 0
    for i in range(count):
        if is_beside[i]:
            view[written] = i
            written += 1
    return made


@cython.cfunc
@cython.exceptval(check=False)
def _paragraphs(
    text: SymbolText,
    count: cython.Py_ssize_t,
    paragraph: cython.pointer(uint32_t),
    first_of: cython.pointer(uint32_t),
) -> cython.Py_ssize_t:
    """Fill in the paragraph of each symbol and the first symbol of each paragraph; return how many there are."""
    i: cython.Py_ssize_t
    groups: cython.Py_ssize_t = 0
    while groups < text.block_count and text.blocks[groups].first < count:
        block: cython.pointer(Block) = text.blocks + groups
        first_of[groups] = block.first
        for i in range(block.first, min(count, block.first + block.count)):
            paragraph[i] = groups
        groups += 1
    first_of[groups] = count
    return groups


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _is_unit(
    length: cython.Py_ssize_t, count: cython.Py_ssize_t, unit_length: cython.Py_ssize_t, unit_share: cython.double
) -> cython.bint:
    return length >= unit_length or length >= unit_share * count


@cython.cfunc
@cython.exceptval(check=False)
def _mark_neighbours(
    text: SymbolText,
    begin: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    first: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
    is_beside: cython.pointer(uint8_t),
) -> cython.void:
    """Flag the symbols of a paragraph, `first` … `last` − 1, that stand beside its punctuation."""
    at: cython.Py_ssize_t
    right: cython.Py_ssize_t = first
    for at in range(begin, end):
        if not kind_of(text.folded[at]) & MARK:
            continue
        while right < last and text.items[right].start < at:
            right += 1
        if right > first:
            is_beside[right - 1] = True
        if right < last:
            is_beside[right] = True


@cython.cfunc
@cython.exceptval(check=False)
def _is_anchor(anchors: cython.const[uint64_t][::1], hashed: uint64_t) -> cython.bint:
    i: cython.Py_ssize_t
    for i in range(anchors.shape[0]):
        if anchors[i] == hashed:
            return True
    return False


def code_of(text: SymbolText, positions: cython.const[int64_t][::1]) -> bytes:
    """The upper 15 bits of the hashes of the symbols at these positions, two bytes each, little-endian."""
    i: cython.Py_ssize_t
    made: bytes = bytes(2 * positions.shape[0])
    out: cython.p_char = made
    for i in range(positions.shape[0]):
        if not 0 <= positions[i] < text.count:
            raise IndexError("no such symbol")
        value: uint16_t = cython.cast(uint16_t, text.items[positions[i]].hash >> 49)
        memcpy(out + 2 * i, cython.address(value), 2)
    return made


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _gram_at(code: cython.p_const_char, place: cython.Py_ssize_t) -> uint64_t:
    """The key prefix of the gram that begins at `place`."""
    i: cython.Py_ssize_t
    total: uint64_t = 0
    value: uint16_t = 0
    for i in range(GRAM):
        memcpy(cython.address(value), code + 2 * (place + i), 2)
        total = total * _FACTOR + value
    return fmix64(total) >> GRAM_PAYLOAD


def grams(code: bytes) -> object:
    """The key prefixes of all n − GRAM + 1 grams of a code of n symbols, as an array of type "Q"."""
    i: cython.Py_ssize_t
    count: cython.Py_ssize_t = max(0, len(code) // 2 - GRAM + 1)
    data: cython.p_const_char = code
    made: array.array = new_keys(count)
    keys: cython.pointer(uint64_t) = keys_in(made)
    for i in range(count):
        keys[i] = _gram_at(data, i)
    return made


def different_grams(code: bytes) -> object:
    """The key prefixes of all grams of a code, each once, ascending, as an array of type "Q"."""
    return _different(grams(code))[0]


@cython.cfunc
def _different(numbers: array.array) -> tuple:
    """The different numbers, ascending, and how many numbers there were; `numbers` is overwritten."""
    count: cython.Py_ssize_t = len(numbers)
    return numbers[: sort_once(keys_in(numbers), count)], count


def keys_of_code(code: bytes) -> object:
    """The keys under which a kept code is posted, as an array of type "Q": one for each different sampled gram.

    Every `SAMPLING`-th gram is sampled. The payload of each key is the number of sampled grams, or `MANY_GRAMS` if
    there are more or if one occurs twice.
    """
    i: cython.Py_ssize_t
    sampled: array.array = grams(code)[::SAMPLING]
    made: array.array
    made, count = _different(sampled)
    payload: uint64_t = min(count, MANY_GRAMS) if len(made) == count else MANY_GRAMS
    keys: cython.pointer(uint64_t) = keys_in(made)
    for i in range(len(made)):
        keys[i] = keys[i] << GRAM_PAYLOAD | payload
    return made


def with_grams(keys: cython.const[uint64_t][::1], pages: cython.const[uint32_t][::1], least: cython.int) -> list:
    """The pages, among those of these postings, whose codes have at least `least` sampled grams."""
    i: cython.Py_ssize_t
    if keys.shape[0] != pages.shape[0]:
        raise ValueError("each key has its page")
    return [pages[i] for i in range(keys.shape[0]) if keys[i] & MANY_GRAMS >= cython.cast(uint64_t, max(least, 0))]


@cython.cfunc
@cython.exceptval(check=False)
def _fewest(payload: cython.Py_ssize_t, repeatability: cython.double) -> cython.Py_ssize_t:
    """The fewest sampled grams that a code shares with one inside which it lies; 1 if its length is unknown."""
    if payload >= MANY_GRAMS:
        return 1
    length: cython.Py_ssize_t = (payload - 1) * SAMPLING + GRAM  # a lower bound
    run: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, ceil(repeatability * length - 1e-6))
    return max(1, (run - GRAM + 1) // SAMPLING) if run >= GRAM else 1


def pages_inside(
    keys: cython.const[uint64_t][::1], pages: cython.const[uint32_t][::1], repeatability: cython.double
) -> list:
    """The pages whose codes share enough grams with a given code to lie inside it by δ, ascending.

    Args:
        keys: The keys of all postings of the given code's grams, shape (m,).
        pages: The pages of these postings, shape (m,).
        repeatability: δ.
    """
    i: cython.Py_ssize_t
    at: cython.Py_ssize_t = 0
    count: cython.Py_ssize_t = keys.shape[0]
    if pages.shape[0] != count:
        raise ValueError("each key has its page")
    room: bytes = bytes(8 * count)
    shared: cython.pointer(uint64_t) = uint64s(room)
    for i in range(count):  # all keys of a page have the same payload
        shared[i] = cython.cast(uint64_t, pages[i]) << 32 | keys[i] & MANY_GRAMS
    sort(shared, count)
    made: list = []
    while at < count:
        i = at + 1
        while i < count and shared[i] >> 32 == shared[at] >> 32:
            i += 1
        if i - at >= _fewest(shared[at] & MANY_GRAMS, repeatability):
            made.append(shared[at] >> 32)
        at = i
    return made
