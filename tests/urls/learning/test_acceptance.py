"""When the evidence for a rule is good enough."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.urls.learning.acceptance import EXPECTED, Bar, cost_of
from dedupcrawl.urls.learning.evidence import MeetingTally
from dedupcrawl.urls.learning.hypotheses import hypothesis
from dedupcrawl.urls.learning.meeting_counts import Counts
from dedupcrawl.urls.rule import Rule

BAR = Bar(0.95)
COUNT = st.integers(0, 500)


def counts(right: int, wrong: int, clusters: int, collisions: int) -> MeetingTally:
    return MeetingTally(right, wrong, clusters, collisions, np.zeros(0, dtype=np.int8))


@given(COUNT, COUNT, COUNT, COUNT, st.floats(-2, 8))
def test_more_for_it_and_less_against_it_is_never_worse(
    right: int, wrong: int, clusters: int, collisions: int, cost: float
) -> None:
    if BAR.accepts(counts(right, wrong, clusters, collisions), cost):
        assert BAR.accepts(counts(right + 1, wrong, clusters + 1, collisions), cost)
        assert BAR.accepts(counts(right, wrong // 2, clusters, collisions // 2), cost / 2 - 1)
        assert BAR.is_within_reach(counts(right, wrong, clusters, collisions), cost)
        assert right >= 0.95 * (right + wrong)


def test_the_bar() -> None:
    assert BAR.accepts(counts(19, 1, 10, 1))
    assert not BAR.accepts(counts(18, 1, 10, 1))  # less than .95
    assert not BAR.accepts(counts(100, 1, 3, 1))  # of four meetings one was wrong
    assert not BAR.accepts(counts(5, 0, 1, 0))
    assert BAR.accepts(counts(5, 0, 3, 0))
    assert BAR.accepts(counts(5, 0, 1, 0), EXPECTED)  # clusters were seen elsewhere
    assert not BAR.accepts(counts(5, 0, 3, 0), 2.0)
    assert Bar(1.0).accepts(counts(5, 0, 3, 0))
    assert not Bar(1.0).accepts(counts(500, 1, 300, 1))


def test_what_may_be_chance() -> None:
    assert BAR.holds(0, 0)
    assert BAR.holds(94, 6)
    assert BAR.holds(93, 7)  # one deviation
    assert not BAR.holds(90, 10)
    assert BAR.holds_for_site(1000, 10)  # five are allowed
    assert not BAR.holds_for_site(1000, 11)  # two and a half deviations
    assert BAR.worth(Counts(100, 0)) > BAR.worth(Counts(250, 1))
    assert BAR.worth(Counts(350, 1)) > BAR.worth(Counts(100, 0))


@pytest.mark.parametrize(
    ("rule", "cost"),
    [
        (hypothesis(drop=("sid",)), 0.0),
        (hypothesis(drop=("a", "b", "c")), 1.0),
        (hypothesis("?do={}", drop=("sid",)), 1.0),
        (hypothesis("/bugs?task={}", drop=("*",)), 0.5),
        (hypothesis("/{p*}/index.html", "/{p*}/"), 0.0),
        (hypothesis("/{p*}/{}", "/{p*}/{}"), 2.0),
        (hypothesis("/{p*}?a={}", "/{p*}"), 0.5),
        (Rule("-", "rewrite", hosts=("a.com", "!b.com"), within=("/x", "!/y"), unless=("z",), convert="syntax"), 6.0),
    ],
)  # fmt: skip
def test_freedom_costs_clusters(rule: Rule, cost: float) -> None:
    assert cost_of(rule) == cost
