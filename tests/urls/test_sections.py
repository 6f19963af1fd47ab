"""Trials of rules: how many there are, in which parts of a site, and what they say."""

from __future__ import annotations

import doctest
from collections import Counter
from dataclasses import replace
from random import Random
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.urls import bounds, probation, sections
from dedupcrawl.urls.belief import Belief
from dedupcrawl.urls.bounds import lower_bound, upper_bound
from dedupcrawl.urls.learning.likely import LIKELY
from dedupcrawl.urls.probation import TARGET, TRIALS_FOR_A_FAILURE, is_refuted, passes_lacking, state_in_use
from dedupcrawl.urls.rule import Evidence, Rule, Source, State
from dedupcrawl.urls.sections import Section, Sections, traits
from tests.fixtures import table_of

EXAMPLE = ("http://a.com/view?doc=1&zoom=2", "http://a.com/view?doc=1")
RULE = Rule("zoom", "rewrite", drop=("zoom",), source="learned", evidence=Evidence(correct=40), examples=(EXAMPLE,))

WORDS = [
    "copper", "ginger", "golden", "amber", "silver", "bronze", "scarlet", "ivory", "teal",
    "green", "black", "white", "orange", "purple", "yellow", "violet", "brown",
]  # fmt: skip


@pytest.mark.parametrize("module", [bounds, probation, sections])
def test_the_examples(module: ModuleType) -> None:
    assert doctest.testmod(module).failed == 0


@table_of("urls", "what_sites_route_by_tells_places_apart")
def test_what_sites_route_by_tells_places_apart(url: str, other: str, is_one: bool) -> None:
    found = Sections(RULE)
    assert (found.of(url) is found.of(other)) is is_one


@table_of("urls", "what_has_capitals_is_a_name_of_which_the_space_counts")
def test_what_has_capitals_is_a_name_of_which_the_space_counts(url: str, section: list[str]) -> None:
    assert tuple(section) in traits(url)
    assert "Main" not in str(traits(url))


@pytest.mark.parametrize(
    ("rule", "sections"),
    [
        (Rule("campaign", "rewrite", drop=("utm_*",)), 2),
        (Rule("all", "rewrite", drop=("*",)), 1),
        (Rule("but-its-own", "equivalence", match="?by={}", drop=("*",)), 2),
        (Rule("other", "rewrite", drop=("ut*x",)), 8),
    ],
)
def test_what_a_rule_drops_by_the_start_of_its_name_tells_no_places_apart(rule: Rule, sections: int) -> None:
    found = Sections(replace(rule, source="software"))
    urls = [
        f"http://a.com/map?by={by}&utm_source={source}&utm_medium={medium}"
        for by in ("name", "size")
        for source in WORDS[:2]
        for medium in WORDS[2:4]
    ]
    assert len({id(found.of(url)) for url in urls}) == sections


