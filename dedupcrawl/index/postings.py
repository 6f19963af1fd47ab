"""PostingsView: one table of an index, over all its segments and its tail, as a check searches it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content.checks.base import Keys, PageIds
from dedupcrawl.index.segment import NO_IDS, NO_KEYS, Table


class PostingsView:
    """Sorted tables and the tail's dictionaries, searched together (content.checks.base.Postings).

    All prefixes are looked up in a table by one binary search in NumPy: a microsecond and a fraction for each prefix.
    """

    __slots__ = ("_payload_bits", "_tables", "_tail")

    def __init__(self, tables: Sequence[Table], tail: Sequence[dict[int, list[int]]], payload_bits: int) -> None:
        self._tables = tables
        self._tail = tail
        self._payload_bits = payload_bits

    def count(self, prefixes: Keys) -> NDArray[np.int64]:
        """Shape (n,) → (n,): how many postings each prefix has."""
        n = prefixes.size
        counts = np.zeros(n, dtype=np.int64)
        wanted = prefixes.tolist()
        if self._tables:
            bounds, last = self._bounds(prefixes, wanted)
            for keys, _ in self._tables:
                ends = keys.searchsorted(bounds)
                if last:
                    ends[last] = keys.size
                counts += ends[n:] - ends[:n]
        for found in self._tail:
            for row, prefix in enumerate(wanted):
                postings = found.get(prefix)
                if postings is not None:
                    counts[row] += len(postings) // 2
        return counts

    def find(self, prefixes: Keys) -> tuple[Keys, PageIds]:
        """Shape (n,) → (m,), (m,): whole keys and pages of all postings of any of these prefixes, in no order."""
        n = prefixes.size
        wanted = prefixes.tolist()
        parts: list[Table] = []
        if self._tables:
            bounds, last = self._bounds(prefixes, wanted)
            for keys, ids in self._tables:
                ends = keys.searchsorted(bounds)
                if last:
                    ends[last] = keys.size
                places = ends.tolist()
                for start, end in zip(places, places[n:], strict=False):
                    if start < end:
                        parts.append((keys[start:end], ids[start:end]))
        rows: list[int] = []
        for found in self._tail:
            for prefix in wanted:
                postings = found.get(prefix)
                if postings is not None:
                    rows += postings
        if rows:
            table = np.array(rows, dtype=np.uint64)
            parts.append((table[::2], table[1::2].astype(np.uint32)))
        if not parts:
            return NO_KEYS, NO_IDS
        if len(parts) == 1:
            return parts[0]
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])

    def _bounds(self, prefixes: Keys, wanted: list[int]) -> tuple[Keys, list[int]]:
        """The first key of each prefix, then the first key after each.

        Nothing comes after the last prefix of all: its rows among the bounds are returned too, to be set to the end.
        """
        n = prefixes.size
        bounds = np.empty(2 * n, dtype=np.uint64)
        np.left_shift(prefixes, np.uint64(self._payload_bits), out=bounds[:n])
        np.add(bounds[:n], np.uint64(1 << self._payload_bits), out=bounds[n:])
        top = (1 << (64 - self._payload_bits)) - 1
        return bounds, [n + row for row, prefix in enumerate(wanted) if prefix == top] if top in wanted else []
