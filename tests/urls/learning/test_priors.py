from __future__ import annotations

import random

import pytest

from dedupcrawl.urls.learning.learn import ASSUMED, EXPECTED
from tests.urls.learning.sites import SITE, forms, learned, token, words


def test_all_priors_are_rules() -> None:
    for rule in (*ASSUMED, *EXPECTED):
        rule.templates()
        rule.scopes()
    assert len({rule.id for rule in ASSUMED}) == len(ASSUMED)


def test_no_name_that_is_content_somewhere_is_dropped_by_prior() -> None:
    names = {name for rule in (*ASSUMED, *EXPECTED) if not rule.match for name in rule.drop}
    assert names.isdisjoint({"s", "sid", "session", "session_id", "id", "p", "q", "page", "lang", "sort", "ref", "v"})


@pytest.mark.parametrize("right", [0, 4, 5])
def test_an_exception_takes_no_more_right_merges_away_than_wrong_ones(right: int) -> None:
    """Else what is assumed of all sites is not used; what is learned is for where it is right."""
    chance = random.Random(5)
    apart = [f"/b/{words(chance, 1)}" for _ in range(4)]
    pages = [f"/{'ab'[i >= 100]}/{words(chance, 1)}" for i in range(100 + right)]
    clusters = [[f"{SITE}{page}", f"{SITE}{page}?PHPSESSID={token(chance)}"] for page in pages]
    clusters += [[f"{SITE}{page}{end}"] for page in apart for end in ("", "?PHPSESSID=0123456789abcdef")]
    rules = learned(clusters)
    assert any("!/b/{*}" in rule.within for rule in rules.rules) is (right <= len(apart))
    asked = [f"{page}?PHPSESSID=0123456789abcdef" for page in ("/a/new", *apart)]
    assert forms(rules, *asked) == ["/a/new", *asked[1:]]
