"""Parameters of a segment are learned as arguments are, and nothing of the segment is with them."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.urls.learning.path_parameters import differing_parameters
from dedupcrawl.urls.rule import Rule
from tests.urls.learning.sites import SITE, forms, learned, rules_of, token, words


@pytest.mark.parametrize(
    ("one", "other", "match", "to"),
    [
        ("x;v=1", "x;v=2", "{name};v={}", "{name}"), ("x;v=1", "x", "{name};v={}", "{name}"),
        ("x;print", "x", "{name};print", "{name}"), ("x", "x;0123abcd", "{name};{:token}", "{name}"),
        ("x;12", "x;13", "{name};{:digits}", "{name}"),
        ("x;sid=1;a=1", "x;a=1", "{name};sid={};{more}", "{name};{more}"),
        ("x;a=1;sid=1", "x;a=1", "{name};sid={}", "{name}"),
        ("x;a=1;sid=1", "x;a=2;sid=2", "{name};a={};sid={}", "{name}"),
    ],
)  # fmt: skip
def test_what_a_pair_of_segments_suggests(one: str, other: str, match: str, to: str) -> None:
    assert (match, to) in list(differing_parameters(one, other))


@given(st.text("ax;=1{?", max_size=12), st.text("ax;=1{?", max_size=12))
def test_whatever_the_segments_rules_can_say_it(one: str, other: str) -> None:
    for match, to in differing_parameters(one, other):
        Rule("x", "equivalence", match=f"/{match}", to=f"/{to}").templates()
        assert one.partition(";")[0] == other.partition(";")[0]


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
