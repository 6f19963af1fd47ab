"""Rules of which an earlier one leaves less to do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.urls.normalizer import SiteNormalizer
from dedupcrawl.urls.overlaps import done_in_part, dropped_before
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules

SID = Rule("sid", "rewrite", drop=("sid",))
MORE = Rule("more", "rewrite", drop=("lang", "sid"))


def of(rules: list[Rule]) -> SiteNormalizer:
    return SiteNormalizer(SiteRules("a.com", tuple(rules)))


def test_only_what_is_done_wherever_the_later_one_applies() -> None:
    assert dropped_before([SID, MORE]) == {"more": ("sid",)}
    assert dropped_before([MORE, SID]) == {"sid": ("more",)}
    assert dropped_before([replace(SID, state="disabled"), MORE]) == {}
    assert dropped_before([replace(SID, hosts=("m.a.com",)), MORE]) == {}
    assert dropped_before([replace(SID, hosts=("m.a.com",)), replace(MORE, hosts=("m.a.com",))]) == {"more": ("sid",)}
    assert dropped_before([SID, replace(MORE, drop=("sid*",))]) == {}
    assert dropped_before([replace(SID, drop=("s*",)), replace(MORE, drop=("sid*",))]) == {"more": ("sid",)}


def test_what_match_names_is_not_dropped_by_a_lone_star() -> None:
    rest = Rule("rest", "equivalence", match="/item?id={}", drop=("*",))
    assert dropped_before([rest, replace(rest, id="id", drop=("id",))]) == {}
    assert dropped_before([rest, replace(rest, id="ids", drop=("ids", "id"))]) == {"ids": ("rest",)}
    starts = replace(rest, id="starts", drop=("i*",))
    assert dropped_before([starts, replace(rest, id="id", drop=("id",))]) == {"id": ("starts",)}
    assert of([rest]).normalize("http://a.com/item?id=1&x=2").canonical == "http://a.com/item?id=1"


def test_ten_thousand_rules_are_compared_at_once() -> None:
    rules = [Rule(f"r{i}", "rewrite", drop=(f"name{i}", f"start{i:05}*", "sid")) for i in range(10_000)]
    before = dropped_before(rules)
    assert len(before) == 9_999
    assert set(before.values()) == {("r0",)}


@given(st.lists(st.lists(st.sampled_from(["a", "b", "a*", "ab"]), min_size=1, max_size=2, unique=True), max_size=4))
def test_nothing_of_these_is_left(drops: list[list[str]]) -> None:
    rules = [Rule(f"r{number}", "rewrite", drop=tuple(names)) for number, names in enumerate(drops)]
    before = dropped_before(rules)
    for number, rule in enumerate(rules):
        earlier = of([one for one in rules[:number] if one.id in before.get(rule.id, ())])
        all_before = of(rules[:number])
        for name in rule.drop:
            if not name.endswith("*"):
                url = f"http://a.com/?{name}=1&z=2"
                assert earlier.normalize(url).canonical == all_before.normalize(url).canonical


@pytest.mark.parametrize(
    ("used", "asked", "is_done"),
    [
        ({}, {}, True),
        ({"unless": ("t",)}, {}, True),
        ({"within": ("!/a",)}, {"within": ("!/b",)}, True),
        ({"hosts": ("a.com",)}, {"hosts": ("a.com", "www.a.com")}, True),
        ({"hosts": ("a.com",)}, {"hosts": ("b.a.com",)}, False),
        ({"hosts": ("a.com",)}, {}, True),
        ({}, {"hosts": ("a.com",)}, True),
        ({"hosts": ("!b.a.com",)}, {"hosts": ("a.com",)}, True),
        ({"hosts": ("!b.a.com",)}, {"hosts": ("b.a.com",)}, False),
        ({"within": ("/w/{*}", "!/w/x")}, {"within": ("/w/{*}",)}, True),
        ({"within": ("/w-2/{*}",)}, {"within": ("/w/{*}",)}, False),
        ({"within": ("/w/{*}",)}, {"within": ("!/w/{*}",)}, False),
        ({"match": "?t={}"}, {}, False),
        ({"drop": ("sid", "x")}, {}, False),
        ({"state": "doubted"}, {}, False),
        ({"state": "disabled"}, {}, False),
    ],
)
def test_what_is_done_in_part_whatever_its_name(used: dict[str, Any], asked: dict[str, Any], is_done: bool) -> None:
    assert done_in_part([MORE, replace(SID, id="other", **used)])(replace(SID, **asked)) is is_done
