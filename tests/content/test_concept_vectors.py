from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.content.concept_network import MOST_POSITIONS, ConceptVector, KeyConcept, cosine, position_deviation

PLACES = st.lists(st.integers(0, 5000), min_size=1, max_size=30, unique=True).map(sorted)
VECTORS = st.dictionaries(st.sampled_from([f"c{n}" for n in range(12)]), PLACES, min_size=1)


def vector(places: dict[str, list[int]], length: int = 100) -> ConceptVector:
    return ConceptVector.of([KeyConcept(name, tuple(found)) for name, found in places.items()], length)


@given(VECTORS, st.integers(0, 20_000))
def test_a_vector_survives_its_bytes(places: dict[str, list[int]], length: int) -> None:
    made = vector(places, length)
    read = ConceptVector.from_bytes(made.to_bytes())
    assert read.length == length
    assert read.names.tolist() == made.names.tolist()
    assert read.weights.tolist() == [len(found) for found in places.values()]
    assert [found.tolist() for found in read.positions] == [found[:MOST_POSITIONS] for found in places.values()]


def test_cosine_of_two_vectors_by_hand() -> None:
    one, other = vector({"a": [1, 2, 3], "b": [4]}), vector({"a": [1, 2], "c": [5, 6]})
    assert cosine(one, other) == pytest.approx(3 * 2 / (math.sqrt(10) * math.sqrt(8)))


@given(VECTORS, VECTORS)
def test_both_measures_are_symmetric_and_bounded(one: dict[str, list[int]], other: dict[str, list[int]]) -> None:
    left, right = vector(one), vector(other)
    assert 0 <= cosine(left, right) <= 1
    assert cosine(left, right) == pytest.approx(cosine(right, left))
    assert position_deviation(left, right) == pytest.approx(position_deviation(right, left))
    assert cosine(left, left) == pytest.approx(1)
    assert position_deviation(left, left) == 0


@given(VECTORS, st.integers(0, 1000))
def test_text_inserted_at_the_top_of_either_page_does_not_count(places: dict[str, list[int]], shift: int) -> None:
    one = vector(places)
    other = vector({name: [place + shift for place in found] for name, found in places.items()})
    assert position_deviation(one, other) == pytest.approx(0, abs=1e-9)
    assert position_deviation(other, one) == pytest.approx(0, abs=1e-9)


def test_deviation_by_hand() -> None:
    one, other = vector({"a": [0, 10, 20], "b": [5]}, 40), vector({"a": [0, 10, 26, 30], "b": [7]}, 60)
    # a: differences 0, 0, -6: mean -2, deviation sqrt(8); b: none. Mean over both, over a mean length of 50.
    assert position_deviation(one, other) == pytest.approx(math.sqrt(8) / 2 / 50)


def test_blocks_in_another_order_count() -> None:
    one = vector({"a": [1, 9], "b": [20, 30], "c": [60, 80]})
    other = vector({"a": [41, 49], "b": [60, 70], "c": [5, 30]})
    swapped = vector({"a": [1, 80], "b": [20, 60], "c": [30, 61]})
    assert position_deviation(one, swapped) > position_deviation(one, other) > 0


def test_nothing_in_common() -> None:
    assert cosine(vector({"a": [1]}), vector({"b": [1]})) == 0
    assert position_deviation(vector({"a": [1]}), vector({"b": [1]})) == 0
