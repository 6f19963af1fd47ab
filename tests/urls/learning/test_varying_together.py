"""Values of which none can be forgotten without the others are forgotten together, where they are random."""

from __future__ import annotations

import random

import pytest

from tests.urls.learning.sites import SITE, Clusters, forms, learned, token, words


def pages(form: str, count: int = 30) -> Clusters:
    """Pages whose URLs have a new token and time at each visit."""
    chance = random.Random(1)
    names = [words(chance) for _ in range(count)]
    return [
        [
            SITE + form.format(token=token(chance), name=name, time=chance.randrange(10**9, 2 * 10**9), id=i)
            for _ in range(3)
        ]
        for i, name in enumerate(names)
    ]


@pytest.mark.parametrize(
    "form",
    [
        "/{token}/{name}?ts={time}", "/app/{token}/x/{name}?id={id}&ts={time}", "/p/{name}/{token}?ts={time}",
        "/(S({token}))/{name}.aspx?ts={time}", "/{name};sid={token}?ts={time}", "/{token}/x/{name}/{token}",
    ],
)  # fmt: skip
def test_a_token_and_an_argument(form: str) -> None:
    (rule,) = (rules := learned(pages(form))).rules
    assert rule.kind == "equivalence"
    one, other, another_page = forms(
        rules,
        form.format(token="0123456789abcdef", name="x-y", time=1234567890, id=1),
        form.format(token="fedcba9876543210", name="x-y", time=1876543210, id=1),
        form.format(token="0123456789abcdef", name="z", time=1234567890, id=2),
    )
    assert one == other != another_page


def test_only_what_is_random_is_forgotten() -> None:
    rules = learned(pages("/{token}/{name}?ts={time}"))
    kept = ["/2009/x-y?ts=1", "/cafe/x-y?ts=1", "/about/x-y?ts=1", "/0123456789abcdef/x-y", "/0123456789abcdef"]
    assert forms(rules, *kept) == kept


def test_not_where_it_matters() -> None:
    one_by_one = [[url] for cluster in pages("/{token}/{name}?ts={time}") for url in cluster]
    assert not learned(one_by_one).rules
    some_equal = [[*one_by_one[2 * i], *one_by_one[2 * i + 1]] for i in range(4)] + one_by_one[8:]
    assert not learned(some_equal).rules


def test_arguments_that_stand_for_another_one_without_a_value() -> None:
    """A tracker's list of all that somebody opened, as two of its pages link to it."""
    query = "project=1&do=index&opened={}&status[0]="
    clusters = [[f"{SITE}/bugs?opened={i}&status=", f"{SITE}/bugs?{query.format(i)}"] for i in range(30, 60)]
    assert len(set(forms(learned(clusters), "/bugs?opened=7&status=", f"/bugs?{query.format(7)}"))) == 1
    assert len(set(forms(learned(clusters), "/bugs?opened=7&status=", f"/bugs?{query.format(8)}"))) == 2
