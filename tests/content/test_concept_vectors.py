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
