"""The view over segments and tail against a scan of all postings."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.core.postings import Postings, Tail
from dedupcrawl.index.catalog import Batch
from dedupcrawl.index.segment import Table

EDGES = st.sampled_from([0, 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 2, (1 << 64) - 1])
KEYS = st.one_of(EDGES, st.integers(0, 1 << 8), st.integers(0, (1 << 64) - 1))


@pytest.mark.parametrize("payload_bits", [0, 1, 8, 46, 63])
def test_counts_and_finds_as_a_scan(payload_bits: int) -> None:
    @given(st.lists(st.lists(KEYS, max_size=12), max_size=5), st.integers(0, 5), st.lists(KEYS, max_size=6))
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
