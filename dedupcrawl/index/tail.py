"""The tail: postings of the newest pages, which are not in a segment yet, in memory and ready to be searched."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dedupcrawl.content.checks.base import Keys
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
