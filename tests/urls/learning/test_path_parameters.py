"""Parameters of a segment are learned as arguments are, and nothing of the segment is with them."""

from __future__ import annotations

import random

from tests.urls.learning.sites import SITE, forms, learned, rules_of, token, words


def test_a_session_in_the_middle_of_a_path() -> None:
    chance = random.Random(1)
    pages = [f"/shop/c{i % 3};sid={{}}/{words(chance)}" for i in range(30)]
    rules = learned([[SITE + page.format(token(chance)) for _ in range(3)] for page in pages])
    one, other, category, no_session = forms(
        rules, "/shop/c1;sid=0123456789abcdef/x-y", "/shop/c1;sid=fedcba9876543210/x-y",
        "/shop/c2;sid=0123456789abcdef/x-y", "/shop/c1;sid=summer/x-y",
    )  # fmt: skip
    assert one == other == "/shop/c1/x-y"
    assert category == "/shop/c2/x-y"
    assert no_session == "/shop/c1;sid=summer/x-y"


def test_few_values_are_those_that_came() -> None:
    chance = random.Random(1)
    pages = [f"{SITE}/{words(chance)}" for _ in range(30)]
    rules = learned([[page, f"{page};lang={('en', 'us')[i % 2]}"] for i, page in enumerate(pages)])
    assert forms(rules, "/x;lang=en", "/x;lang=us", "/x;lang=fr") == ["/x", "/x", "/x;lang=fr"]


def test_another_parameter_stays() -> None:
    chance = random.Random(1)
    pages = [(f"{SITE}/{words(chance)}", i % 7) for i in range(30)]
    rules = learned([[f"{page};sid={token(chance)};a={a}", f"{page};a={a}"] for page, a in pages])
    assert forms(rules, f"/x;sid={token(chance)};a=1") == ["/x;a=1"]
    rules = learned([[f"{page};a={a};sid={token(chance)}", f"{page};a={a}"] for page, a in pages])
    assert forms(rules, f"/x;a=1;sid={token(chance)}") == ["/x;a=1"]


def test_not_where_it_matters() -> None:
    chance = random.Random(1)
    pages = [f"{SITE}/{words(chance)}" for _ in range(30)]
    assert not learned([[f"{page};v={v}"] for page in pages for v in (1, 2, 3)]).rules
    mixed = [[f"{page};v=1", f"{page};v=2"] for page in pages[:4]] + [[f"{p};v={v}"] for p in pages for v in (3, 4)]
    assert not rules_of(mixed)


def test_in_one_section_and_not_in_another() -> None:
    chance = random.Random(1)
    views = [f"{SITE}/view/{words(chance)}" for _ in range(20)]
    maps = [f"{SITE}/map/{words(chance)}" for _ in range(20)]
    rules = learned([[f"{v};at={token(chance)}", v] for v in views] + [[f"{m};at={token(chance)}"] for m in maps * 2])
    at = token(chance)
    assert forms(rules, f"/view/x-y;at={at}", f"/map/x-y;at={at}") == ["/view/x-y", f"/map/x-y;at={at}"]
