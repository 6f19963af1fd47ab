from __future__ import annotations

import pytest

from benchmarks.url_rules import ours
from benchmarks.url_rules.method import Learned, Row
from benchmarks.url_rules.metrics import score_rules

HTTP = "http://www.h.org"
SITE: list[Row] = [
    (f"{HTTP}/{'abcdefg'[n % 7]}/page{n}{end}", str(n)) for n in range(400) for end in ("", "/index.html")
]


@pytest.fixture(scope="module")
def learned() -> Learned[ours.OwnRule]:
    return ours.learn(SITE, 0.95)


def test_our_rules_merge_what_is_one_page(learned: Learned[ours.OwnRule]) -> None:
    canonical = learned.matcher().canonical
    assert canonical(f"{HTTP}/a/page400/index.html") == canonical(f"{HTTP}/a/page400")
    assert canonical(f"{HTTP}/a/page400") != canonical(f"{HTTP}/a/page401")
    assert learned.valid is not None
    assert list(learned.valid(1.0)) == list(range(len(learned.rules)))


def test_our_rules_are_scored_one_by_one(learned: Learned[ours.OwnRule]) -> None:
    scores = score_rules(learned, SITE)
    assert sum(score.coverage for score in scores) >= 400
    assert all(score.precision == 1.0 for score in scores)
    assert all(
        score.coverage == sum(rule.apply(url) is not None for url, _ in SITE)
        for rule, score in zip(learned.rules, scores, strict=True)
    )


def test_chosen_rules_go_back_to_the_order_of_their_file(learned: Learned[ours.OwnRule]) -> None:
    backwards = learned.matcher(range(len(learned.rules) - 1, -1, -1))
    assert [backwards.canonical(url) for url, _ in SITE] == [learned.matcher().canonical(url) for url, _ in SITE]


def test_a_log_without_duplicates_teaches_nothing() -> None:
    assert ours.learn([(f"{HTTP}/{n}", str(n)) for n in range(50)], 0.95).rules == []
    assert ours.learn([], 0.95).rules == []