def test_the_more_places_a_rule_has_passed_in_the_fewer_trials_a_new_one_needs() -> None:
    found = Sections(Rule("limit", "rewrite", drop=("limit",), source="learned", examples=(EXAMPLE,)))
    sections = []
    for number in range(24):
        word, folder = WORDS[number % 12], WORDS[number // 12]
        sections.append(found.of(f"http://a.com/{folder}/search?q={word}&limit=5"))
        for _ in range(50):  # of one place they say little about the next
            sections[-1].passes()
    assert [section.before[0] for section in sections] == [number // 4 for number in range(1, 25)]
    assert found.of(f"http://a.com/search?q={WORDS[11]}&limit=5") is sections[-1], "no more are tried apart"


def test_after_a_failure_each_new_place_is_tried_as_if_nothing_were_known() -> None:
    found = Sections(RULE)
    for word in WORDS[:8]:
        found.of(f"http://a.com/{word}?zoom=1").passes()
    assert found.of("http://a.com/map?zoom=1").lacking == 0
    found.of("http://a.com/ginger?zoom=1").fails()
    assert found.of("http://a.com/list?zoom=1").lacking == 2


def test_where_a_rule_is_off_it_stays_off_when_words_turn_out_to_be_names() -> None:
    """Of scripts there may be many, too."""
    found = Sections(RULE)
    off = found.of("http://a.com/map?doc=1&zoom=2")
    off.fails()
    assert found.switch_off(off)
    for word in WORDS:
        found.of(f"http://a.com/{word}?doc=1&zoom=2").passes()
    assert found.is_off("http://a.com/map?doc=3&zoom=2")
    assert found.of("http://a.com/map?doc=3&zoom=2") is off
    assert not found.is_off("http://a.com/view?doc=3&zoom=2")
    assert not found.is_off("http://a.com/maps?doc=3&zoom=2")
    assert (off.passed, off.failed, off.is_wanting) == (0, 1, False)


@pytest.mark.parametrize("tried", ["/", ""])
def test_where_a_rule_is_off_it_is_off_in_the_next_crawl_whichever_form_was_on_trial(tried: str) -> None:
    rule = LIKELY["likely./{p*}/"]
    watched = Belief.of(rule, "a.com")
    section = watched.sections.of(f"http://a.com/f/1{tried}")
    section.fails(f"http://a.com/f/1{tried}", "http://a.com/f/1" + ("" if tried else "/"))
    assert watched.sections.switch_off(section)
    later = Belief.of(replace(rule, counterexamples=watched.news.counterexamples), "a.com")
    assert later.sections.is_off("http://a.com/f/2/")
    assert later.sections.is_off("http://a.com/f/2")
    assert not later.sections.is_off("http://a.com/g/2/")


def test_a_rule_is_switched_off_in_so_many_places_and_no_more() -> None:
    found = Sections(RULE)
    switched = [found.switch_off(found.of(f"http://{n}.com/")) for n in range(14)]
    switched += [found.switch_off(found.of(f"http://a.com/?view={word}")) for word in WORDS[:10]]
    assert switched == [True] * 16 + [False] * 8


def test_of_a_url_only_so_much_is_looked_at() -> None:
    """However long it is, and however many arguments it has."""
    words = [f"{one}{other}" for one in WORDS for other in WORDS]
    for url in (
        f"http://a.com/view?{'&'.join(f'{word}=yes' for word in words)}",
        f"http://{'a' * 999}/{'b' * 999}/{'c' * 999}.{'d' * 999}?{'e' * 999}=on&f={'g' * 999}",
    ):
        assert sum(len(position) + len(word) for position, word in traits(url)) < 1_000


def test_where_a_trial_failed_others_have_to_pass_until_few_are_wrong() -> None:
    section = Section((20, 0), 0)
    section.settle()
    assert not section.is_wanting, "none has failed"
    section.fails()
    begun = 0
    while True:
        section.settle()
        if not section.is_wanting:
            break
        section.begin()
        section.passes()
        begun += 1
    assert begun == passes_lacking(20, 1)
    assert lower_bound(20 + begun, 1) >= TARGET > lower_bound(19 + begun, 1)
    section.fails()
    section.failed -= 1  # it was another rule
    section.settle()
    assert (section.lacking, section.doubted) == (TRIALS_FOR_A_FAILURE, 0)


@given(
    st.lists(
        st.one_of(
            st.text(max_size=60), st.from_regex(r"http://[a-z]{1,3}/[a-z]{1,2}/[a-z]{1,2}\?x=[a-z]", fullmatch=True)
        )
    )
)
def test_any_urls_make_few_places_and_each_url_has_one(urls: list[str]) -> None:
    found = Sections(RULE)
    for url in urls:
        found.of(url).uses += 1
        traits(url)
    assert len(list(found)) <= 12
    assert sum(section.uses for section in found) == len(urls)
    off = [section for section in list(found) if found.switch_off(section)]
    for url in urls:
        assert (found.of(url) in off) == found.of(url).is_off == found.is_off(url)


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
    watched, due, chance = Belief.of(rule, "a.com"), [], Random(seed)
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
