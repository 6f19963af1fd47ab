"""Equal numbers: found as a dictionary finds them, with and without the compiled table."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.urls.learning import kernels
from dedupcrawl.urls.learning.groups import grouped, grouped_pairs, places
from tests.both_ways import BothWays

both_ways = BothWays(kernels)
HASHES = st.lists(st.integers(0, 3) | st.integers(0, 2**64 - 1) | st.sampled_from([k << 60 for k in range(16)]))


@given(HASHES)
def test_groups_count_in_the_order_of_their_first_numbers(hashes: list[int]) -> None:
    group, first = grouped(np.array(hashes, dtype=np.uint64))
    numbers = {number: i for i, number in enumerate(dict.fromkeys(hashes))}
    assert group.tolist() == [numbers[number] for number in hashes]
    assert first.tolist() == [hashes.index(number) for number in numbers]


@given(HASHES, HASHES)
def test_the_first_place_of_each_wanted_number(hashes: list[int], others: list[int]) -> None:
    wanted = [*others, *hashes]
    found = places(np.array(hashes, dtype=np.uint64), np.array(wanted, dtype=np.uint64))
    assert found.tolist() == [hashes.index(number) if number in hashes else -1 for number in wanted]


@both_ways.needed
@given(HASHES, HASHES)
def test_both_ways(hashes: list[int], wanted: list[int]) -> None:
    own, asked = np.array(hashes, dtype=np.uint64), np.array(wanted, dtype=np.uint64)
    both_ways(lambda: [found.tolist() for found in (*grouped(own), places(own, asked))])


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0, 1, 1 << 40, (1 << 62) - 1])), max_size=12))
def test_pairs_are_grouped_by_both(pairs: list[tuple[int, int]]) -> None:
    one, other = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    group, first = grouped_pairs(one, other)
    assert first.tolist() == [pairs.index(pair) for pair in dict.fromkeys(pairs)]
    assert [pairs[first[number]] for number in group.tolist()] == pairs
