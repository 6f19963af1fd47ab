from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from dedupcrawl.content.another_page import COVERED
from dedupcrawl.content.facts import Facts
from dedupcrawl.content.probability import SPEAKS_FOR, features, model, probability, threshold

SAME = Facts(
    symbols=400,
    kept_symbols=900,
    covered=1.0,
    kept_covered=0.44,
    replaced=0,
    rewritten=0.0,
    inserted=0.0,
    added=0,
    added_at_ends=0,
    skips=0,
    moves=0,
    numbers_same=5,
    numbers_changed=0,
    figures_changed=0,
    renamed=0,
    exchanged=0,
    edits=0,
    unexpected=0.0,
    negated=0,
    contrary=0,
    moved=0,
    own=0,
    own_inside=0,
    pieces=0,
    filled=0,
    own_before=0,
    own_after=0,
)


def facts() -> st.SearchStrategy[Facts]:
    share, count = st.floats(0, 1), st.integers(0, 20_000)
    return st.builds(Facts, *[share if name in SHARES else count for name in Facts.__struct_fields__])


SHARES = {"covered", "kept_covered", "rewritten", "inserted", "unexpected"}


@given(facts())
def test_a_probability_for_anything(found: Facts) -> None:
    assert 0 <= probability(found) <= 1


@given(facts())
def test_nothing_is_a_duplicate_that_the_kept_page_does_not_hold(found: Facts) -> None:
    assert probability(replace(found, covered=COVERED - 0.01)) == 0


def test_every_weight_has_its_sign() -> None:
    names = features(SAME).keys()
    assert names >= SPEAKS_FOR
    for name, weight in model().weights.items():
        assert name in names
        assert (weight > 0) == (name in SPEAKS_FOR)


def test_an_excerpt_is_a_duplicate() -> None:
    assert probability(SAME) > 0.99


def test_the_same_text_is_one_however_short() -> None:
    assert probability(replace(SAME, symbols=3, kept_symbols=3, kept_covered=1.0, numbers_same=0)) == 1


@pytest.mark.parametrize(
    "different",
    [
        {"replaced": 60, "rewritten": 0.15, "covered": 0.85},
        {"inserted": 0.2, "covered": 0.8},
        {"skips": 20},
        {"numbers_changed": 4, "figures_changed": 4, "numbers_same": 1},
        {"exchanged": 2, "unexpected": 1.8, "replaced": 1, "renamed": 1},
        {"edits": 1, "negated": 1, "contrary": 1},
    ],
)
def test_what_makes_it_another_page(different: dict[str, float]) -> None:
    assert probability(replace(SAME, **different)) < threshold(0.998)


def test_the_higher_the_precision_the_higher_the_threshold() -> None:
    least = [threshold(precision / 1000) for precision in range(900, 1000)]
    assert least == sorted(least)
    assert 0 < threshold(0.998) < 1


def test_a_precision_that_was_never_reached_drops_what_is_certain_only() -> None:
    assert threshold(1.0) == 1.0
