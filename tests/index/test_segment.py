"""Merged sorted tables, the view over them against a scan of all postings, and packed records."""

from __future__ import annotations

import contextlib
from array import array
from collections import Counter
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.core.postings import Postings, Tail
from dedupcrawl.index import record
from dedupcrawl.index.catalog import Batch
from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.record import (
    Entry,
    compressed,
    decompressed,
    pack,
    record_of,
    signatures,
    unpack,
)
from dedupcrawl.index.segment import (
    FAN_OUT,
    Ended,
    Table,
    merge_from,
    merge_tables,
)
from tests.fixtures import table_of

KEYS = st.one_of(st.sampled_from([0, 1, 7, (1 << 64) - 1]), st.integers(0, (1 << 64) - 1))
POSTINGS = st.lists(st.tuples(KEYS, st.integers(100, 130)), max_size=60)


def table(postings: list[tuple[int, int]]) -> Table:
    postings = sorted(postings)
    return array("Q", [key for key, _ in postings]), array("I", [page for _, page in postings])


def among(ended: Iterable[int], end: int) -> Ended:
    flags = bytearray(end)
    for page in ended:
        flags[page] = True
    return bytes(flags)


def as_counter(keys: list[int], ids: list[int]) -> Counter[tuple[int, int]]:
    return Counter(zip(keys, ids, strict=True))


@given(st.lists(POSTINGS, max_size=5), st.integers(1, 40), st.sets(st.integers(100, 130)))
def test_merge_is_sorted_complete_and_bounded(parts: list[list[tuple[int, int]]], chunk: int, ended: set[int]) -> None:
    pieces = list(merge_tables([table(part) for part in parts], among(ended, 131), chunk))
    keys = [key for piece, _ in pieces for key in piece.tolist()]
    ids = [page for _, piece in pieces for page in piece.tolist()]
    assert keys == sorted(keys)
    assert as_counter(keys, ids) == Counter(row for part in parts for row in part if row[1] not in ended)
    assert all(0 < len(piece) <= chunk for piece, _ in pieces)


def test_a_key_with_more_postings_than_a_chunk_is_passed_on_piecewise() -> None:
    hot = table([(5, page) for page in range(1000)] + [(6, 1000)])
    other = table([(1, 2000), (5, 2001), (9, 2002)])
    pieces = list(merge_tables([hot, other], b"", chunk=50))
    assert max(len(keys) for keys, _ in pieces) <= 50
    assert [key for keys, _ in pieces for key in keys.tolist()] == [1] + [5] * 1001 + [6, 9]


@table_of("index", "which_segments_are_merged")
def test_which_segments_are_merged(sizes: list[int], new: int, stay: int) -> None:
    batch = 64
    assert merge_from([size * batch for size in sizes], new * batch, batch) == stay


@given(st.lists(st.integers(1, 5), min_size=1, max_size=300))
def test_no_level_ever_holds_two(batches: list[int]) -> None:
    sizes: list[int] = []
    for new in batches:
        stay = merge_from(sizes, new, 1)
        sizes = [*sizes[:stay], sum(sizes[stay:]) + new]
    bounds = [FAN_OUT ** (level + 1) for level in range(5)]
    levels = [sum(size > bound for bound in bounds) for size in sizes]
    assert levels == sorted(set(levels), reverse=True)
    assert sum(sizes) == sum(batches)


EDGES = st.sampled_from([0, 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 2, (1 << 64) - 1])
POSTING_KEYS = st.one_of(EDGES, st.integers(0, 1 << 8), st.integers(0, (1 << 64) - 1))


