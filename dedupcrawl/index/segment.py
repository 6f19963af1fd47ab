"""Segments: immutable sorted postings of a contiguous range of page ids, and how several are merged into one.

The index is a log-structured merge tree (O'Neil et al. 1996) with levelled merging: level l holds at most
BATCH_PAGES · FAN_OUT^(l+1) pages in one segment, so a search asks a handful of segments however many pages there are,
and a posting is rewritten about FAN_OUT / 2 times a level.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content.checks.base import Keys, PageIds

FAN_OUT = 16
CHUNK_POSTINGS = 1 << 16  # merged at a time: 0.75 MB in, as much out; about a millisecond

NO_KEYS: Keys = np.empty(0, dtype=np.uint64)
NO_IDS: PageIds = np.empty(0, dtype=np.uint32)

Table = tuple[Keys, PageIds]
"""Parallel arrays: keys, ascending, and the page of each."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Postings of the records `first` ≤ id < `end`: one Table for each table of the schema."""

    first: int
    end: int
    tables: tuple[Table, ...]

    @property
    def pages(self) -> int:
        """How many records it covers."""
        return self.end - self.first


@dataclass(frozen=True, slots=True)
class Dropped:
    """Which pages of a range are left out of a merge, because they were replaced or forgotten.

    Attributes:
        first: Id of the first page of the range.
        pages: Shape (pages of the range,): True for a page that is left out.
    """

    first: int
    pages: NDArray[np.bool_]

    def among(self, ids: PageIds) -> NDArray[np.bool_]:
        """Shape (n,) → (n,): which of these postings are left out; all ids must lie in the range."""
        left_out: NDArray[np.bool_] = self.pages[ids - np.uint32(self.first)]
        return left_out

    def count(self, parts: Sequence[Table]) -> int:
        """How many postings of these tables are left out, in bounded memory."""
        return sum(
            int(np.count_nonzero(self.among(ids[at : at + CHUNK_POSTINGS])))
            for _, ids in parts
            for at in range(0, ids.size, CHUNK_POSTINGS)
        )


def dropped(first: int, end: int, ended: NDArray[np.uint64]) -> Dropped | None:
    """What to leave out of a merge of first … end, given the ids of all ended pages; None when that is nothing."""
    mine = ended[(ended >= first) & (ended < end)]
    if not mine.size:
        return None
    pages = np.zeros(end - first, dtype=np.bool_)
    pages[(mine - np.uint64(first)).astype(np.int64)] = True
    return Dropped(first, pages)


def sort_table(keys: Keys, ids: PageIds) -> Table:
    """One table in the order of its keys."""
    order = np.argsort(keys)
    return keys[order], ids[order]


def merge_tables(parts: Sequence[Table], left_out: Dropped | None, chunk: int = CHUNK_POSTINGS) -> Iterator[Table]:
    """Merge sorted tables into one, chunk by chunk.

    Memory stays bounded whatever the keys are: a key with more postings than a chunk is passed on piecewise.

    Args:
        parts: Sorted tables.
        left_out: Pages whose postings are left out.
        chunk: Postings in hand at a time, about.

    Yields:
        Pieces of the merged table, in order, none empty.
    """
    for keys, ids in _merged(parts, chunk):
        if left_out is not None:
            stays = ~left_out.among(ids)
            keys, ids = keys[stays], ids[stays]  # noqa: PLW2901  the filtered piece takes the place of the piece
        if keys.size:
            yield keys, ids


def _merged(parts: Sequence[Table], chunk: int) -> Iterator[Table]:
    rest = [part for part in parts if part[0].size]
    while rest:
        share = max(1, chunk // len(rest))
        # No part has more than `share` postings below this key.
        bound = min(keys[min(share, keys.size) - 1] for keys, _ in rest)
        stops = [int(keys.searchsorted(bound, side="right")) for keys, _ in rest]
        if sum(stops) <= 2 * chunk:
            yield _sorted_union([(keys[:stop], ids[:stop]) for (keys, ids), stop in zip(rest, stops, strict=True)])
        else:
            starts = [int(keys.searchsorted(bound, side="left")) for keys, _ in rest]
            yield _sorted_union([(keys[:start], ids[:start]) for (keys, ids), start in zip(rest, starts, strict=True)])
            for (keys, ids), start, stop in zip(rest, starts, stops, strict=True):
                for at in range(start, stop, chunk):
                    end = min(at + chunk, stop)
                    yield keys[at:end], ids[at:end]
        rest = [(keys[stop:], ids[stop:]) for (keys, ids), stop in zip(rest, stops, strict=True) if stop < keys.size]


def _sorted_union(parts: Sequence[Table]) -> Table:
    parts = [part for part in parts if part[0].size] or list(parts[:1])
    if len(parts) == 1:
        return parts[0]
    keys = np.concatenate([part[0] for part in parts])
    order = np.argsort(keys, kind="stable")  # timsort: it merges what is sorted already
    return keys[order], np.concatenate([part[1] for part in parts])[order]


def merge_from(sizes: Sequence[int], new: int, batch_pages: int) -> int:
    """Which segments a new one is merged with, so that no level holds two.

    Args:
        sizes: Pages of the segments, oldest first.
        new: Pages of the new segment.
        batch_pages: Pages of a batch.

    Returns:
        How many of the old segments stay; the others become one with the new.
    """
    stay = len(sizes)
    while stay and _level(sizes[stay - 1], batch_pages) <= _level(new, batch_pages):
        stay -= 1
        new += sizes[stay]
    return stay


def _level(pages: int, batch_pages: int) -> int:
    level = 0
    while pages > batch_pages * FAN_OUT ** (level + 1):
        level += 1
    return level
