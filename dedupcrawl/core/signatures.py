# cython: language_level=3
"""Signatures of a text: SimHash fingerprints and sampled shingles, the search for pages by them, and all of a page."""

import os

import cython
from cython.cimports.cpython import array
from cython.cimports.dedupcrawl.core.arrays import (
    int64s,
    keys_in,
    sort,
    sort_once,
    uint8s,
    uint32s,
    uint64s,
    unset,
)
from cython.cimports.dedupcrawl.core.hashing import fmix64
from cython.cimports.dedupcrawl.core.postings import Found, Postings, new_keys
from cython.cimports.dedupcrawl.core.slots import Slot, Slots, begin_round, counted_slot
from cython.cimports.libc.math import ceil
from cython.cimports.libc.string import memcpy, memset

LONG_WORD = 4
"""A word with at least this many letters is a SimHash feature by itself."""
TERM_FREQUENCY_CAP = 8
"""How often one pair of symbols, or one word, counts at most as a SimHash feature."""

_LONG_WORD = cython.declare(uint32_t, LONG_WORD)
_CAP = cython.declare(cython.int, TERM_FREQUENCY_CAP)
_FACTOR = cython.declare(uint64_t, 0xD1342543DE82EF95)  # a multiplier for 64 bits (Steele and Vigna, 2021)
_slots = cython.declare(Slots)  # features and how often they were counted
_slots.odd = int.from_bytes(os.urandom(8), "little") | 1


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _sum(plane: cython.pointer(uint64_t), one: uint64_t, other: uint64_t) -> uint64_t:
    """Add two words to a plane; return the carry for the next plane (Harley and Seal)."""
    half: uint64_t = plane[0] ^ one
    carry: uint64_t = (plane[0] & one) | (half & other)
    plane[0] = half ^ other
    return carry


@cython.cfunc
@cython.exceptval(check=False)
def _majority(features: cython.pointer(uint64_t), count: cython.Py_ssize_t) -> uint64_t:
    """The bits that are set in more than half of the features.

    Bit i of plane p is bit p of the number of features that have bit i.
    """
    planes: uint64_t[32]
    carry: uint64_t
    more: uint64_t = 0
    equal: uint64_t = ~more
    i: cython.Py_ssize_t
    place: cython.int
    memset(planes, 0, cython.sizeof(planes))
    for i in range(0, count - 3, 4):
        one: uint64_t = _sum(planes, features[i], features[i + 1])
        other: uint64_t = _sum(planes, features[i + 2], features[i + 3])
        carry = _sum(planes + 1, one, other)
        place = 2
        while carry:
            carry = _sum(planes + place, carry, 0)
            place += 1
    for i in range(count & ~3, count):
        carry = features[i]
        place = 0
        while carry:
            carry = _sum(planes + place, carry, 0)
            place += 1
    for place in range(31, -1, -1):  # the highest first
        if count // 2 >> place & 1:
            equal &= planes[place]
        else:
            more |= equal & planes[place]
            equal &= ~planes[place]
    return more


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _counts(slots: Slots, value: uint64_t) -> cython.bint:
    """Count a value, unless it has reached the cap; return whether it was counted."""
    slot: cython.pointer(Slot) = counted_slot(slots, value)
    if slot.count == _CAP:
        return False
    slot.count += 1
    return True


def simhash(text: SymbolText, pairs: bool) -> tuple:
    """The SimHash of a text and its number of features (Charikar 2002; Manku, Jain, Das Sarma 2007).

    Args:
        text: The text, without URLs.
        pairs: If True, features are pairs of neighbouring symbols, and words of more than three letters, each counted
            at most `TERM_FREQUENCY_CAP` times. If False, these words alone, as often as they occur.
    """
    is_pairs: cython.bint = pairs
    count: cython.Py_ssize_t = 0
    room: bytes = unset(16 * text.count)
    features: cython.pointer(uint64_t) = uint64s(room)
    i: cython.int
    begin_round(cython.address(_slots), 2 * text.count)
    slots: Slots = _slots
    for i in range(text.count):
        if is_pairs and i + 1 < text.count:
            features[count] = fmix64(3 * text.items[i].hash + text.items[i + 1].hash)
            count += _counts(slots, features[count])
        if text.items[i].length >= _LONG_WORD:
            features[count] = fmix64(text.items[i].hash)
            count += not is_pairs or _counts(slots, features[count])
    return _majority(features, count), count


