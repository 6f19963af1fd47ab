"""Fuzz targets of the core: postings, and records of MWO."""

from __future__ import annotations

import numpy as np

from dedupcrawl.core.overlap import TOTAL, Weights, cheapest_prefix, keys_of, overlap, possible
from dedupcrawl.core.postings import Tail, View


def postings(data: bytes) -> None:
    """The numbers that the bytes hold, looked up by half of these and their neighbours."""
    flags, rest = (data[-1], data[:-1]) if data else (0, b"")
    bits = np.uint64(flags & 63)
    keys = np.sort(np.frombuffer(rest, "<u8", count=len(rest) // 8).astype(np.uint64))
    wanted = np.unique(np.concatenate((keys[::2], keys[1::4] + np.uint64(1))) >> bits)
    pages = np.arange(len(keys), dtype=np.uint32)
    tail = Tail(int(bits))
    for page, key in enumerate(keys):
        tail.add(np.array([key]), page)
    expected = np.isin(keys >> bits, wanted)
    for view in (View([(keys, pages)], [], int(bits)), View([], [tail], int(bits))):
        counts = np.searchsorted(keys >> bits, wanted, "right") - np.searchsorted(keys >> bits, wanted, "left")
        assert view.count(wanted).tolist() == counts.tolist()
        found_keys, found = view.find(wanted)
        assert sorted(found.tolist()) == pages[expected].tolist()
        assert sorted(found_keys.tolist()) == keys[expected].tolist()


def overlaps(data: bytes) -> None:
    """Two records of the terms that the bytes hold, and bytes that are no records."""
    flags, rest = (data[-1], data[:-1]) if data else (0, b"")
    records = []
    for part in (rest[::2], rest[1::2]):
        weights = Weights()
        weights.add(part, flags + 1)
        records.append(weights.record(flags % 10 / 10, 40))
    for new, kept in (records, (rest, data), (data, rest)):
        shared = overlap(new, kept)
        keys = keys_of(kept)
        costs = (keys_of(new) & np.uint64(7)).astype(np.int64)
        places = cheapest_prefix(new, costs, 0, flags)
        pages = possible(new, places, keys, np.zeros(len(keys), dtype=np.uint32), 1, 0, 8)
        assert not shared or [new, kept] != records or pages.tolist() == [0]
    assert overlap(*records) == overlap(*records[::-1])
    assert overlap(records[0], records[0]) in (0, TOTAL)
