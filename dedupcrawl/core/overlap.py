# cython: language_level=3
"""Records of weighted terms, the overlap of two records (MWO), and the search for pages that may overlap enough.

A record holds the weights of a page's terms, as whole numbers that add up to `TOTAL`: the hashes of the terms,
ascending, four bytes each, then their weights, two bytes each, all little-endian.
"""

import os

import cython
from cython.cimports.cpython import array
from cython.cimports.dedupcrawl.core.arrays import int64s, keys_in, resized, uint8s, uint32s, uint64s, unset
from cython.cimports.dedupcrawl.core.hashing import fmix64
from cython.cimports.dedupcrawl.core.postings import Postings, new_keys
from cython.cimports.libc.math import ceil, floor, sqrt
from cython.cimports.libc.stdlib import free, qsort
from cython.cimports.libc.string import memcpy, memset

# Random in each process, so the authors of pages cannot predict the slots of hashes.
_seed = cython.declare(uint64_t, int.from_bytes(os.urandom(8), "little"))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _lightest_first(one: cython.p_const_void, other: cython.p_const_void) -> cython.int:
    """Order terms by weight; of terms with equal weights, the one with the higher hash comes first."""
    mine: cython.pointer(Weighed) = cython.cast(cython.pointer(Weighed), one)
    its: cython.pointer(Weighed) = cython.cast(cython.pointer(Weighed), other)
    if mine.weight != its.weight:
        return 1 if mine.weight > its.weight else -1
    return -1 if mine.hash > its.hash else 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _by_hash(one: cython.p_const_void, other: cython.p_const_void) -> cython.int:
    mine: uint32_t = cython.cast(cython.pointer(Weighed), one).hash
    its: uint32_t = cython.cast(cython.pointer(Weighed), other).hash
    return (mine > its) - (mine < its)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _by_cost(one: cython.p_const_void, other: cython.p_const_void) -> cython.int:
    mine: cython.pointer(Ranked) = cython.cast(cython.pointer(Ranked), one)
    its: cython.pointer(Ranked) = cython.cast(cython.pointer(Ranked), other)
    if mine.cost != its.cost:
        return 1 if mine.cost > its.cost else -1
    return (mine.place > its.place) - (mine.place < its.place)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _sort(items: cython.pointer(Weighed), count: cython.Py_ssize_t, compare: Comparison) -> cython.void:
    """Shell's sort, whose comparisons are inlined; with the gaps of Ciura (2001), extended by the factor 2.25."""
    gaps: cython.Py_ssize_t[14] = [90927, 40412, 17961, 7983, 3548, 1577, 701, 301, 132, 57, 23, 10, 4, 1]
    number: cython.int
    i: cython.Py_ssize_t
    for number in range(14):
        gap: cython.Py_ssize_t = gaps[number]
        for i in range(gap, count):
            item: Weighed = items[i]
            at: cython.Py_ssize_t = i
            while at >= gap and compare(items + at - gap, cython.address(item)) > 0:
                items[at] = items[at - gap]
                at -= gap
            items[at] = item


