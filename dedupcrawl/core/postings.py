# cython: language_level=3
"""Postings, searched by the prefixes of their keys: of the newest pages in a hash table, of all others sorted."""

import os

import cython
import numpy as np
from cython.cimports.dedupcrawl.core.hashing import fmix64
from cython.cimports.libc.stdlib import calloc, free, realloc
from cython.cimports.libc.string import memcpy

# Chosen anew in each process: where a prefix stands in the table cannot be foreseen by who makes pages.
_seed = cython.declare(uint64_t, int.from_bytes(os.urandom(8), "little"))


class Tail:
    """Postings that still grow, of one table.

    Args:
        bits: How many low bits of a key are payload, below 64.
    """

    def __cinit__(self, bits: cython.int):
        self.bits = bits & 63
        self.widen()

    def __dealloc__(self):
        free(self.runs)
        free(self.items)

    def widen(self):
        """Make the table twice as large."""
        i: cython.size_t
        size: cython.size_t = 2 * (self.mask + 1) if self.runs is not cython.NULL else 64
        old: cython.pointer(Run) = self.runs
        old_size: cython.size_t = self.mask + 1 if old is not cython.NULL else 0
        made: cython.pointer(Run) = cython.cast(cython.pointer(Run), calloc(size, cython.sizeof(Run)))
        if made is cython.NULL:
            raise MemoryError
        self.runs, self.mask = made, size - 1
        for i in range(old_size):
            if old[i].last:
                self.run_of(old[i].prefix)[0] = old[i]
        free(old)
        return 0

    def run_of(self, prefix):
        """Where the postings of a prefix are noted, or would be."""
        at: cython.size_t = fmix64(prefix ^ _seed) & self.mask
        while self.runs[at].last and self.runs[at].prefix != prefix:
            at = (at + 1) & self.mask
        return self.runs + at

    def add(self, keys: cython.const[uint64_t][::1], page: uint32_t):
        """Post a page under these keys."""
        i: cython.Py_ssize_t
        if self.count + keys.shape[0] > self.room:
            room: cython.Py_ssize_t = 2 * self.room + keys.shape[0] + 16
            items: cython.pointer(Posting) = cython.cast(
                cython.pointer(Posting), realloc(self.items, room * cython.sizeof(Posting))
            )
            if items is cython.NULL:
                raise MemoryError
            self.items, self.room = items, room
        for i in range(keys.shape[0]):
            if 2 * self.used > cython.cast(cython.Py_ssize_t, self.mask):
                self.widen()
            run: cython.pointer(Run) = self.run_of(keys[i] >> self.bits)
            self.used += run.last == 0
            item: cython.pointer(Posting) = self.items + self.count
            item.key, item.page, item.before = keys[i], page, run.last
            self.count += 1
            run.prefix, run.last = keys[i] >> self.bits, self.count
            run.count += 1

    def __len__(self):
        return self.count

    def table(self) -> tuple:
        """All postings, in no order: keys, shape (n,) uint64, and pages, shape (n,) uint32."""
        i: cython.Py_ssize_t
        keys = np.empty(self.count, dtype=np.uint64)
        pages = np.empty(self.count, dtype=np.uint32)
        keys_view: uint64_t[::1] = keys
        pages_view: uint32_t[::1] = pages
        for i in range(self.count):
            keys_view[i], pages_view[i] = self.items[i].key, self.items[i].page
        return keys, pages


