"""Merging sorted tables, and which segments are merged."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.index.segment import FAN_OUT, Ended, Table, merge_from, merge_tables

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


@pytest.mark.parametrize(
    ("sizes", "new", "stay"),
    [
        ([], 1, 0),
        ([1], 1, 0),  # level 0 has room
        ([FAN_OUT - 1], 1, 0),  # and is full now
        ([FAN_OUT], 1, 0),  # too large for level 0: it moves to level 1
        ([FAN_OUT + 1], 1, 1),  # level 1 is left alone
        ([FAN_OUT + 1, 5], 1, 1),
        ([FAN_OUT + 1, FAN_OUT], 1, 0),  # level 0 overflows into level 1
        ([FAN_OUT**2 + 1, FAN_OUT + 1, FAN_OUT], 1, 1),
        ([FAN_OUT**2 + 1, FAN_OUT**2 - 5, FAN_OUT], 1, 0),  # and that into level 2
    ],
)
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
