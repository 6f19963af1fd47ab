"""Fuzz targets of the core: postings, and records of MWO."""

from __future__ import annotations

from array import array
from collections import Counter

from dedupcrawl.core.overlap import TOTAL, Weights, cheapest_prefix, keys_of, overlap, possible
from dedupcrawl.core.postings import Tail, View

_WORD = (1 << 64) - 1


def postings(data: bytes) -> None:
    """The numbers that the bytes hold, looked up by half of these and their neighbours."""
    flags, rest = (data[-1], data[:-1]) if data else (0, b"")
    bits = flags & 63
    keys = array("Q", sorted(array("Q", rest[: len(rest) // 8 * 8])))
    neighbours = [key + 1 & _WORD for key in keys[1::4]]
    wanted = array("Q", sorted({key >> bits for key in (*keys[::2], *neighbours)}))
    pages = array("I", range(len(keys)))
    tail = Tail(bits)
    for page, key in enumerate(keys):
        tail.add(array("Q", [key]), page)
    counts = Counter(key >> bits for key in keys)
    expected = [(key, page) for page, key in enumerate(keys) if key >> bits in set(wanted)]
    for view in (View([(keys, pages)], [], bits), View([], [tail], bits)):
        assert view.count(wanted) == [counts[prefix] for prefix in wanted]
        assert sorted(zip(*view.find(wanted), strict=True)) == expected


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
        costs = [key & 7 for key in keys_of(new)]
        places = cheapest_prefix(new, costs, 0, flags)
        pages = possible(new, places, keys, array("I", [0]) * len(keys), 1, 0, 8)
        assert not shared or [new, kept] != records or pages == [0]
    assert overlap(*records) == overlap(*records[::-1])
    assert overlap(records[0], records[0]) in (0, TOTAL)