class View:
    """Sorted tables and tails, searched together (`content.checks.base.Postings`).

    Args:
        tables: Keys, ascending, and the page of each.
        tails: Of the same payload.
        bits: How many low bits of a key are payload.
    """

    def __init__(self, tables: list, tails: list, bits: cython.int):
        self.tables, self.tails, self.bits = tables, tails, bits & 63

    def count(self, prefixes: cython.const[uint64_t][::1]) -> object:
        """Shape (n,) → (n,): how many postings each prefix has."""
        i: cython.Py_ssize_t
        table: cython.Py_ssize_t
        tail: Tail
        rows: cython.Py_ssize_t = prefixes.shape[0]
        counts = np.zeros(rows, dtype=np.int64)
        view: int64_t[::1] = counts
        for tail in self.tails:
            for i in range(rows):
                view[i] += tail.run_of(prefixes[i]).count
        bounds: cython.Py_ssize_t[:, :, ::1] = self.bounds(prefixes)
        for table in range(bounds.shape[0]):
            for i in range(rows):
                view[i] += bounds[table, 1, i] - bounds[table, 0, i]
        return counts

    def find(self, prefixes: cython.const[uint64_t][::1]) -> tuple:
        """Shape (n,) → (m,), (m,): whole keys and pages of all postings of any of these prefixes, prefix by prefix."""
        i: cython.Py_ssize_t
        table: cython.Py_ssize_t
        tail: Tail
        item: cython.pointer(Posting)
        rows: cython.Py_ssize_t = prefixes.shape[0]
        bounds: cython.Py_ssize_t[:, :, ::1] = self.bounds(prefixes)
        total: cython.Py_ssize_t = 0
        written: cython.Py_ssize_t = 0
        for tail in self.tails:
            for i in range(rows):
                total += tail.run_of(prefixes[i]).count
        for table in range(bounds.shape[0]):
            for i in range(rows):
                total += bounds[table, 1, i] - bounds[table, 0, i]
        keys = np.empty(total, dtype=np.uint64)
        pages = np.empty(total, dtype=np.uint32)
        if not total:
            return keys, pages
        keys_out: uint64_t[::1] = keys
        pages_out: uint32_t[::1] = pages
        for table in range(bounds.shape[0]):
            keys_in: cython.const[uint64_t][::1] = self.tables[table][0]
            pages_in: cython.const[uint32_t][::1] = self.tables[table][1]
            for i in range(rows):
                first: cython.Py_ssize_t = bounds[table, 0, i]
                size: cython.Py_ssize_t = bounds[table, 1, i] - first
                if size:
                    memcpy(cython.address(keys_out[written]), cython.address(keys_in[first]), 8 * size)
                    memcpy(cython.address(pages_out[written]), cython.address(pages_in[first]), 4 * size)
                    written += size
        for tail in self.tails:
            for i in range(rows):
                at: uint32_t = tail.run_of(prefixes[i]).last
                while at and written < total:
                    item = tail.items + at - 1
                    keys_out[written], pages_out[written] = item.key, item.page
                    written += 1
                    at = item.before
        return keys, pages

    def bounds(self, prefixes):
        """Shape (tables, 2, n): in each table, where the keys that begin with each prefix start, and where they end."""
        i: cython.Py_ssize_t
        rows: cython.Py_ssize_t = prefixes.shape[0]
        made = np.zeros((len(self.tables), 2, rows), dtype=np.intp)
        view: cython.Py_ssize_t[:, :, ::1] = made
        payload: uint64_t = (cython.cast(uint64_t, 1) << self.bits) - 1
        table: cython.Py_ssize_t
        for table in range(len(self.tables)):
            keys: cython.const[uint64_t][::1] = self.tables[table][0]
            if not rows or self.tables[table][1].shape[0] != keys.shape[0]:
                continue
            starts: cython.pointer(cython.Py_ssize_t) = cython.address(view[table, 0, 0])
            ends: cython.pointer(cython.Py_ssize_t) = cython.address(view[table, 1, 0])
            left: cython.Py_ssize_t = keys.shape[0]
            while left:  # all are searched in step, so that the processor waits for many reads of a file at once
                half: cython.Py_ssize_t = left - left // 2
                for i in range(rows):
                    first: uint64_t = prefixes[i] << self.bits
                    last: uint64_t = first | payload
                    starts[i] += half if keys[starts[i] + half - 1] < first else 0
                    ends[i] += half if keys[ends[i] + half - 1] <= last else 0
                left //= 2
        return made


def by_page(keys: cython.const[uint64_t][::1], pages: cython.const[uint32_t][::1]) -> tuple:
    """Of every page that was found, ascending: the first of its keys, its id, and how often it was found."""
    i: cython.Py_ssize_t
    found: cython.Py_ssize_t = 0
    if keys.shape[0] != pages.shape[0]:
        raise ValueError("each key has its page")
    order: cython.Py_ssize_t[::1] = np.asarray(pages).argsort(kind="stable")
    first = np.empty(pages.shape[0], dtype=np.uint64)
    ids = np.empty(pages.shape[0], dtype=np.uint32)
    times = np.empty(pages.shape[0], dtype=np.int64)
    first_view: uint64_t[::1] = first
    ids_view: uint32_t[::1] = ids
    times_view: int64_t[::1] = times
    for i in range(pages.shape[0]):
        if found and ids_view[found - 1] == pages[order[i]]:
            times_view[found - 1] += 1
        else:
            first_view[found], ids_view[found], times_view[found] = keys[order[i]], pages[order[i]], 1
            found += 1
    return first[:found], ids[:found], times[:found]
