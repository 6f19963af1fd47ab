"""Ways to write one text in a URL: which are one from the start, which are learned, and which are not."""

from __future__ import annotations

import random
from urllib.parse import quote

import pytest

from tests.urls.learning.sites import SITE, forms, learned, rules_of, words


@pytest.mark.parametrize("form", ["/wiki/{}", "/x?t={}"])
def test_letters_raw_and_escaped_in_either_case_need_no_rule(form: str) -> None:
    chance = random.Random(1)
    texts = [f"é{words(chance)}ß" for _ in range(30)]
    urls = [[SITE + form.format(t) for t in (text, quote(text), quote(text).lower())] for text in texts]
    assert rules_of(urls) == []
    assert forms(learned(urls), form.format("ñ")) == [form.format("%C3%B1")]


@pytest.mark.parametrize(
    ("one", "other", "rule"),
    [
        ("/t.php?f={}&amp;t={}", "/t.php?f={}&t={}", "convert ampersands"),
        ("/t.php?f={}&#38;t={}", "/t.php?f={}&t={}", "convert ampersands"),
        ("/s?page=1?page={}&q={}", "/s?page={}&q={}", "convert question-marks"),
        ("/s?page={}?page={}", "/s?page={}", "convert first-query"),
        ("/w/{}%2520x{}", "/w/{}%20x{}", "convert escaped-once"),
        ("/s?f=x{1}&f=x{0}", "/s?f=x{0}&f=x{1}", "convert sort-lists"),
        ("/s?f[0]=x{1}&f[1]=x{0}", "/s?f[0]=x{0}&f[1]=x{1}", "convert sort-lists"),
        ("/s?f%5B%5D=x{1}&f%5B%5D=x{0}", "/s?f%5B%5D=x{0}&f%5B%5D=x{1}", "convert sort-lists"),
        ("/s?tags=x{1},x{0}", "/s?tags=x{0},x{1}", "convert sort-commas"),
        ("/s?q={}%2Fx%3A{}", "/s?q={}/x:{}", "convert plain-query"),
        ("/files/{}%2F{}", "/files/{}/{}", "convert plain-slashes"),
    ],
)
def test_spellings_that_a_log_shows(one: str, other: str, rule: str) -> None:
    chance = random.Random(1)
    numbers = [(chance.randrange(1_000, 5_000), chance.randrange(5_000, 9_999)) for _ in range(40)]
    clusters = [[SITE + form.format(*both) for form in (one, other)] for both in numbers]
    assert [text.partition(" within ")[0] for text in rules_of(clusters)] == [rule]
    assert len(set(forms(learned(clusters), one.format(17, 18), other.format(17, 18)))) == 1
    apart = [[url] for cluster in clusters for url in cluster]
    assert not rules_of(apart)
    assert len(set(forms(learned(apart), one.format(17, 18), other.format(17, 18)))) == 2


@pytest.mark.parametrize("form", ["/w/{}", "/w/{}/edit", "/{}.html", "/a/b/c/{}", "/x?q={}"])
@pytest.mark.parametrize(("one", "other"), [("+", "%20"), ("_", "%20"), ("_", "+")])
def test_ways_to_write_a_blank(form: str, one: str, other: str) -> None:
    chance = random.Random(1)
    texts = [words(chance, 3, " ") for _ in range(30)]
    rules = learned([[SITE + form.format(text.replace(" ", blank)) for blank in (one, other)] for text in texts])
    found = forms(rules, *(form.format(f"new{blank}name") for blank in (one, other)))
    assert len(set(found)) == 1
    if "_" not in one:
        assert forms(rules, form.format("new_name")) == [form.format("new_name")]


@pytest.mark.parametrize("form", ["/w/{}", "/x?q={}"])
def test_escapes_of_what_needs_none(form: str) -> None:
    chance = random.Random(1)
    texts = [words(chance) for _ in range(30)]
    rules = learned([[SITE + form.format(f"{text}%28x%29"), SITE + form.format(f"{text}(x)")] for text in texts])
    assert forms(rules, form.format("new%28x%29")) == [form.format("new(x)")]


def test_not_where_they_are_two_pages() -> None:
    chance = random.Random(1)
    texts = [words(chance, 2, " ") for _ in range(40)]
    assert not rules_of([[f"{SITE}/w/{text.replace(' ', blank)}"] for text in texts for blank in ("+", "%20", "_")])
