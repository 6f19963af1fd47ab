"""Batches of the tail: what is added is found at once, and folds into a sorted segment."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.index.postings import Batch, PostingsView

PAYLOAD_BITS = (0, 8)


@given(st.lists(st.tuples(st.lists(st.integers(0, 5), max_size=4), st.lists(st.integers(0, 600), max_size=40))))
def test_found_at_once_and_folded(pages: list[tuple[list[int], list[int]]]) -> None:
    batch = Batch(100, PAYLOAD_BITS)
    expected: list[list[tuple[int, int]]] = [[], []]
    for number, tables in enumerate(pages):
        batch.add([np.array(keys, dtype=np.uint64) for keys in tables])
        for table, keys in enumerate(tables):
            expected[table] += [(key, 100 + number) for key in keys]
    assert (batch.first, batch.end) == (100, 100 + len(pages))
    segment = batch.fold()
    for table, bits in enumerate(PAYLOAD_BITS):
        prefixes = np.array(sorted({key >> bits for key, _ in expected[table]}), dtype=np.uint64)
        found = PostingsView([], [batch.found[table]], bits).find(prefixes)
        assert sorted(zip(*(part.tolist() for part in found), strict=True)) == sorted(expected[table])
        assert batch.postings(table) == len(expected[table])
        folded, owners = segment.tables[table]
        assert folded.tolist() == sorted(key for key, _ in expected[table])
        assert sorted(zip(folded.tolist(), owners.tolist(), strict=True)) == sorted(expected[table])
