"""PostingsView: one table of an index, over all its segments and its tail, as a check searches it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content.checks.base import Keys, PageIds
from dedupcrawl.index.segment import NO_IDS, NO_KEYS, Table

Places = NDArray[np.intp]

_ONE = np.uint64(1)
_NO_PLACES = (np.empty(0, dtype=np.intp),) * 3


class PostingsView:
    """Sorted tables and the tail's dictionaries, searched together (content.checks.base.Postings).

    All prefixes are looked up in a table by one binary search in NumPy; where the ranges of those that are there end
    is searched for them alone, because most prefixes of most pages are not there.
    """

    __slots__ = ("_payload_bits", "_tables", "_tail")

    def __init__(self, tables: Sequence[Table], tail: Sequence[dict[int, list[int]]], payload_bits: int) -> None:
        self._tables = tables
        self._tail = tail
        self._payload_bits = np.uint64(payload_bits)

    def count(self, prefixes: Keys) -> NDArray[np.int64]:
        """Shape (n,) → (n,): how many postings each prefix has."""
        counts = np.zeros(prefixes.size, dtype=np.int64)
        firsts = prefixes << self._payload_bits
        for keys, _ in self._tables:
            rows, starts, ends = self._ranges(keys, prefixes, firsts)
            if rows.size:
                counts[rows] += ends - starts
        for row, prefix in enumerate(prefixes.tolist()):
            for found in self._tail:
                postings = found.get(prefix)
                if postings is not None:
                    counts[row] += len(postings) // 2
        return counts

    def find(self, prefixes: Keys) -> tuple[Keys, PageIds]:
        """Shape (n,) → (m,), (m,): whole keys and pages of all postings of any of these prefixes, in no order."""
        firsts = prefixes << self._payload_bits
        parts: list[Table] = []
        for keys, ids in self._tables:
            rows, starts, ends = self._ranges(keys, prefixes, firsts)
            if rows.size:
                for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
                    parts.append((keys[start:end], ids[start:end]))
        flat: list[int] = []
        for prefix in prefixes.tolist():
            for found in self._tail:
                postings = found.get(prefix)
                if postings is not None:
                    flat += postings
        if flat:
            table = np.array(flat, dtype=np.uint64)
            parts.append((table[::2], table[1::2].astype(np.uint32)))
        if not parts:
            return NO_KEYS, NO_IDS
        if len(parts) == 1:
            return parts[0]
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])

    def _ranges(self, keys: Keys, prefixes: Keys, firsts: Keys) -> tuple[Places, Places, Places]:
        """Rows of the prefixes that a table has, and where their postings start and end."""
        if not keys.size:
            return _NO_PLACES
        starts = keys.searchsorted(firsts)
        there = keys.take(starts, mode="clip")
        there >>= self._payload_bits
        rows = np.flatnonzero(there == prefixes)
        if not rows.size:
            return _NO_PLACES
        after = (prefixes[rows] + _ONE) << self._payload_bits
        ends = keys.searchsorted(after)
        ends[after == 0] = keys.size  # nothing comes after the last prefix of all
        return rows, starts[rows], ends
