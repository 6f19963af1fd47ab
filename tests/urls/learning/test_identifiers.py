"""A number that names a page, with words beside it or without, is learned in every two of its spellings."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from tests.urls.learning.sites import SITE, Clusters, forms, learned, words

SPELLINGS = [
    "/topic/{id}", "/topic/{id}-{words}", "/topic/{words}-{id}", "/t/{words}/{id}", "/t/{id}/{words}", "/?t={id}",
    "/showthread.php?t={id}", "/topic/{words}-{id}.html", "/{words}-t{id}.html", "/topic/{words}.{id}/",
]  # fmt: skip


def topics(chance: random.Random, spellings: tuple[str, ...], count: int = 30) -> Clusters:
    """A forum whose topics are found by each of these spellings."""
    pages = [(chance.randrange(100, 10**6), words(chance, chance.randrange(2, 5))) for _ in range(count)]
    return [[SITE + spelling.format(id=id_, words=name) for spelling in spellings] for id_, name in pages]


@pytest.mark.parametrize("spellings", list(combinations(SPELLINGS, 2)), ids=" = ".join)
def test_any_two_spellings(spellings: tuple[str, str]) -> None:
    rules = learned(topics(random.Random(1), spellings))
    one, other, next_one = forms(
        rules, *(s.format(id=4711, words="a-new-one") for s in spellings), spellings[1].format(id=12, words="a-new-one")
    )
    assert one == other != next_one
    assert len(rules.rules) == 1


def test_all_spellings_at_once() -> None:
    chance = random.Random(1)
    topic = topics(chance, tuple(SPELLINGS[:7]))
    rules = learned([chance.sample(urls, 4) for urls in topic])
    found = forms(rules, *(spelling.format(id=4711, words="a-new-one") for spelling in SPELLINGS[:7]))
    assert len(set(found)) == 1


@pytest.mark.parametrize(
    "form", ["/topic/{id}-{words}", "/topic/{words}-{id}", "/{words}-t{id}.html", "/t/{id}/{words}"]
)
def test_words_that_were_others_once(form: str) -> None:
    chance = random.Random(1)
    numbers = chance.sample(range(999), 30)
    rules = learned([[SITE + form.format(id=i, words=words(chance, count)) for count in (2, 4)] for i in numbers])
    one, other, next_one = forms(
        rules, form.format(id=5, words="a-b-c"), form.format(id=5, words="d-e"), form.format(id=6, words="a-b-c")
    )
    assert one == other != next_one


def test_what_is_beside_the_number_may_be_another_page() -> None:
    chance = random.Random(1)
    topic = topics(chance, ("/topic/{id}", "/topic/{id}-{words}"))
    pages = [[f"{urls[0]}-{page}"] for urls in topic for page in ("edit", "print", 2, 3)]
    first = topic[0][0].removeprefix(SITE)
    kept = [f"{first}-{page}" for page in ("edit", "print", 2, 3, 4, "delete")]
    for site in (topic, topic + pages):
        rules = learned(site)
        assert forms(rules, *kept) == kept
        assert forms(rules, "/topic/7-a-new-one") == ["/topic/7"]


def test_not_where_words_tell_pages_apart() -> None:
    chance = random.Random(1)
    parts = [[f"{SITE}/topic/{i}-{words(chance)}"] for i in range(30) for _ in range(2)]
    assert not learned(parts).rules
    other_sides = [[f"{SITE}/day/{i}-{words(chance)}"] for i in range(30)] + [[f"{SITE}/?d={i}"] for i in range(30)]
    by_chance = [one + other for one, other in zip(other_sides[:30], other_sides[40:], strict=False)]
    assert not learned(by_chance + other_sides[30:40]).rules
