"""One rule by itself: its bounds and how it is looked up; what rules do to URLs is in tests/fixtures/rules.json."""

from __future__ import annotations

import pytest

from dedupcrawl.core.url_parts import split_url
from dedupcrawl.urls.compiled_rule import CompiledRule, TooLongError
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_set import RuleSet
from dedupcrawl.urls.spelling import LONGEST_URL


def applied(rule: Rule, url: str) -> str:
    parts = split_url(url)
    assert parts is not None
    after = CompiledRule(rule).apply(parts, "a.com")
    return url if after is None else after.join()


@pytest.mark.parametrize(("size", "fits"), [(100, True), (LONGEST_URL - 40, False)])
def test_what_would_be_too_long_is_said(size: int, fits: bool) -> None:
    rule = CompiledRule(Rule("r", "rewrite", match="/{x}/{y}", to="/{x}/{y}/" + "z" * 40))
    parts = split_url("http://a.com/x/" + "y" * size)
    assert parts is not None
    assert (rule.apply(parts, "a.com") is not None) == fits
    if not fits:
        with pytest.raises(TooLongError):
            rule.change(parts, "a.com")


@pytest.mark.parametrize(
    ("match", "tokens", "url"),
    [
        ("/w?title={t}&action=view", {"action=view"}, "http://a.com/w?title=x&action=view"),
        ("/w?title={t}&action=pre-{:a|b}", {"action=pre-a", "action=pre-b"}, "http://a.com/w?action=pre-b&title=x"),
        ("/w?title={t}&view", {"view"}, "http://a.com/w?title=x&view"),
        ("/w?title={t}&page={:digits}", {"page"}, "http://a.com/w?title=x&page=7"),
    ],
)
def test_a_rule_is_looked_up_by_an_argument_of_known_values(match: str, tokens: set[str], url: str) -> None:
    rule = CompiledRule(Rule("r", "rewrite", match=match, to="/{t}"))
    parts, other = split_url(url), split_url("http://a.com/w?title=x&action=edit")
    assert parts is not None
    assert other is not None
    assert rule.change(parts, "a.com") is not None
    assert set(rule.asks_for()[0]) == tokens
    finder = RuleSet(("r", "rewrite", rule))
    assert finder.hits(url, parts) == [0]
    assert finder.hits("http://a.com/w?title=x&action=edit", other) == []


@pytest.mark.parametrize(
    ("within", "url", "fits"),
    [
        (("/w?mode={:a|b}",), "http://a.com/w?s=1&mode=a", True),
        (("/w?mode={:a|b}",), "http://a.com/w?s=1&mode=c", False),
        (("/w?mode={:a|b}",), "http://a.com/v?s=1&mode=a", False),
        (("/w?mode={:a|b}",), "http://a.com/w?s=1", False),
        (("?t=File:{}", "/x/{*}"), "http://a.com/w?s=1&t=File:cat", True),
        (("?t=File:{}", "/x/{*}"), "http://a.com/x/y?s=1", True),
        (("/w", "!?t=File:{}"), "http://a.com/w?s=1&t=File:cat", False),
        (("/w", "!?t=File:{}"), "http://a.com/w?s=1&t=cat", True),
    ],
)
def test_where_a_rule_holds_may_be_told_by_arguments(within: tuple[str, ...], url: str, fits: bool) -> None:
    rule = Rule("r", "rewrite", within=within, drop=("s",))
    assert Rule.from_dict(rule.to_dict()) == rule
    assert (applied(rule, url) != url) == fits
    parts = split_url(url)
    assert parts is not None
    assert RuleSet(("r", "rewrite", CompiledRule(rule))).hits(url, parts) or not fits
