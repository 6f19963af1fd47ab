"""PostingsView: one table of an index, over all its segments and its tail, as a check searches it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content import kernels
from dedupcrawl.content.checks.base import Keys, PageIds
from dedupcrawl.index.segment import NO_IDS, NO_KEYS, Segment, Table, sort_table

_LONG = 32  # numbers from which a prefix's postings are a list, so that they can grow without being copied

Found = dict[int, tuple[int, ...] | list[int]]


class Batch:
    """Postings of up to `batch_pages` consecutive records: a dictionary a table, and the arrays they came from.

    Batches start at multiples of `batch_pages`, in every process, so a segment that another process folded always ends
    where a batch ends.

    Attributes:
        first: Id of its first record.
        end: Id after its last one.
        found: For each table: prefix → key, page id, key, page id, … Most are short and tuples, which the garbage
            collector, unlike lists, does not come back to.
    """

    __slots__ = ("_arrays", "_owners", "_shifts", "end", "first", "found")

    def __init__(self, first: int, payload_bits: Sequence[int]) -> None:
        self.first = self.end = first
        self.found: list[Found] = [{} for _ in payload_bits]
        self._shifts = payload_bits
        self._arrays: list[list[Keys]] = [[] for _ in payload_bits]
        self._owners: list[list[int]] = [[] for _ in payload_bits]

    def add(self, keys: Sequence[Keys]) -> None:
        """Post the next record under `keys`, by table."""
        page = self.end
        for table, array in enumerate(keys):
            if array is NO_KEYS:
                continue
            self._arrays[table].append(array)
            self._owners[table].append(page)
            found = self.found[table]
            shift = self._shifts[table]
            for key in array.tolist():
                prefix = key >> shift
                postings = found.get(prefix)
                if postings is None:
                    found[prefix] = (key, page)
                elif isinstance(postings, list):
                    postings += (key, page)
                else:
                    found[prefix] = (*postings, key, page) if len(postings) < _LONG else [*postings, key, page]
        self.end = page + 1

    def postings(self, table: int) -> int:
        """How many postings a table has."""
        return sum(array.size for array in self._arrays[table])

    def fold(self) -> Segment:
        """Its postings as a segment in memory; the batch must not be added to any more."""
        return Segment(self.first, self.end, tuple(self._table(table) for table in range(len(self._shifts))))

    def _table(self, table: int) -> Table:
        arrays = self._arrays[table]
        if not arrays:
            return NO_KEYS, NO_IDS
        owners = np.array(self._owners[table], dtype=np.uint32)
        return sort_table(np.concatenate(arrays), np.repeat(owners, [array.size for array in arrays]))


_FEW = 8  # prefixes up to which Python is faster than NumPy at seeing which are there
_WORD = (1 << 64) - 1


class PostingsView:
    """Sorted tables and the tail's dictionaries, searched together (content.checks.base.Postings).

    All prefixes are looked up in a table by one binary search in NumPy; where the postings of those that are there end
    is searched for them alone, because most prefixes of most pages are not there.
    """

    __slots__ = ("_payload_bits", "_shift", "_tables", "_tail")

    def __init__(self, tables: Sequence[Table], tail: list[Found], payload_bits: int) -> None:
        self._tables = [table for table in tables if table[0].size]
        self._tail = tail
        self._payload_bits = payload_bits
        self._shift = np.uint64(payload_bits)

    def count(self, prefixes: Keys) -> NDArray[np.int64]:
        """Shape (n,) → (n,): how many postings each prefix has."""
        wanted = prefixes.tolist()
        counts = self._count_in_tail(wanted)
        if self._tables:
            firsts = prefixes << self._shift
            for keys, _ in self._tables:
                for row, start, end in self._ranges(keys, prefixes, firsts, wanted):
                    counts[row] += end - start
        return counts

    def find(self, prefixes: Keys) -> tuple[Keys, PageIds]:
        """Shape (n,) → (m,), (m,): whole keys and pages of all postings of any of these prefixes, in no order."""
        wanted = prefixes.tolist()
        parts = self._in_tables(prefixes, wanted)
        tail = self._in_tail(wanted)
        if tail[0].size:
            parts.append(tail)
        if not parts:
            return NO_KEYS, NO_IDS
        if len(parts) == 1:
            return parts[0]
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])

    def pieces(self, prefixes: Keys) -> list[tuple[Keys, PageIds]]:
        """What `find` finds, as it lies in the segments: pieces, each of one prefix, none empty."""
        wanted = prefixes.tolist()
        keys, ids = self._in_tail(wanted)
        ends = self._count_in_tail(wanted).cumsum().tolist() if keys.size else []
        tail = ((keys[start:end], ids[start:end]) for start, end in pairwise((0, *ends)) if end > start)
        return [*self._in_tables(prefixes, wanted), *tail]

    def pages(self, prefix: int) -> list[int]:
        """The pages of all postings of one prefix, in no order."""
        tail = [page for found in self._tail for page in found.get(prefix, ())[1::2]]
        parts = self._in_tables(np.array([prefix], dtype=np.uint64), [prefix]) if self._tables else []
        return [*tail, *(page for _, ids in parts for page in ids.tolist())]

    def _in_tables(self, prefixes: Keys, wanted: list[int]) -> list[Table]:
        """The postings of these prefixes in the segments, one prefix's of one segment together."""
        if not self._tables:
            return []
        firsts = prefixes << self._shift
        return [
            (keys[start:end], ids[start:end])
            for keys, ids in self._tables
            for _, start, end in self._ranges(keys, prefixes, firsts, wanted)
        ]

    def _count_in_tail(self, wanted: list[int]) -> NDArray[np.int64]:
        counts = np.zeros(len(wanted), dtype=np.int64)
        for found in self._tail:
            for row, prefix in enumerate(wanted):
                postings = found.get(prefix)
                if postings is not None:
                    counts[row] += len(postings) // 2
        return counts

    def _in_tail(self, wanted: list[int]) -> Table:
        """Keys and pages of all postings of these prefixes in the tail, one prefix's after the other's."""
        flat: list[int] = []
        for prefix in wanted:
            for found in self._tail:
                postings = found.get(prefix)
                if postings is not None:
                    flat += postings
        table = np.array(flat, dtype=np.uint64)
        return table[::2], table[1::2].astype(np.uint32)

    def _ranges(self, keys: Keys, prefixes: Keys, firsts: Keys, wanted: list[int]) -> list[tuple[int, int, int]]:
        """For each prefix that a table has: its row, and where its postings start and end."""
        bits = self._payload_bits
        if kernels.compiled is not None:
            return kernels.compiled.sorted_ranges(keys, prefixes, bits)
        places = keys.searchsorted(firsts)
        starts = places.tolist()
        if len(starts) <= _FEW:
            size, key_at = keys.size, keys.item
            rows = [row for row, at in enumerate(starts) if at < size and key_at(at) >> bits == wanted[row]]
        else:
            rows = (keys.take(places, mode="clip") >> self._shift == prefixes).nonzero()[0].tolist()
        if not rows:
            return []
        after = [(wanted[row] + 1) << bits for row in rows]
        ends = keys.searchsorted(np.array([key & _WORD for key in after], dtype=np.uint64)).tolist()
        # Nothing comes after the last prefix of all.
        return [
            (row, starts[row], end if key <= _WORD else keys.size)
            for row, end, key in zip(rows, ends, after, strict=True)
        ]
