# cython: language_level=3
"""Postings, searched by key prefixes: those of the newest pages are in a hash table, all others in sorted tables."""

import os

import cython
from cython.cimports.cpython import array
from cython.cimports.dedupcrawl.core.arrays import int64s, keys_in, resized, uint8s, unset, zeros
from cython.cimports.dedupcrawl.core.hashing import fmix64
from cython.cimports.libc.stdlib import free, qsort

# Random in each process, so the authors of pages cannot predict the slots of prefixes.
_seed = cython.declare(uint64_t, int.from_bytes(os.urandom(8), "little"))
_KEYS = cython.declare(array.array, array.array("Q"))


def new_keys(count):
    """An array of type "Q", to be filled."""
    return array.clone(_KEYS, count, False)


def one_key(key):
    """An array of type "Q" that holds one key."""
    made: array.array = new_keys(1)
    keys_in(made)[0] = key
    return made


class Tail:
    """The postings of a table that still grows.

    Args:
        bits: How many low bits of a key are payload, below 64.
    """

    def __cinit__(self, bits: cython.int):
        self.bits = bits & 63
        self.widen()

    def __dealloc__(self):
        free(self.items)

    def widen(self):
        """Make the table twice as large."""
        i: cython.size_t
        old_table: bytes = self.run_table
        old: cython.pointer(Run) = self.runs
        old_size: cython.size_t = 0 if old_table is None else self.mask + 1
        size: cython.size_t = 2 * old_size or 64
        self.run_table = zeros(size * cython.sizeof(Run))
        self.runs, self.mask = cython.cast(cython.pointer(Run), uint8s(self.run_table)), size - 1
        for i in range(old_size):
            if old[i].last:
                self.run_of(old[i].prefix)[0] = old[i]
        return 0

    def run_of(self, prefix):
        """The slot of a prefix, or the free one for it."""
        at: cython.size_t = fmix64(prefix ^ _seed) & self.mask
        while self.runs[at].last and self.runs[at].prefix != prefix:
            at = (at + 1) & self.mask
        return self.runs + at

    def add(self, keys: cython.const[uint64_t][::1], page: uint32_t):
        """Post a page under these keys."""
        if keys.shape[0]:
            self.put(cython.address(keys[0]), keys.shape[0], page)

    def put(self, keys, count, page):
        i: cython.Py_ssize_t
        if self.count + count > self.room:
            room: cython.Py_ssize_t = 2 * self.room + count + 16
            self.items = cython.cast(cython.pointer(Posting), resized(self.items, room, cython.sizeof(Posting)))
            self.room = room
        for i in range(count):
            if 2 * self.used > cython.cast(cython.Py_ssize_t, self.mask):
                self.widen()
            run: cython.pointer(Run) = self.run_of(keys[i] >> self.bits)
            self.used += run.last == 0
            item: cython.pointer(Posting) = self.items + self.count
            item.key, item.page, item.before = keys[i], page, run.last
            self.count += 1
            run.prefix, run.last = keys[i] >> self.bits, self.count
            run.count += 1
        return 0

    def __len__(self):
        return self.count

    def table(self) -> tuple:
        """All postings, sorted by key and then by page: keys, an array of type "Q", and pages, one of type "I"."""
        i: cython.Py_ssize_t
        room: bytes = unset(cython.sizeof(Found) * self.count)
        items: cython.pointer(Found) = cython.cast(cython.pointer(Found), uint8s(room))
        for i in range(self.count):
            items[i].key, items[i].page = self.items[i].key, self.items[i].page
        qsort(items, self.count, cython.sizeof(Found), _by_key)
        return _arrays(room)


def post(tails: list, keys: object, page: uint32_t):
    """Post a page in tails, under the keys for each, an array of type "Q"."""
    for tail, some in zip(tails, keys, strict=True):
        made: array.array = some
        if made.typecode != "Q":
            raise TypeError("keys are an array of 64-bit numbers")
        cython.cast(Tail, tail).put(keys_in(made), len(made), page)


