"""Contexts in words: conditions on one path hold together, and what cannot be said is not."""

from __future__ import annotations

import pytest

from dedupcrawl.urls.compiled_rule import CompiledRule
from dedupcrawl.urls.learning.context_keys import NO_VALUE, ContextKey
from dedupcrawl.urls.learning.contexts import Condition
from dedupcrawl.urls.learning.hypotheses import hypothesis
from dedupcrawl.urls.learning.scopes import scoped
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.url_parts import split_url

SID = hypothesis(drop=("sid",))


def within(*conditions: tuple[ContextKey, tuple[str, ...]]) -> tuple[str, ...]:
    rule = scoped(SID, tuple(Condition(key, values) for key, values in conditions))
    assert rule is not None
    return rule.within


def is_for(rule: Rule | None, url: str) -> bool:
    parts = split_url(url)
    assert rule is not None
    assert parts is not None
    return CompiledRule(rule).apply(parts, "a.com") is not None


def test_all_conditions_on_a_path_are_of_one_template() -> None:
    part = ("part", "1"), ("friends-{}",)
    assert within(part) == ("/{}/friends-{}/{*}",)
    assert within((("part", "0"), ("u{}",)), part) == ("/u{}/friends-{}/{*}",)
    assert within(part, (("sort", "1"), ("{}-{}",))) == ("/{}/friends-{}/{*}",)
    assert within((("front", "1"), ("a", "b")), part) == ("/a/friends-{}/{*}", "/b/friends-{}/{*}")
    assert within((("front", "1"), ("a",)), (("front", "2"), ("a/b",)), (("last", ""), ("x",))) == ("/a/b/{*}/x",)
    assert within((("front", "2"), ("a/friends-1",)), part) == ("/a/friends-1/{*}",)
    assert within((("path", ""), ("/x/y",)), part) == ("/x/y",)


def test_a_rule_is_for_urls_on_which_all_conditions_hold() -> None:
    rule = scoped(SID, (Condition(("front", "1"), ("a",)), Condition(("part", "1"), ("friends-{}",))))
    assert is_for(rule, "http://a.com/a/friends-1?sid=2")
    assert not is_for(rule, "http://a.com/b/friends-1?sid=2")
    assert not is_for(rule, "http://a.com/a/blog-1?sid=2")


@pytest.mark.parametrize(
    ("key", "value", "scope"),
    [
        (("path", ""), "/x", "!/x"), (("front", "1"), "x", "!/x/{*}"), (("last", ""), "x", "!/{*}/x"),
        (("part", "1"), "x-{}", "!/{}/x-{}/{*}"), (("sort", "0"), "x-{}", "!/x-{}/{*}"),
    ],
)  # fmt: skip
def test_exceptions(key: ContextKey, value: str, scope: str) -> None:
    rule = scoped(SID, (Condition(key, (value,), holds=False),))
    assert rule is not None
    assert rule.within == (scope,)


def test_hosts_and_arguments() -> None:
    rule = scoped(SID, (Condition(("host", ""), ("www.a.com",)), Condition(("host", ""), ("x.a.com",), holds=False)))
    assert rule is not None
    assert rule.hosts == ("www.a.com", "!x.a.com")
    rule = scoped(SID, (Condition(("arg", "do"), ("show",)), Condition(("has", "raw"), (NO_VALUE,))))
    assert rule is not None
    assert (rule.match, rule.unless) == ("?do=show", ("raw",))
    rule = scoped(SID, (Condition(("args", "a&b"), ("1&2",)), Condition(("form", "t"), ("x:{}",), holds=False)))
    assert rule is not None
    assert (rule.match, rule.unless) == ("?a=1&b=2", ("t=x:{}",))


@pytest.mark.parametrize(
    "condition",
    [
        Condition(("path", ""), ("/{x}",)),
        Condition(("front", "1"), (NO_VALUE,)),
        Condition(("arg", "a"), ("x|y", "z")),
        Condition(("form", "a"), ("x-{}", "y-{}")),
        Condition(("last", ""), tuple(map(str, range(1000)))),
    ],
)
def test_what_cannot_be_said(condition: Condition) -> None:
    assert scoped(SID, (condition,)) is None


def test_a_target_cannot_repeat_an_open_argument() -> None:
    rewrite = hypothesis("/a/{p*}", "/b/{p*}")
    assert scoped(rewrite, (Condition(("has", "id"), ("yes",)),)) is None
    with_id = scoped(rewrite, (Condition(("arg", "id"), ("7",)),))
    assert with_id is not None
    assert (with_id.match, with_id.to) == ("/a/{p*}?id=7", "/b/{p*}?id=7")


def test_an_argument_is_known_by_its_whole_name() -> None:
    drop = Rule("r", "equivalence", match="?xid={}", drop=("sid",))
    with_id = scoped(drop, (Condition(("arg", "id"), ("7",)),))
    assert with_id is not None
    assert with_id.match == "?xid={}&id=7"
    assert scoped(with_id, (Condition(("arg", "id"), ("8",)),)) is None


def test_a_path_that_begins_with_an_empty_segment_is_not_said() -> None:
    assert scoped(SID, (Condition(("front", "2"), ("/",)),)) is None  # "///{*}" would have no host
    assert scoped(SID, (Condition(("front", "2"), ("/wiki",)),)) is None  # of "//wiki/{*}" wiki is the host
    assert scoped(SID, (Condition(("path", ""), ("//x",), holds=False),)) is None
