from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.feature_code_tables import longest_common_substring, repeatability
from dedupcrawl.content.checks.feature_code import common_run, shortest_run
from tests.fixtures import table_of

CODES = st.text("abc", max_size=40)


def brute_force(a: str, b: str) -> int:
    """Longest common substring by dynamic programming."""
    best, before = 0, [0] * (len(b) + 1)
    for x in a:
        row = [0]
        for place, y in enumerate(b):
            row.append(before[place] + 1 if x == y else 0)
        best, before = max(best, *row), row
    return best


@given(CODES, CODES)
def test_longest_common_substring(a: str, b: str) -> None:
    assert longest_common_substring(a, b) == brute_force(a, b)


@given(CODES.filter(bool), CODES, st.floats(0.5, 1, exclude_min=True))
def test_common_run_is_the_longest_common_substring_where_that_is_long_enough(
    new: str, kept: str, threshold: float
) -> None:
    least = shortest_run(len(new), threshold)
    longest = brute_force(new, kept)
    assert common_run(new, kept, least) == (longest if longest / len(new) >= threshold else 0)


@given(st.integers(1, 3000), st.floats(0.01, 1))
def test_shortest_run_is_the_first_that_reaches_the_threshold(length: int, threshold: float) -> None:
    run = shortest_run(length, threshold)
    assert run / length >= threshold
    assert run == 1 or (run - 1) / length < threshold
    assert abs(run - math.ceil(threshold * length)) <= 1


@table_of("content", "one_way")
def test_one_way(of_i: str, of_j: str, expected: float) -> None:
    assert repeatability(of_i, of_j) == pytest.approx(expected)
