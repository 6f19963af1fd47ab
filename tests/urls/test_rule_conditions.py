"""Conditions on arguments: what a rule keeps, and what keeps a rule away."""

from __future__ import annotations

import pytest

from dedupcrawl.urls.compiled_rule import CompiledRule
from dedupcrawl.urls.rule import Rule, RuleError
from dedupcrawl.urls.url_parts import split_url


def applied(rule: Rule, url: str) -> str:
    parts = split_url(url)
    assert parts is not None
    after = CompiledRule(rule).apply(parts, "a.com")
    return url if after is None else after.join()


def test_a_lone_star_drops_what_match_does_not_name() -> None:
    rule = Rule("task", "equivalence", match="/bugs?do={}&task={}", drop=("*",))
    assert applied(rule, "http://a.com/bugs?x=1&do=show&y&task=7") == "http://a.com/bugs?do=show&task=7"
    assert applied(rule, "http://a.com/bugs?x=1&do=show") == "http://a.com/bugs?x=1&do=show"
    assert applied(Rule("all", "rewrite", drop=("*",)), "http://a.com/x?a=1&b") == "http://a.com/x"


def test_a_star_after_text_drops_names_even_if_match_names_one() -> None:
    rule = Rule("utm", "rewrite", match="?utm_id={}", drop=("utm_*",))
    assert applied(rule, "http://a.com/?utm_id=1&utm_x=2&b=3") == "http://a.com/?b=3"


@pytest.mark.parametrize(
    ("url", "changes"),
    [
        ("http://a.com/w?title=Special:Links&limit=5", False),
        ("http://a.com/w?title=Special:&limit=5", True),  # a capture takes at least one character
        ("http://a.com/w?title=Main_Page&limit=5", True),
        ("http://a.com/w?title=Main_Page&limit=5&offset=1", False),
        ("http://a.com/w?limit=5", True),
    ],
)
def test_unless_takes_forms_of_values(url: str, changes: bool) -> None:
    rule = Rule("limit", "equivalence", drop=("limit",), unless=("offset", "title=Special:{}"))
    assert (applied(rule, url) != url) == changes


@pytest.mark.parametrize("form", ["title={", "a=1&b=2", "=x{}{}"])
def test_unless_is_checked(form: str) -> None:
    with pytest.raises(RuleError, match=r"unless|brace|captures"):
        Rule.from_dict({"id": "x", "kind": "rewrite", "drop": ["a"], "unless": [form]})


def test_rules_with_conditions_are_written_and_read() -> None:
    rule = Rule("limit", "equivalence", match="/w?title={}", drop=("*",), unless=("offset", "title=Special:{}"))
    assert Rule.from_dict(rule.to_dict()) == rule
