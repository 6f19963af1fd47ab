from __future__ import annotations

from fractions import Fraction

import mmh3
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.mwo_records import Record, record_of
from dedupcrawl.content.checks.mwo import FieldWeights, add_fields
from dedupcrawl.content.terms import term_hash
from dedupcrawl.core.overlap import TOTAL, Weights, cheapest_prefix, overlap
from dedupcrawl.page import Page

WORDS = [f"word{number}" for number in range(40)]
WEIGHTS = st.dictionaries(st.sampled_from(WORDS), st.integers(1, 10**6), min_size=1)


def arrays(weights: dict[str, int], *, dropped: float = 0, most: int = 1000) -> Record:
    return Record.from_bytes(record_of(weights, dropped=dropped, most=most))


def exact(one: dict[str, int], other: dict[str, int]) -> Fraction:
    return sum(
        (min(Fraction(one[x], sum(one.values())), Fraction(other[x], sum(other.values()))) for x in one.keys() & other),
        Fraction(0),
    )


class TestTable3:
    """The paper's worked example: r1 = {x2, x1, x3}, r2 = {x4, x1, x3}; only x1 and x3 count."""

    def test_sum_of_minima(self) -> None:
        r1, r2 = {"x2": 2, "x1": 5, "x3": 3}, {"x4": 4, "x1": 4, "x3": 2}
        assert overlap(record_of(r1), record_of(r2)) == pytest.approx(0.6 * TOTAL, abs=2)  # .4 + .2


@given(WEIGHTS, WEIGHTS)
def test_overlap_is_mwo_but_for_rounding(one: dict[str, int], other: dict[str, int]) -> None:
    assert overlap(record_of(one), record_of(other)) / TOTAL == pytest.approx(float(exact(one, other)), abs=40 / TOTAL)


@given(WEIGHTS, WEIGHTS)
def test_overlap_is_symmetric_and_whole_for_the_same_distribution(one: dict[str, int], other: dict[str, int]) -> None:
    assert overlap(record_of(one), record_of(other)) == overlap(record_of(other), record_of(one))
    assert overlap(record_of(one), record_of({word: 7 * weight for word, weight in one.items()})) == TOTAL


@given(WEIGHTS)
def test_overlap_is_one_less_the_total_variation_distance(weights: dict[str, int]) -> None:
    one, other = dict(weights), dict.fromkeys(WORDS, 1)
    shares = [dict(zip(each.hashes.tolist(), each.weights.tolist(), strict=True)) for each in map(arrays, (one, other))]
    distance = sum(abs(shares[0].get(x, 0) - shares[1].get(x, 0)) for x in shares[0].keys() | shares[1]) / 2
    assert overlap(record_of(one), record_of(other)) == TOTAL - distance


@given(WEIGHTS)
def test_a_record_is_whole_shares_of_terms_in_order(weights: dict[str, int]) -> None:
    made = arrays(weights)
    assert int(made.weights.sum()) == TOTAL
    assert (np.diff(made.hashes.astype(np.int64)) > 0).all()
    total = sum(weights.values())
    exact_shares = {term_hash(word): Fraction(TOTAL * weight, total) for word, weight in weights.items()}
    for hashed, share in zip(made.hashes.tolist(), made.weights.tolist(), strict=True):
        assert abs(share - exact_shares[hashed]) < 1


@given(WEIGHTS, st.sampled_from([0, 0.1, 0.3]), st.integers(1, 50))
def test_the_lightest_terms_go_first(weights: dict[str, int], dropped: float, most: int) -> None:
    kept = set(arrays(weights, dropped=dropped, most=most).hashes.tolist())
    of_hash = {mmh3.hash(word, signed=False): weight for word, weight in weights.items()}
    order = sorted(of_hash, key=lambda value: (-of_hash[value], value))
    light: list[int] = []
    while order and sum(of_hash[value] for value in [*light, order[-1]]) <= dropped * sum(weights.values()):
        light.append(order.pop())
    assert kept <= set(order[:most])  # a share too small to be stored goes too
    assert all(of_hash[value] * TOTAL < 2 * sum(weights.values()) for value in set(order[:most]) - kept)


def test_table_1_weighs_each_field() -> None:
    page = Page(
        "https://apple.example/banana?cherry=%E8%8B%B9%E6%9E%9C",
        title="banana",
        headings=("banana", "date"),
        keywords="elder",
        description="elder fig",
        anchors_same_site=("fig grape",),
        anchors_other_sites=("grape",),
    )
    expected = {
        "appl": 2000,
        "exampl": 2000,
        "banana": 2000 + 2000 + 2000,
        "cherri": 2000,
        "苹果": 2000,
        "date": 2000,
        "elder": 6000,
        "fig": 3000 + 1000,
        "grape": 1000 + 500,
    }
    weights = Weights()
    add_fields(weights, page, FieldWeights())
    assert weights.record(0, 1000) == record_of(expected)


@pytest.mark.parametrize(
    "text", ["", "main", "main=x", "body=1", "main=1 main=2", "main=-1", "main=101", "main=nan", "url=0"]
)
def test_wrong_field_weights_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        FieldWeights.parse(text)


@given(st.lists(st.tuples(st.integers(1, 900), st.integers(0, 50)), min_size=1, max_size=50), st.floats(0, 0.9))
def test_a_prefix_leaves_no_more_than_it_may(terms: list[tuple[int, int]], share: float) -> None:
    made = record_of({f"t{number}": weight for number, (weight, _) in enumerate(terms)})
    weights = Record.from_bytes(made).weights
    costs = [cost for _, cost in terms][: len(weights)]
    most_left = int(share * TOTAL)
    assert len(cheapest_prefix(made, costs, TOTAL + 1, most_left)) == 0, "no page shares more than all"
    prefix = cheapest_prefix(made, costs, 0, most_left)
    assert len(set(prefix)) == len(prefix)
    assert TOTAL - weights[prefix].sum() <= most_left
    assert {place for place, cost in enumerate(costs) if not cost} <= set(prefix)
