"""Ways to write one text in a URL: which are one from the start, which are learned, and which are not."""

from __future__ import annotations

import random
from urllib.parse import quote

import pytest

from tests.urls.learning.sites import SITE, forms, learned, rules_of, words


@pytest.mark.parametrize("form", ["/wiki/{}", "/x?t={}"])
def test_letters_raw_and_escaped_in_either_case_are_what_is_sent(form: str) -> None:
    chance = random.Random(1)
    texts = [f"é{words(chance)}ß" for _ in range(30)]
    urls = [[SITE + form.format(t) for t in (text, quote(text), quote(text).lower())] for text in texts]
    assert rules_of(urls) == ["convert syntax"]
    assert forms(learned(urls), form.format("ñ")) == [form.format("%C3%B1")]


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