class Weights:
    """The weights of a page's terms by their hashes; the weights of terms with the same hash are added up."""

    def __cinit__(self):
        self.grow()

    def __dealloc__(self):
        free(self.items)

    def grow(self):
        i: cython.Py_ssize_t
        room: cython.Py_ssize_t = 2 * self.room or 512
        self.items = cython.cast(cython.pointer(Weighed), resized(self.items, room, cython.sizeof(Weighed)))
        self.table = bytes(16 * room)
        self.slots, self.mask, self.room = int64s(self.table), 2 * room - 1, room
        for i in range(self.count):
            place: cython.size_t = fmix64(self.items[i].hash ^ _seed) & self.mask
            while self.slots[place]:
                place = (place + 1) & self.mask
            self.slots[place] = i + 1
        return 0

    def put(self, hash, weight):
        place: cython.size_t = fmix64(hash ^ _seed) & self.mask
        while self.slots[place]:
            item: cython.pointer(Weighed) = cython.address(self.items[self.slots[place] - 1])
            if item.hash == hash:
                item.weight += weight
                return 0
            place = (place + 1) & self.mask
        self.items[self.count].hash, self.items[self.count].weight = hash, weight
        self.count += 1
        self.slots[place] = self.count
        return self.grow() if self.count == self.room else 0

    def __len__(self):
        return self.count

    def add(self, hashes: bytes, unit: int64_t):
        """Add `unit` to the weight of each of these terms, given as hashes of four bytes."""
        i: cython.Py_ssize_t
        hashed: uint32_t = 0
        data: cython.p_const_char = hashes
        for i in range(len(hashes) // 4):
            memcpy(cython.address(hashed), data + 4 * i, 4)
            self.put(hashed, unit)

    def record(self, dropped: cython.double, most: cython.Py_ssize_t) -> bytes:
        """Make a record; nothing may be added after that.

        Args:
            dropped: The dynamic threshold: the lightest terms that make up at most this share of the weight are left
                out.
            most: At most this many terms are kept, the heaviest. Of terms with equal weights those with the lower hash
                are kept, on every page, so that two pages leave out the same ones.
        """
        i: cython.Py_ssize_t
        count: cython.Py_ssize_t = 0
        total: int64_t = 0
        for i in range(self.count):
            if self.items[i].weight > 0:
                self.items[count] = self.items[i]
                total += self.items[count].weight
                count += 1
        self.count = 0
        memset(self.slots, 0, 8 * (self.mask + 1))
        _sort(self.items, count, _lightest_first)
        left: int64_t = cython.cast(int64_t, floor(dropped * cython.cast(cython.double, total)))
        light: cython.Py_ssize_t = 0
        while light < count and self.items[light].weight <= left:
            left -= self.items[light].weight
            light += 1
        light = max(light, count - most)
        return _packed(self.items + light, count - light)


@cython.cfunc
def _packed(items: cython.pointer(Weighed), count: cython.Py_ssize_t) -> bytes:
    """Make the record: round weights to a sum of `TOTAL` by largest remainders; of equal ones, the lower hash gains."""
    i: cython.Py_ssize_t
    kept: cython.Py_ssize_t = 0
    total: int64_t = 0
    given: int64_t = 0
    room: bytes = bytes(count * cython.sizeof(Ranked))
    ranked: cython.pointer(Ranked) = cython.cast(cython.pointer(Ranked), uint8s(room))
    _sort(items, count, _by_hash)
    for i in range(count):
        total += items[i].weight
    for i in range(count):
        raw: int64_t = items[i].weight * TOTAL
        items[i].weight = raw // total
        given += items[i].weight
        ranked[i].cost, ranked[i].place = -cython.cast(cython.double, raw % total), i
    qsort(ranked, count, cython.sizeof(Ranked), _by_cost)
    for i in range(TOTAL - given if count else 0):
        items[ranked[i].place].weight += 1
    for i in range(count):
        if items[i].weight:
            items[kept] = items[i]
            kept += 1
    made: bytes = bytes(TERM_BYTES * kept)
    out: cython.p_char = made
    for i in range(kept):
        share: uint16_t = cython.cast(uint16_t, items[i].weight)
        memcpy(out + 4 * i, cython.address(items[i].hash), 4)
        memcpy(out + 4 * kept + 2 * i, cython.address(share), 2)
    return made


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _hash_at(record: cython.p_const_char, place: cython.Py_ssize_t) -> uint32_t:
    hashed: uint32_t = 0
    memcpy(cython.address(hashed), record + 4 * place, 4)
    return hashed


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _weight_at(record: cython.p_const_char, count: cython.Py_ssize_t, place: cython.Py_ssize_t) -> int64_t:
    share: uint16_t = 0
    memcpy(cython.address(share), record + 4 * count + 2 * place, 2)
    return share


def overlap(new: bytes, kept: bytes) -> object:
    """MWO of two records, times `TOTAL`."""
    shared: int64_t = 0
    i: cython.Py_ssize_t = 0
    j: cython.Py_ssize_t = 0
    count: cython.Py_ssize_t = len(new) // TERM_BYTES
    kept_count: cython.Py_ssize_t = len(kept) // TERM_BYTES
    one: cython.p_const_char = new
    other: cython.p_const_char = kept
    while i < count and j < kept_count:
        mine: uint32_t = _hash_at(one, i)
        its: uint32_t = _hash_at(other, j)
        if mine == its:
            shared += min(_weight_at(one, count, i), _weight_at(other, kept_count, j))
        i += mine <= its
        j += its <= mine
    return shared


def keys_of(record: bytes) -> object:
    """A key for each term, its hash above its weight, as an array of type "Q"."""
    i: cython.Py_ssize_t
    count: cython.Py_ssize_t = len(record) // TERM_BYTES
    data: cython.p_const_char = record
    made: array.array = new_keys(count)
    keys: cython.pointer(uint64_t) = keys_in(made)
    for i in range(count):
        keys[i] = cython.cast(uint64_t, _hash_at(data, i)) << PAYLOAD_BITS | _weight_at(data, count, i)
    return made


@cython.cfunc
@cython.exceptval(check=False)
def _root(weight: int64_t) -> int64_t:
    """The square root of a weight, in units of 1/256: several common terms say more than a single heavy one."""
    return cython.cast(int64_t, sqrt(cython.cast(cython.double, weight)) * 256)


def cheapest_prefix(record: bytes, costs: list, least: int64_t, most_left: int64_t) -> list:
    """Choose terms to look up, so that the others weigh at most `most_left` and the look-ups stay cheap.

    Args:
        record: The record of the new page.
        costs: How many kept pages have each of its terms.
        least: The least weight that a kept page must share. No page can if the terms that any page has weigh less.
        most_left: The most weight of terms that are not looked up; less than `least`.

    Returns:
        Positions in the record, the cheapest for their weight first, including all with a cost of 0; none if no page
        can share enough.
    """
    i: cython.Py_ssize_t
    count: cython.Py_ssize_t = len(record) // TERM_BYTES
    data: cython.p_const_char = record
    if len(costs) != count:
        raise ValueError("each term has its cost")
    has: int64_t = 0
    left: int64_t = TOTAL
    room: bytes = bytes(count * cython.sizeof(Ranked))
    ranked: cython.pointer(Ranked) = cython.cast(cython.pointer(Ranked), uint8s(room))
    needed: cython.Py_ssize_t = 0
    for i in range(count):
        weight: int64_t = _weight_at(data, count, i)
        cost: cython.double = costs[i]
        ranked[i].cost, ranked[i].place = cost / cython.cast(cython.double, max(weight, 1)), i
        has += weight if cost else 0
    if has >= least:
        qsort(ranked, count, cython.sizeof(Ranked), _by_cost)
        while needed < count and (left > most_left or not ranked[needed].cost):
            left -= _weight_at(data, count, ranked[needed].place)
            needed += 1
    return [ranked[i].place for i in range(needed)]


def rarest(record: bytes, costs: list, most: int64_t) -> tuple:
    """Choose terms to look up if a `cheapest_prefix` costs too much: the rarest, with at most `most` postings together.

    Returns:
        Their positions in the record, the rarest first; and the sum of the square roots of the weights of those that
        any page has, see `possible`.
    """
    i: cython.Py_ssize_t
    count: cython.Py_ssize_t = len(record) // TERM_BYTES
    data: cython.p_const_char = record
    if len(costs) != count:
        raise ValueError("each term has its cost")
    alike: int64_t = 0
    places: list = []
    for i in sorted(range(count), key=costs.__getitem__):
        most -= costs[i]
        if most < 0:
            break
        places.append(i)
        if costs[i]:
            alike += _root(_weight_at(data, count, i))
    return places, alike


def overlapping(
    postings: Postings,
    record: bytes,
    least: int64_t,
    most_left: int64_t,
    most_postings: int64_t,
    share_alike: cython.double,
    closest: int64_t,
) -> list:
    """Pages whose `overlap` with a record may reach `least`, ascending.

    Args:
        postings: The postings of kept pages under their terms.
        record: The record of the new page.
        least: The least overlap.
        most_left: The most weight of terms that are not looked up; less than `least`.
        most_postings: If a `cheapest_prefix` has more, the search is bounded: only the `rarest` terms are looked up.
        share_alike: In a bounded search, a page must have this share of the sum of the roots of their weights.
        closest: In a bounded search, only this many pages are returned.
    """
    i: cython.Py_ssize_t
    count: cython.Py_ssize_t = len(record) // TERM_BYTES
    data: cython.p_const_char = record
    room: bytes = unset(8 * count)
    prefixes: cython.pointer(uint64_t) = uint64s(room)
    for i in range(count):
        prefixes[i] = _hash_at(data, i)
    counts: bytes = postings.counts(prefixes, count, postings.bounds(prefixes, count))
    costs: list = [int64s(counts)[i] for i in range(count)]
    places: list = cheapest_prefix(record, costs, least, most_left)
    if not places:
        return []
    least_alike: int64_t = 0
    most: int64_t = 0
    for i in places:
        most += int64s(counts)[i]
    if most > most_postings:
        places, alike = rarest(record, costs, most_postings)
        least_alike, most = cython.cast(int64_t, ceil(share_alike * alike)), closest
    wanted: array.array = new_keys(len(places))
    for i in range(len(places)):
        keys_in(wanted)[i] = _hash_at(data, places[i])
    keys, pages = postings.find(wanted)
    return possible(record, places, keys, pages, least, least_alike, most)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _most_alike_first(one: cython.p_const_void, other: cython.p_const_void) -> cython.int:
    mine: cython.pointer(Seen) = cython.cast(cython.pointer(Seen), one)
    its: cython.pointer(Seen) = cython.cast(cython.pointer(Seen), other)
    if mine.alike != its.alike:
        return -1 if mine.alike > its.alike else 1
    return (mine.page > its.page) - (mine.page < its.page)


def possible(
    record: bytes,
    places: list,
    keys: cython.const[uint64_t][::1],
    pages: cython.const[uint32_t][::1],
    least: int64_t,
    least_alike: int64_t,
    most: cython.Py_ssize_t,
) -> list:
    """Pages whose `overlap` with `record` may reach `least`, by the postings of some of its terms; ascending.

    The bound is the paper's positional filter with weights in place of positions: what is shared so far, plus at most
    the smaller of what is left of the two records.

    Args:
        record: The record of the new page.
        places: The positions of the terms that were looked up.
        keys: The keys of their postings, shape (m,): a term's hash in the high 32 bits, the kept page's weight in the
            low ones.
        pages: The pages of these postings, shape (m,).
        least: The least overlap.
        least_alike: The least sum of the square roots (in units of 1/256) of the weights that a page shares, term by
            term.
        most: At most this many pages are returned, those with the largest such sums; of equals, the older.
    """
    i: cython.Py_ssize_t
    count: cython.Py_ssize_t = len(record) // TERM_BYTES
    data: cython.p_const_char = record
    own_left: int64_t = TOTAL
    size: cython.size_t = 16
    if keys.shape[0] != pages.shape[0]:
        raise ValueError("each key has its page")
    while size < 2 * cython.cast(cython.size_t, keys.shape[0]):
        size *= 2
    for i in places:
        if not 0 <= i < count:
            raise ValueError("no such term in the record")
        own_left -= _weight_at(data, count, i)
    places_in_table: bytes = bytes(4 * size)
    slots: cython.pointer(uint32_t) = uint32s(places_in_table)  # from 1 on
    room: bytes = bytes(keys.shape[0] * cython.sizeof(Seen))
    table: cython.pointer(Seen) = cython.cast(cython.pointer(Seen), uint8s(room))
    is_bounded: cython.bint = least_alike > 0 or most < keys.shape[0]
    place: cython.Py_ssize_t = 0
    count_of_pages: cython.Py_ssize_t = 0
    own: int64_t = 0
    for i in range(keys.shape[0]):
        hashed: uint32_t = keys[i] >> PAYLOAD_BITS
        if not i or hashed != cython.cast(uint32_t, keys[i - 1] >> PAYLOAD_BITS):
            place = _place_of(data, count, hashed)
            own = _weight_at(data, count, place) if place < count else 0
        kept: int64_t = keys[i] & cython.cast(uint32_t, -1)
        at: cython.size_t = fmix64(pages[i] ^ _seed) & (size - 1)
        while slots[at] and table[slots[at] - 1].page != pages[i]:
            at = (at + 1) & (size - 1)
        if not slots[at]:
            table[count_of_pages].page = pages[i]
            count_of_pages += 1
            slots[at] = count_of_pages
        page: cython.pointer(Seen) = table + slots[at] - 1
        page.shared += min(own, kept)
        page.seen += kept
        page.alike += _root(min(own, kept)) if is_bounded else 0
    likely: cython.Py_ssize_t = 0
    for i in range(count_of_pages):
        if not table[i].seen or table[i].alike < least_alike:
            continue
        if table[i].shared + min(own_left, TOTAL - table[i].seen) >= least:
            table[likely] = table[i]
            likely += 1
    if likely > most:
        qsort(table, likely, cython.sizeof(Seen), _most_alike_first)
        likely = most
    return sorted([table[i].page for i in range(likely)])


@cython.cfunc
@cython.exceptval(check=False)
def _place_of(record: cython.p_const_char, count: cython.Py_ssize_t, hashed: uint32_t) -> cython.Py_ssize_t:
    """The position of a term in a record; `count` if the record lacks it."""
    low: cython.Py_ssize_t = 0
    high: cython.Py_ssize_t = count
    while low < high:
        middle: cython.Py_ssize_t = (low + high) // 2
        if _hash_at(record, middle) < hashed:
            low = middle + 1
        else:
            high = middle
    return low if low < count and _hash_at(record, low) == hashed else count
