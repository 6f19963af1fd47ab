"""A rule by itself: what it takes, refuses and converts, and how it is told; files are in test_rule_files.py."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from datetime import date
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.core.url_parts import split_url
from dedupcrawl.urls.conversions import URL_CONVERSIONS, VALUE_CONVERSIONS
from dedupcrawl.urls.rule import Evidence, Rule, RuleError, described, rule_facts
from tests.fixtures import table_of

counts = st.integers(0, 10**6)
evidences = st.builds(
    lambda of, *others: Evidence(others[0], max(of), others[1], min(of), others[2]),
    *(st.tuples(counts, counts), counts, counts, counts),
)
contexts = st.fixed_dictionaries(
    {},
    optional={
        "hosts": st.just(("www.a.com", "!b.a.com:8080")),
        "within": st.just(("/wiki/{*}", "!/wiki/{x}/y")),
        "unless": st.sampled_from([("b",), ("title=Special:{}",), ("*",)]),
    },
)
transformations = st.sampled_from(
    [
        {"drop": ("sid", "utm_*")},
        {"match": "/p/{x*}", "to": "/{x}"},
        {"match": "?t={x:digits}", "to": "/w/{x}"},
        {"convert": "sort-query"},
    ]
)
told = st.fixed_dictionaries(
    {},
    optional={
        "state": st.sampled_from(["active", "probation", "disabled"]),
        "tried": counts,
        "source": st.sampled_from(["hand", "learned", "prior", "imported"]),
        "learned": st.dates(),
        "evidence": evidences,
        "examples": st.lists(st.tuples(st.text(), st.text()), max_size=3).map(tuple),
        "note": st.text(),
    },
)
rules = st.builds(
    lambda name, kind, context, does, of, failed: Rule(
        name, kind, **context, **does, **of, failed=min(failed, of.get("tried", 0))
    ),
    st.text(min_size=1),
    st.sampled_from(["rewrite", "equivalence"]),
    contexts,
    transformations,
    told,
    counts,
)


@given(rules)
def test_what_is_written_is_read_again(rule: Rule) -> None:
    row = rule.to_dict()
    assert Rule.from_dict(row) == rule
    assert list(row)[:2] == ["id", "kind"]
    defaults = Rule("-", "rewrite", drop=("x",))
    assert all(getattr(rule, name) != getattr(defaults, name) for name in row if name not in {"id", "kind", "drop"})


@given(rules, told)
def test_what_is_told_of_a_rule_changes_nothing_that_it_does(rule: Rule, of: dict[str, Any]) -> None:
    assert replace(rule, id="other", **of).effect == rule.effect
    assert replace(rule, unless=(*rule.unless, "z")).effect != rule.effect


SID = Rule("sid", "rewrite", drop=("sid",))
VALUES = [
    '""', '"x"', "0", "1.5", "nan", "true", "2026-01-31", "2026-01-31T00:00:00Z", "12:00:00",
    "[]", "[5]", "[[]]", '["x"]', '[["x"]]', '[["x", "y"]]', '[["x", "y"], 5]', "[{}]", "{}",
    "{support = 1}", "{x = 1}",
]  # fmt: skip


def row(key: str, value: str) -> dict[str, Any]:
    """A rule with this value, written in TOML, under a key."""
    read: dict[str, Any] = msgspec.toml.decode(f"value = {value}")
    return {**SID.to_dict(), key: read["value"]}


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("key", [one.name for one in fields(Rule)])
def test_a_value_of_any_type_is_read_or_said_to_be_wrong(key: str, value: str) -> None:
    try:
        rule = Rule.from_dict(row(key, value))
    except RuleError:
        return
    assert Rule.from_dict(rule.to_dict()) == rule


@table_of("urls", "a_value_that_no_url_can_have_is_refused")
def test_a_value_that_no_url_can_have_is_refused(key: str, value: str) -> None:
    with pytest.raises(RuleError, match=rf"{key} has .*, not '{re.escape(value)}'"):
        Rule.from_dict({**SID.to_dict(), key: [value]})


def test_a_rule_without_a_kind_is_told_which_there_are() -> None:
    with pytest.raises(RuleError, match="rule 'a' has no kind, which is one of rewrite, equivalence"):
        Rule.from_dict({"id": "a", "drop": ["x"]})


@table_of("urls", "a_rule_in_one_line")
def test_a_rule_in_one_line(rule: dict[str, Any], says: str) -> None:
    assert described(Rule.from_dict({"id": "r", "kind": "rewrite", **rule})) == says


def test_a_row_of_a_list_of_rules() -> None:
    rule = Rule("r", "rewrite", drop=("a",), evidence=Evidence(3, 30, 29, 1), learned=date(2026, 1, 31))
    assert rule_facts("a.com", rule) == {
        "site": "a.com", "id": "r", "kind": "rewrite", "state": "active", "source": "hand", "does": "drop a",
        "support": 3, "coverage": 30, "correct": 29, "wrong": 1, "collisions": 0, "precision": 0.9667,
        "precision_at_least": 0.8514, "tried": 0, "failed": 0, "learned": "2026-01-31", "note": "",
    }  # fmt: skip
    assert rule_facts("a.com", replace(rule, evidence=Evidence()))["precision"] is None


@table_of("urls", "values")
def test_values(name: str, value: str, after: str) -> None:
    assert VALUE_CONVERSIONS[name](value) == after


@table_of("urls", "urls")
def test_urls(name: str, url: str, after: str) -> None:
    parts = split_url(url)
    assert parts is not None
    found = URL_CONVERSIONS[name].apply(parts)
    assert found is not None
    assert found.join() == after
    assert parts.join() == url  # what was given stays


@table_of("urls", "what_means_something_else_stays")
def test_what_means_something_else_stays(name: str, tail: str) -> None:
    parts = split_url(f"http://a.com/{tail}")
    assert parts is not None
    assert URL_CONVERSIONS[name].apply(parts) is None


@given(st.text(max_size=40), st.sampled_from(sorted(VALUE_CONVERSIONS)))
def test_no_value_breaks_a_conversion(value: str, name: str) -> None:
    assert isinstance(VALUE_CONVERSIONS[name](value), str)


@given(
    st.text("a0123456789 %+_", max_size=30), st.sampled_from(["lower", "underscores", "spaces", "blanks", "unpadded"])
)
def test_a_converted_value_stays(value: str, name: str) -> None:
    once = VALUE_CONVERSIONS[name](value)
    assert VALUE_CONVERSIONS[name](once) == once


@given(st.text("aAé/?&;=+%2fF.~#\ud800[],0", max_size=40), st.sampled_from(sorted(URL_CONVERSIONS)))
def test_a_conversion_has_nothing_to_do_with_its_own_result(tail: str, name: str) -> None:
    parts = split_url(f"http://a.com/{tail}")
    assert parts is not None
    conversion = URL_CONVERSIONS[name]
    once = conversion.apply(parts)
    if once is not None:
        assert once != parts
        again = split_url(once.join())
        assert again is None or conversion.apply(again) is None
        assert any(needle in f"http://a.com/{tail}" for needle in conversion.needles)
