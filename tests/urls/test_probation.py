from __future__ import annotations

import doctest
from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.urls import bounds, probation
from dedupcrawl.urls.bounds import lower_bound, upper_bound
from dedupcrawl.urls.probation import TARGET, is_refuted, state_in_use
from dedupcrawl.urls.rule import Rule, Source, State
from dedupcrawl.urls.watched_rule import WatchedRule
from tests.fixtures import table_of


def test_the_examples() -> None:
    assert doctest.testmod(probation).failed == 0
    assert doctest.testmod(bounds).failed == 0


@given(st.integers(0, 300), st.integers(1, 300))
def test_the_bound_is_that_of_the_binomial_distribution(passed: int, failed: int) -> None:
    """At the bound, so few or fewer right ones are to be expected in one of twenty cases."""
    from scipy.stats import binom  # type: ignore[import-untyped]  # scipy ships no types

    bound = upper_bound(passed, failed)
    assert binom.cdf(passed, passed + failed, bound) == pytest.approx(0.05, rel=1e-3)
    assert passed / (passed + failed) < bound < 1


@given(st.integers(0, 200), st.integers(0, 50))
def test_more_failures_never_clear_a_rule(passed: int, failed: int) -> None:
    assert is_refuted(passed, failed + 1) or not is_refuted(passed, failed)
    assert is_refuted(passed, failed) or not is_refuted(passed + 1, failed)


def test_a_rule_that_reaches_the_target_is_not_refuted() -> None:
    assert not any(is_refuted(n - round(n * (1 - TARGET)), round(n * (1 - TARGET))) for n in range(50, 2_000, 50))


def uses_tried(rule: Rule, uses: int, share: float = 0.02, fails: int = 0, seed: int = 1) -> list[int]:
    """Which uses of a rule are tried, one by one, in a crawl in which the first `fails` trials fail."""
    watched, due, chance = WatchedRule.of(rule, "a.com"), [], Random(seed)
    for use in range(1, uses + 1):
        url = f"http://a.com/x?a={use}"
        is_tried = watched.is_due(url, share, chance)
        watched.count(url, Random(0), is_tried=is_tried, is_fetched=False)
        if is_tried:
            due.append(use)
            section = watched.sections.of(url)
            section.begin()
            section.fails(url) if len(due) <= fails else section.passes(url)
            section.end()
    return due


SEEDS = range(40)


@pytest.mark.parametrize(("tried", "least", "most"), [(0, 8, 13), (10, 5, 9), (50, 2, 4), (5_000, 2, 4)])
def test_a_rule_in_use_is_tried_again_and_again(tried: int, least: float, most: float) -> None:
    """At the first use of each crawl, and then in proportion to the share that may be wrong."""
    rule = Rule("a", "rewrite", drop=("a",), tried=tried)
    due = [uses_tried(rule, 400, seed=seed) for seed in SEEDS]
    assert {one[0] for one in due} == {1}
    assert least <= sum(map(len, due)) / len(due) <= most


def test_which_uses_are_tried_nobody_can_foresee() -> None:
    """Else a site could be honest in these alone."""
    due = Counter(use for seed in SEEDS for use in uses_tried(Rule("a", "rewrite", drop=("a",)), 100, seed=seed))
    assert due.pop(1) == len(SEEDS)
    assert len(due) > len(SEEDS)
    assert max(due.values()) < len(SEEDS)


@table_of("urls", "what_no_person_made_is_tried_before_it_is_on_again")
def test_what_no_person_made_is_tried_before_it_is_on_again(source: Source, tried: int, state: State) -> None:
    assert state_in_use(Rule("x", "rewrite", drop=("sid",), source=source, tried=tried, state="disabled")) == state


@pytest.mark.parametrize(
    ("right", "wrong"), [(14, 0), (13, 1), (1_000, 0), (20_000, 12), (200_000, 30_000), (3, 5), (0, 4), (1, 0)]
)
def test_the_lower_bound_is_that_of_clopper_and_pearson(right: int, wrong: int) -> None:
    from scipy.stats import beta

    expected = beta.ppf(0.05, right, wrong + 1) if right else 0.0
    assert lower_bound(right, wrong) == pytest.approx(expected, abs=1e-6)