@pytest.mark.parametrize("payload_bits", [0, 1, 8, 46, 63])
def test_counts_and_finds_as_a_scan(payload_bits: int) -> None:
    @given(
        st.lists(st.lists(POSTING_KEYS, max_size=12), max_size=5),
        st.integers(0, 5),
        st.lists(POSTING_KEYS, max_size=6),
    )
    def agrees(groups: list[list[int]], in_segments: int, wanted: list[int]) -> None:
        every: list[tuple[int, int]] = []
        tables: list[Table] = []
        tail: list[Tail] = []
        for number, group in enumerate(groups):
            pages = [number * 100 + place for place in range(len(group))]
            every += zip(group, pages, strict=True)
            if number < in_segments:
                rows = sorted(zip(group, pages, strict=True))
                tables.append((array("Q", [key for key, _ in rows]), array("I", [page for _, page in rows])))
            else:
                found = Tail(payload_bits)
                for key, page in zip(group, pages, strict=True):
                    found.add(array("Q", [key]), page)
                tail.append(found)
        view = Postings(tables, tail, payload_bits)
        prefixes = sorted({key >> payload_bits for key in [*wanted, *(key for key, _ in every[::3])]})
        keys, ids = view.find(array("Q", prefixes))
        assert sorted(zip(keys.tolist(), ids.tolist(), strict=True)) == sorted(
            row for row in every if row[0] >> payload_bits in prefixes
        )
        counts = view.count(array("Q", prefixes))
        assert counts == [sum(key >> payload_bits == prefix for key, _ in every) for prefix in prefixes]

    agrees()


PAYLOAD_BITS = (0, 8)


@given(st.lists(st.tuples(st.lists(st.integers(0, 5), max_size=4), st.lists(st.integers(0, 600), max_size=40))))
def test_found_at_once_and_folded(pages: list[tuple[list[int], list[int]]]) -> None:
    batch = Batch(100, PAYLOAD_BITS)
    expected: list[list[tuple[int, int]]] = [[], []]
    for number, tables in enumerate(pages):
        batch.add([array("Q", keys) for keys in tables])
        for table, keys in enumerate(tables):
            expected[table] += [(key, 100 + number) for key in keys]
    assert (batch.first, batch.end) == (100, 100 + len(pages))
    segment = batch.fold()
    for table, bits in enumerate(PAYLOAD_BITS):
        prefixes = array("Q", sorted({key >> bits for key, _ in expected[table]}))
        found = Postings([], [batch.tails[table]], bits).find(prefixes)
        assert sorted(zip(*(part.tolist() for part in found), strict=True)) == sorted(expected[table])
        assert len(batch.tails[table]) == len(expected[table])
        folded, owners = segment.tables[table]
        assert folded.tolist() == sorted(key for key, _ in expected[table])
        assert sorted(zip(folded.tolist(), owners.tolist(), strict=True)) == sorted(expected[table])


NAMES = ("equal", "letters", "third")
TEXT = st.text(max_size=20)

ENTRIES = st.builds(
    Entry,
    url=TEXT,
    site=TEXT,
    spider=TEXT,
    run=TEXT,
    kept_at=st.floats(allow_nan=False),
    title=TEXT,
    signatures=st.dictionaries(st.sampled_from(NAMES), st.binary(max_size=40)),
    # Long ones are packed.
    outline=st.binary(max_size=100) | st.binary(min_size=40, max_size=50).map(lambda raw: raw * 50),
)
IDS = st.lists(st.integers(0, (1 << 32) - 1), max_size=3).map(tuple)


@given(ENTRIES)
def test_a_record_in_the_place_of_another_is_seen(entry: Entry) -> None:
    with pytest.raises(IndexDamagedError):
        unpack(pack(record_of(entry, NAMES, (), ()), 5), 6)


@given(ENTRIES, st.data())
def test_every_changed_bit_is_seen(entry: Entry, data: st.DataObject) -> None:
    raw = bytearray(pack(record_of(entry, NAMES, (1,), ()), 5))
    bit = data.draw(st.integers(0, 8 * len(raw) - 1))
    raw[bit // 8] ^= 1 << bit % 8
    with pytest.raises(IndexDamagedError):
        unpack(bytes(raw), 5)
    with contextlib.suppress(IndexDamagedError):  # read without its checksum
        signatures(bytes(raw), 5)


def test_a_bomb_is_unpacked_no_further_than_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = compressed(bytes(100_000))
    assert decompressed(packed, "it") == bytes(100_000)
    for raw in (packed[:-1], packed + b"x"):
        with pytest.raises(IndexDamagedError, match="it cannot be read"):
            decompressed(raw, "it")
    monkeypatch.setattr(record, "_MOST", 1_000)
    with pytest.raises(IndexDamagedError, match="too large"):
        decompressed(packed, "it")