def simhash_keys(fingerprint: bytes) -> object:
    """The keys under which a fingerprint is posted, as an array of type "Q".

    In each, another block is rotated to the top, below the number of the block, which replaces the last two bits.

    Args:
        fingerprint: 8 bytes, little-endian.
    """
    made: array.array = new_keys(BLOCKS)
    _fill_keys(fingerprint, keys_in(made))
    return made


@cython.cfunc
def _fill_keys(fingerprint: bytes, keys: cython.pointer(uint64_t)) -> cython.int:
    number: cython.int
    value: uint64_t = 0
    if len(fingerprint) != BITS // 8:
        raise ValueError("a fingerprint has 8 bytes")
    memcpy(cython.address(value), uint8s(fingerprint), BITS // 8)
    for number in range(BLOCKS):
        keys[number] = cython.cast(uint64_t, number) << 62 | value >> 2
        value = value << BLOCK_BITS | value >> (BITS - BLOCK_BITS)
    return 0


@cython.cfunc
@cython.exceptval(check=False)
def _fill_prefixes(
    keys: cython.pointer(uint64_t), distance: cython.int, prefixes: cython.pointer(uint64_t)
) -> cython.Py_ssize_t:
    """Fill in the prefixes; return how many there are."""
    number: cython.int
    bit: cython.int
    rows: cython.Py_ssize_t = 0
    wide: cython.bint = distance >= BLOCKS
    last_wide: cython.int = distance % BLOCKS
    for number in range(BLOCKS if wide else last_wide + 1):
        prefixes[rows] = keys[number] >> FINGERPRINT_PAYLOAD
        rows += 1
        for bit in range(BLOCK_BITS if wide and number <= last_wide else 0):
            prefixes[rows] = keys[number] >> FINGERPRINT_PAYLOAD ^ cython.cast(uint64_t, 1) << bit
            rows += 1
    return rows


def near(postings: Postings, fingerprint: bytes, distance: cython.int) -> list:
    """Pages whose fingerprints are within `distance`, at most 7, not counting the two bits that a posting lacks."""
    i: cython.Py_ssize_t
    own: uint64_t[BLOCKS]
    prefixes: uint64_t[MOST_PREFIXES]
    _fill_keys(fingerprint, own)
    rows: cython.Py_ssize_t = _fill_prefixes(own, distance, prefixes)
    room: bytes = postings.gather(prefixes, rows, postings.bounds(prefixes, rows))
    hits: cython.pointer(Found) = cython.cast(cython.pointer(Found), uint8s(room))
    return [
        hits[i].page
        for i in range(len(room) // cython.cast(cython.Py_ssize_t, cython.sizeof(Found)))
        if popcount(hits[i].key ^ own[hits[i].key >> 62]) <= distance
    ]


def sampled_shingles(text: SymbolText, most: int, levels: int, fewest: int) -> tuple:
    """The level of a text's sample, and its different sampled shingles, ascending, 4 bytes each.

    A shingle is the lower 32 bits of a hash of four neighbouring symbols. At level i, the sample has the shingles that
    are 0 modulo 2^i. The level is the highest, up to `levels`, at which there are at least `fewest`. Only the first
    `most` symbols count.
    """
    count: cython.Py_ssize_t = max(0, min(most, text.count) - SHINGLE + 1)
    kept: cython.Py_ssize_t = 0
    different: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    level: cython.int = levels
    hashes: bytes = unset(4 * count)
    values: cython.pointer(uint32_t) = uint32s(hashes)
    room: bytes = unset(8 * count)
    sample: cython.pointer(uint64_t) = uint64s(room)
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
            different = sort_once(sample, kept)
            if different >= fewest or not level:
                break
        level -= 1
    for i in range(different):
        values[i] = sample[i]
    return level, hashes[: 4 * different]


def shingle_keys(signature: bytes) -> object:
    """The keys under which a sample is posted, as an array of type "Q": a shingle above their number and the level.

    The signature is a byte with the level of the sample, and its shingles.
    """
    i: cython.Py_ssize_t
    value: uint32_t = 0
    count: cython.Py_ssize_t = max(0, len(signature) - 1) // 4
    data: cython.p_const_char = signature
    made: array.array = new_keys(count)
    keys: cython.pointer(uint64_t) = keys_in(made)
    for i in range(count):
        memcpy(cython.address(value), data + 1 + 4 * i, 4)
        keys[i] = cython.cast(uint64_t, value) << 32 | cython.cast(uint64_t, count) << 3 | cython.cast(uint8_t, data[0])
    return made


def shared_shingles(new: bytes, kept: bytes) -> tuple:
    """How many shingles `new` has at the larger of both levels, and how many of these `kept` has.

    A signature is a byte with the level of the sample, and its shingles.
    """
    mine: cython.Py_ssize_t = 0
    shared: cython.Py_ssize_t = 0
    if not new or not kept:
        return mine, shared
    here: cython.pointer(uint8_t) = uint8s(new)
    there: cython.pointer(uint8_t) = uint8s(kept)
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


@cython.cfunc
@cython.exceptval(check=False)
def _least(count: cython.Py_ssize_t, share: cython.double) -> cython.Py_ssize_t:
    """⌈αn⌉, at least one."""
    return max(1, cython.cast(cython.Py_ssize_t, ceil(count * share - 1e-9)))


@cython.cfunc
@cython.exceptval(check=False)
def _within(sample: cython.pointer(Sampled), count: cython.Py_ssize_t, most: int64_t) -> cython.Py_ssize_t:
    """How many of the first shingles can be looked up by reading at most `most` postings."""
    i: cython.Py_ssize_t
    for i in range(count):
        most -= sample[i].count
        if most < 0:
            return i
    return count


class ShingleSearch:
    """Finds the pages that share enough of the sampled shingles of one page.

    Args:
        postings: Postings under shingles (32 bits), with the page's number of shingles and, in the lower three bits,
            its level.
        signature: The page's level (a byte), and its sampled shingles, four bytes each, ascending.
        levels: The highest level.
        share: The share of a sample that must be shared.
    """

    def __cinit__(self, postings: Postings, signature: bytes, levels: cython.int, share: cython.double):
        i: cython.Py_ssize_t
        value: uint32_t = 0
        raw: cython.p_const_char = signature
        self.postings, self.levels, self.share = postings, min(levels, MOST_LEVELS), share
        self.level = cython.cast(uint8_t, raw[0])
        self.count = (len(signature) - 1) // 4
        self.room = unset(cython.sizeof(Sampled) * self.count), unset(8 * self.count)
        self.sample = cython.cast(cython.pointer(Sampled), uint8s(self.room[0]))
        self.prefixes = uint64s(self.room[1])
        for i in range(self.count):
            memcpy(cython.address(value), raw + 1 + 4 * i, 4)
            self.prefixes[i] = value
        counts: bytes = postings.counts(self.prefixes, self.count, postings.bounds(self.prefixes, self.count))
        for i in range(self.count):  # the rarest first
            self.prefixes[i] |= cython.cast(uint64_t, int64s(counts)[i]) << 32
        sort(self.prefixes, self.count)
        for i in range(self.count):
            self.sample[i].count = self.prefixes[i] >> 32
            self.sample[i].value = cython.cast(uint32_t, self.prefixes[i])

    def candidates(self, cheap: int, most_postings: int, most_pages: int) -> list:
        """Pages that may have the share of the page's sample, at the larger of both moduli.

        Args:
            cheap: So many postings are read even if the prefix filter does not need them.
            most_postings: The most postings to read.
            most_pages: The most pages to return: those that share most, the older of equals.
        """
        i: cython.Py_ssize_t
        at: cython.int
        needed: cython.Py_ssize_t[LEVEL_SLOTS]
        if not self.count or not self.sample[self.count - 1].count:
            return []
        own: cython.Py_ssize_t = _least(self.count, self.share)
        exact: cython.Py_ssize_t = self.count - own + 1
        for at in range(self.level + 1, self.levels + 1):
            exact = max(exact, self.reach(at))
        read: cython.Py_ssize_t = max(exact, _within(self.sample, self.count, cheap))
        read = min(read, _within(self.sample, self.count, most_postings))
        # By the level of a kept page: how many of the shingles that were read it must have. If the sample has none at a
        # level, no page of that level is found.
        for at in range(LEVEL_SLOTS):
            needed[at] = own - self.count + read
        for at in range(self.level + 1, self.levels + 1):
            count: cython.Py_ssize_t = 0
            before: cython.Py_ssize_t = 0
            for i in range(self.count):
                if not self.sample[i].value & ((cython.cast(uint32_t, 1) << at) - 1):
                    count += 1
                    before += i < read
            needed[at] = _least(count, self.share) - count + before
        return self.found(read, needed, False, most_pages)

    def contained(self, most_postings: int, most_pages: int) -> list:
        """Kept pages of whose samples this page may have the share; of lower levels, all that share a shingle."""
        if not self.count or not self.sample[self.count - 1].count:
            return []
        return self.found(_within(self.sample, self.count, most_postings), cython.NULL, True, most_pages)

    def reach(self, at):
        """How many of the rarest shingles must be looked up to find all pages of a level."""
        i: cython.Py_ssize_t
        count: cython.Py_ssize_t = 0
        below: uint32_t = (cython.cast(uint32_t, 1) << at) - 1
        for i in range(self.count):
            count += not self.sample[i].value & below
        skipped: cython.Py_ssize_t = _least(count, self.share) if count else self.count + 1
        for i in range(self.count - 1, -1, -1):
            skipped -= not self.sample[i].value & below
            if not skipped:
                return i + 1
        return 0

    def found(self, read, needed, is_inside, most_pages):
        """Pages that share enough of the `read` rarest shingles, ascending; if too many do, those that share most."""
        i: cython.Py_ssize_t
        rows: cython.Py_ssize_t = 0
        different: cython.Py_ssize_t = 0
        for i in range(read):
            if self.sample[i].count:
                self.prefixes[rows] = self.sample[i].value
                rows += 1
        bounds: bytes = self.postings.bounds(self.prefixes, rows)
        room: bytes = self.postings.gather(self.prefixes, rows, bounds)
        hits: cython.pointer(Found) = cython.cast(cython.pointer(Found), uint8s(room))
        total: cython.Py_ssize_t = len(room) // cython.sizeof(Found)
        ordered: bytes = unset(8 * total)
        order_of: cython.pointer(uint64_t) = uint64s(ordered)  # a page, and the index of one of its postings
        for i in range(total):
            order_of[i] = cython.cast(uint64_t, hits[i].page) << 32 | i
        sort(order_of, total)
        pages: list = []
        shared: list = []
        while different < total:
            i = different + 1
            while i < total and order_of[i] >> 32 == order_of[different] >> 32:
                i += 1
            key: uint64_t = hits[order_of[different] & cython.cast(uint32_t, -1)].key
            if self.is_enough(key, i - different, read, needed, is_inside):
                pages.append(order_of[different] >> 32)
                shared.append(i - different)
            different = i
        if len(pages) > most_pages:
            order = sorted(range(len(pages)), key=lambda one: -shared[one])[:most_pages]
            pages = [pages[one] for one in order]
        return pages

    def is_enough(self, key, shared, read, needed, is_inside):
        level: cython.int = key & 7
        if not is_inside:
            return shared >= needed[min(level, MOST_LEVELS)]
        # For whole numbers, reaching the share is reaching its ceiling. The sample of a lower level has shingles that
        # this page's sample cannot have, so it always passes.
        count: cython.double = (key & cython.cast(uint32_t, -1)) >> 3
        return level < self.level or shared + (self.count - read) >= count * self.share - 1e-9


def signed(checks: object, slots: dict, signatures: dict) -> list:
    """Slot, check and signature of each of these checks that has a slot and a signature."""
    made: list = []
    for check in checks:
        name: object = check.name
        if name in signatures and name in slots:
            made.append((slots[name], check, signatures[name]))
    return made


def put_keys(checks: tuple, signatures: tuple, keys: list):
    """Put the keys under which a page is posted where each check has its slot: `checks` are slots and checks."""
    for slot, check in checks:
        signature: object = signatures[slot]
        if signature is not None:
            keys[slot] = check.keys(signature)


def signatures_of(checks: object, page: object, whole: object, own: object, made: dict, names: object) -> dict:
    """Name → signature of each of these checks that does not abstain on a page.

    Args:
        checks: The checks.
        page: The page.
        whole: Its main text.
        own: What the checks sign whose names are not in `names`; None: they abstain.
        made: Name → signature of the whole text, as far as it was made; the others are added.
        names: The names of the checks that sign the whole text; None: all do.
    """
    signatures: dict = {}
    for check in checks:
        name: object = check.name
        signature: object = None
        if names is None or name in names:
            if name not in made:
                made[name] = check.signature(page, whole)
            signature = made[name]
        elif own is not None:
            signature = check.signature(page, own)
        if signature is not None:
            signatures[name] = signature
    return signatures