class Postings:
    """Sorted tables and tails, searched together: one check's inverted index, as a check sees it.

    It holds 64-bit keys, each with the page that was kept under it. Postings are looked up by the prefix of their key,
    ``key >> bits``. The low `bits` are payload, whose meaning is up to the check.

    Args:
        tables: Each the keys, ascending, and the page of each key.
        tails: Tails with the same payload.
        bits: How many low bits of a key are payload.

    Attributes:
        read: How many postings were read so far.
    """

    def __init__(self, tables: list, tails: list, bits: cython.int):
        self.tables, self.tails, self.bits, self.read = tables, tails, bits & 63, 0

    def count(self, prefixes: cython.const[uint64_t][::1]) -> list:
        """How many postings each prefix has."""
        rows: cython.Py_ssize_t = prefixes.shape[0]
        if not rows:
            return []
        first: cython.pointer(cython.const[uint64_t]) = cython.address(prefixes[0])
        return memoryview(self.counts(first, rows, self.bounds(first, rows))).cast("q").tolist()

    def find(self, prefixes: cython.const[uint64_t][::1]) -> tuple:
        """The keys and pages of all postings of these prefixes, as arrays of type "Q" and "I".

        They come table by table and, within each, prefix by prefix.
        """
        rows: cython.Py_ssize_t = prefixes.shape[0]
        if not rows:
            return _arrays(b"")
        first: cython.pointer(cython.const[uint64_t]) = cython.address(prefixes[0])
        return _arrays(self.gather(first, rows, self.bounds(first, rows)))

    def pages_of(self, prefix: uint64_t, most: int = 1 << 30) -> list:
        """The pages posted under one prefix, in any order; none if there are more than `most`."""
        i: cython.Py_ssize_t
        bounds: bytes = self.bounds(cython.address(prefix), 1)
        if int64s(self.counts(cython.address(prefix), 1, bounds))[0] > most:
            return []
        room: bytes = self.gather(cython.address(prefix), 1, bounds)
        hits: cython.pointer(Found) = cython.cast(cython.pointer(Found), uint8s(room))
        return [hits[i].page for i in range(len(room) // cython.sizeof(Found))]

    def counts(self, prefixes, rows, bounds):
        """How many postings each prefix has, 8 bytes each."""
        i: cython.Py_ssize_t
        table: cython.Py_ssize_t
        tail: Tail
        made: bytes = zeros(8 * rows)
        counts: cython.pointer(int64_t) = int64s(made)
        of_tables: cython.pointer(int64_t) = int64s(bounds)
        for tail in self.tails:
            for i in range(rows):
                counts[i] += tail.run_of(prefixes[i]).count
        for table in range(len(self.tables)):
            for i in range(rows):
                counts[i] += of_tables[(2 * table + 1) * rows + i] - of_tables[2 * table * rows + i]
        return made

    def gather(self, prefixes, rows, bounds):
        """All postings of these prefixes, each as a Found."""
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        table: cython.Py_ssize_t
        tail: Tail
        item: cython.pointer(Posting)
        total: cython.Py_ssize_t = 0
        written: cython.Py_ssize_t = 0
        of_tables: cython.pointer(int64_t) = int64s(bounds)
        counts: bytes = self.counts(prefixes, rows, bounds)
        for i in range(rows):
            total += int64s(counts)[i]
        self.read += total
        made: bytes = unset(cython.sizeof(Found) * total)
        hits: cython.pointer(Found) = cython.cast(cython.pointer(Found), uint8s(made))
        for table in range(len(self.tables)):
            keys_in: cython.const[uint64_t][::1] = self.tables[table][0]
            pages_in: cython.const[uint32_t][::1] = self.tables[table][1]
            for i in range(rows):
                for j in range(of_tables[2 * table * rows + i], of_tables[(2 * table + 1) * rows + i]):
                    hits[written].key, hits[written].page = keys_in[j], pages_in[j]
                    written += 1
        for tail in self.tails:
            for i in range(rows):
                at: uint32_t = tail.run_of(prefixes[i]).last
                while at and written < total:
                    item = tail.items + at - 1
                    hits[written].key, hits[written].page = item.key, item.page
                    written += 1
                    at = item.before
        return made if written == total else made[: written * cython.sizeof(Found)]

    def bounds(self, prefixes, rows):
        """Shape (tables, 2, rows), 8 bytes each: where in each table the keys of each prefix begin and end."""
        i: cython.Py_ssize_t
        table: cython.Py_ssize_t
        payload: uint64_t = (cython.cast(uint64_t, 1) << self.bits) - 1
        made: bytes = zeros(16 * len(self.tables) * rows)
        for table in range(len(self.tables)):
            keys: cython.const[uint64_t][::1] = self.tables[table][0]
            if not rows or len(self.tables[table][1]) != keys.shape[0]:
                continue
            starts: cython.pointer(int64_t) = int64s(made) + 2 * table * rows
            ends: cython.pointer(int64_t) = starts + rows
            left: cython.Py_ssize_t = keys.shape[0]
            while left:  # all searches advance in step, so that the processor waits for many reads of a file at once
                half: cython.Py_ssize_t = left - left // 2
                for i in range(rows):
                    first: uint64_t = prefixes[i] << self.bits
                    last: uint64_t = first | payload
                    starts[i] += half if keys[starts[i] + half - 1] < first else 0
                    ends[i] += half if keys[ends[i] + half - 1] <= last else 0
                left //= 2
        return made


@cython.cfunc
def _arrays(room: bytes) -> tuple:
    """The keys and the pages of gathered postings."""
    i: cython.Py_ssize_t
    hits: cython.pointer(Found) = cython.cast(cython.pointer(Found), uint8s(room))
    count: cython.Py_ssize_t = len(room) // cython.sizeof(Found)
    keys: array.array = new_keys(count)
    pages: array.array = array.clone(array.array("I"), count, False)
    keys_view: uint64_t[::1] = keys
    pages_view: uint32_t[::1] = pages
    for i in range(count):
        keys_view[i], pages_view[i] = hits[i].key, hits[i].page
    return keys, pages


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _by_key(one: cython.p_const_void, other: cython.p_const_void) -> cython.int:
    mine: cython.pointer(Found) = cython.cast(cython.pointer(Found), one)
    its: cython.pointer(Found) = cython.cast(cython.pointer(Found), other)
    if mine.key != its.key:
        return 1 if mine.key > its.key else -1
    return (mine.page > its.page) - (mine.page < its.page)


def prefixes_of(keys: cython.const[uint64_t][::1], bits: cython.int) -> object:
    """The different prefixes of keys with a payload of `bits` bits, ascending, as an array of type "Q"."""
    i: cython.Py_ssize_t
    return array.array("Q", sorted({keys[i] >> (bits & 63) for i in range(keys.shape[0])}))


def are_in_order(
    keys: cython.const[uint64_t][::1], pages: cython.const[uint32_t][::1], first: uint32_t, end: uint32_t
) -> cython.bint:
    """Whether the keys of a table ascend, and all its pages lie in first ≤ id < end."""
    i: cython.Py_ssize_t
    if keys.shape[0] != pages.shape[0]:
        return False
    for i in range(keys.shape[0]):
        if (i and keys[i] < keys[i - 1]) or not first <= pages[i] < end:
            return False
    return True


def mark(flags: uint8_t[::1], pages: cython.const[uint64_t][::1]):
    """Set the flags of these pages; pages beyond the flags are ignored."""
    i: cython.Py_ssize_t
    for i in range(pages.shape[0]):
        if pages[i] < cython.cast(uint64_t, flags.shape[0]):
            flags[pages[i]] = True


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _is_left_out(flags: cython.pointer(cython.const[uint8_t]), count: cython.Py_ssize_t, page: uint32_t) -> cython.bint:
    return page < count and flags[page]


def checksum(keys: cython.const[uint64_t][::1], pages: cython.const[uint32_t][::1], left_out: bytes) -> int:
    """The sum of the 64-bit hashes of all postings: equal for equal sets, whatever their order.

    Args:
        keys: Shape (n,).
        pages: The page of each key, shape (n,).
        left_out: A flag for each page; the postings of flagged pages do not count.
    """
    i: cython.Py_ssize_t
    total: uint64_t = 0
    count: cython.Py_ssize_t = len(left_out)
    flags: cython.pointer(cython.const[uint8_t]) = uint8s(left_out)
    if keys.shape[0] != pages.shape[0]:
        raise ValueError("each key has its page")
    for i in range(keys.shape[0]):
        if not _is_left_out(flags, count, pages[i]):
            total += fmix64(keys[i] ^ fmix64(pages[i] + 1))
    return total


class Merge:
    """Merges sorted tables into one, piece by piece, in bounded memory, without the pages that are left out.

    Args:
        tables: Each the keys, ascending, and the page of each key.
        left_out: A flag for each page; empty if all pages stay.
    """

    def __cinit__(self, tables: list, left_out: bytes):
        self.tables, self.left_out = tables, left_out
        self.merged = bytes(8 * len(tables))
        self.at = int64s(self.merged)

    def piece(self, most: cython.Py_ssize_t) -> tuple:
        """The next postings, at most `most`: keys, an array of type "Q", and pages, one of type "I"; none at the end.

        Raises:
            IndexError: There are flags, but none for a page.
        """
        table: cython.Py_ssize_t
        best: cython.Py_ssize_t
        made: cython.Py_ssize_t = 0
        count: cython.Py_ssize_t = len(self.tables)
        marked: cython.Py_ssize_t = len(self.left_out)
        flags: cython.pointer(cython.const[uint8_t]) = uint8s(self.left_out)
        keys: array.array = new_keys(most)
        pages: array.array = array.clone(array.array("I"), most, False)
        keys_out: uint64_t[::1] = keys
        pages_out: uint32_t[::1] = pages
        room: bytes = bytes(cython.sizeof(Source) * count)
        sources: cython.pointer(Source) = cython.cast(cython.pointer(Source), uint8s(room))
        for table in range(count):
            own_keys: cython.const[uint64_t][::1] = self.tables[table][0]
            own_pages: cython.const[uint32_t][::1] = self.tables[table][1]
            sources[table].count = min(own_keys.shape[0], own_pages.shape[0])
            if sources[table].count:
                sources[table].keys = cython.address(own_keys[0])
                sources[table].pages = cython.address(own_pages[0])
        while made < most:
            best = -1
            for table in range(count):
                if self.at[table] < sources[table].count and (
                    best < 0 or sources[table].keys[self.at[table]] < sources[best].keys[self.at[best]]
                ):
                    best = table
            if best < 0:
                break
            page: uint32_t = sources[best].pages[self.at[best]]
            if marked and page >= marked:
                raise IndexError("there is no flag for a page")
            if not _is_left_out(flags, marked, page):
                keys_out[made], pages_out[made] = sources[best].keys[self.at[best]], page
                made += 1
            self.at[best] += 1
        return keys[:made], pages[:made]
