"""Zeros before a number: learned where both spellings of a number lead to one page, and nothing of other numbers."""

from __future__ import annotations

import random

import pytest

from tests.urls.learning.sites import SITE, Clusters, forms, learned, rules_of, words


def posts(chance: random.Random) -> Clusters:
    """A blog with the day of a post in its path."""
    days = [(chance.randrange(2005, 2012), chance.randrange(1, 13), chance.randrange(1, 29)) for _ in range(35)]
    paths = [(f"/{y}/{m:02}/{d:02}/", f"/{y}/{m}/{d}/", words(chance)) for y, m, d in days]
    return [[f"{SITE}{one}{post}", f"{SITE}{other}{post}"] for one, other, post in paths]


def test_a_day_in_the_path() -> None:
    rules = learned(posts(random.Random(1)))
    one, other, next_day = forms(rules, "/2009/01/05/x-y", "/2009/1/5/x-y", "/2009/01/06/x-y")
    assert one == other == "/2009/1/5/x-y"
    assert next_day == "/2009/1/6/x-y"
    assert forms(rules, "/2009/10/20/x-y", "/2009/01/05/") == ["/2009/10/20/x-y", "/2009/01/05/"]


def test_archives_of_months_stay_apart() -> None:
    months = [(year, month) for year in range(2005, 2009) for month in range(1, 13)]
    rules = learned([[f"{SITE}/{y}/{m:02}", f"{SITE}/{y}/{m}"] for y, m in months])
    assert len(set(forms(rules, *(f"/{y}/{m:02}" for y, m in months)))) == len(months)
    assert forms(rules, "/2006/07", "/2006/7") == ["/2006/7", "/2006/7"]


def test_an_argument_and_several() -> None:
    pages = [[f"{SITE}/x?p={page:03}", f"{SITE}/x?p={page}"] for page in range(1, 31)]
    assert rules_of(pages) == ["?p={v} → ?p={v|unpadded} within /x"]
    days = [(y, m, d) for y in (2008, 2009) for m in (2, 7, 11) for d in (1, 5, 9, 12, 28)]
    rules = learned([[f"{SITE}/x?y={y}&m={m:02}&d={d:02}", f"{SITE}/x?y={y}&m={m}&d={d}"] for y, m, d in days])
    assert forms(rules, "/x?y=2009&m=03&d=04", "/x?y=2009&m=3&d=4") == ["/x?y=2009&m=3&d=4"] * 2


def test_a_part_of_a_segment() -> None:
    images = [[f"{SITE}/img_{n:04}.html", f"{SITE}/img_{n}.html"] for n in range(1, 31)]
    assert rules_of(images) == ["/img_{v1:digits}.html → /img_{v1|unpadded}.html"]
    chance = random.Random(1)
    parts = [(words(chance, 2), n) for n in range(1, 31)]
    rules = learned([[f"{SITE}/{name}-{n:02}", f"{SITE}/{name}-{n}"] for name, n in parts if n < 10 or n > 20])
    assert forms(rules, "/new-story-07", "/new-story-7") == ["/new-story-7"] * 2


@pytest.mark.parametrize("form", ["/x?p={}", "/{}/x", "/img{}"])
def test_not_where_they_are_two_pages(form: str) -> None:
    pages = [[SITE + form.format(text)] for page in range(1, 31) for text in (f"{page:03}", str(page))]
    assert not learned(pages).rules
    some_equal = [pages[2 * i] + pages[2 * i + 1] for i in range(5)] + pages[10:]
    assert not learned(some_equal).rules
