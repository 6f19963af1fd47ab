"""What one rule does to one URL: conditions on hosts, paths and arguments, and the three transformations."""

from __future__ import annotations

import pytest

from dedupcrawl.sites import site_of
from dedupcrawl.urls.compiled_rule import LONGEST_URL, CompiledRule, TooLongError
from dedupcrawl.urls.normalizer import SiteNormalizer
from dedupcrawl.urls.rule import Rule, RuleError
from dedupcrawl.urls.rule_files import SiteRules
from dedupcrawl.urls.rule_set import RuleSet
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


@pytest.mark.parametrize(
    ("match", "query", "fits"),
    [
        ("?page=1", "page=1", True),
        ("?page=1", "page=1&page=1", True),
        ("?page=1", "page=1&page=2", False),
        ("?page=1", "page=2&page=1", False),
        ("?page=1", "page=1&page", False),
        ("?page={p}", "page=1&x&page=1", True),
        ("?page={p}", "page=1&x&page=2", False),
        ("?page={}", "page=1&page=2", True),
        ("?page={:digits}", "page=1&page=last", False),
        ("?page", "page&page", True),
        ("?page", "page&page=1", False),
    ],
)
def test_an_argument_that_is_there_twice_is_of_the_form_both_times(match: str, query: str, fits: bool) -> None:
    url = f"http://a.com/list?{query}"
    assert (applied(Rule("first", "rewrite", match=match, drop=("page",)), url) != url) == fits


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


@pytest.mark.parametrize(
    ("rule", "url", "after"),
    [
        (Rule("a", "rewrite", match="/{f*}/index.html", to="/{f}/"), "http://a.com/x/y/index.html", "http://a.com/x/y/"),
        (Rule("a", "rewrite", match="/{f*}/index.html", to="/{f}/"), "http://a.com/index.html", "http://a.com/"),
        (Rule("a", "rewrite", match="/?title={x}", to="/wiki/{x}"), "http://a.com/?title=T&b=1", "http://a.com/wiki/T?b=1"),
        (Rule("a", "rewrite", match="/{x}", to="/{x|lower}"), "http://a.com/AbC#top", "http://a.com/abc#top"),
        (Rule("a", "equivalence", match="/f-{}", to="/f-{}"), "http://a.com/f-x1", "http://a.com/f-*"),
        (Rule("a", "rewrite", match="?to={u}", to="{u|decode}"), "http://a.com/?to=http%3A%2F%2Fa.com%2Fx", "http://a.com/x"),
        (Rule("a", "rewrite", match="?to={u}", to="{u|decode}"), "http://a.com/?to=%2Fx%3Fa%3D1", "http://a.com/x?a=1"),
        (Rule("a", "rewrite", match="?to={u}", to="{u|decode}"), "http://a.com/?to=x%3Fa", None),
        (Rule("a", "rewrite", match="/{x}", to="/{x|decode}"), "http://a.com/a%3Fb%2Fc%41", "http://a.com/a%3Fb%2FcA"),
        (Rule("a", "rewrite", match="/?t={x}", to="/{x|decode}"), "http://a.com/?t=%2Fa%23b", "http://a.com/%2Fa%23b"),
        (Rule("a", "rewrite", match="?to={u}", to="{u|decode}"), "http://a.com/?to=http%3A%2F%2Fb.com%2Fx", None),
        (Rule("a", "rewrite", match="//{h}", to="//www.{h}"), "http://a.com/x", "http://www.a.com/x"),
        (Rule("a", "rewrite", hosts=("www.a.com",), drop=("x",)), "http://a.com/?x=1", None),
        (Rule("a", "rewrite", hosts=("!www.a.com",), drop=("x",)), "http://a.com/?x=1", "http://a.com/"),
        (Rule("a", "rewrite", within=("/w/{*}", "!/w/y"), drop=("x",)), "http://a.com/w/z?x=1", "http://a.com/w/z"),
        (Rule("a", "rewrite", within=("/w/{*}", "!/w/y"), drop=("x",)), "http://a.com/w/y?x=1", None),
        (Rule("a", "rewrite", convert="sort-query"), "http://a.com/?b=1;a=2", "http://a.com/?a=2&b=1"),
    ],
)  # fmt: skip
def test_a_rule_and_a_url(rule: Rule, url: str, after: str | None) -> None:
    assert applied(rule, url) == (url if after is None else after)


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
    ("host", "url", "is_for"),
    [
        ("shop.com", "http://shop.com:80/?sid=1", True),
        ("shop.com:80", "http://shop.com/?sid=1", True),
        ("shop.com:443", "https://SHOP.com/?sid=1", True),
        ("shop.com", "http://shop.com:443/?sid=1", False),
        ("shop.com", "https://shop.com:80/?sid=1", False),
        ("shop.com:443", "http://shop.com/?sid=1", False),
        ("[::1]:80", "http://[::1]/?sid=1", True),
    ],
)
def test_a_host_is_one_with_the_port_that_the_scheme_stands_for(host: str, url: str, is_for: bool) -> None:
    site = site_of(url)
    for hosts, drops in (((host,), is_for), ((f"!{host}",), not is_for)):
        rules = SiteNormalizer(SiteRules(site, (Rule("sid", "rewrite", hosts=hosts, drop=("sid",)),)))
        assert (rules.normalize(url).canonical != url) == drops


@pytest.mark.parametrize(
    "url", ["http://www.bücher.de/a", "http://www.bücher.de:80/a", "http://www.xn--bcher-kva.de:80/a"]
)
def test_a_match_that_names_a_host_means_it_in_each_spelling(url: str) -> None:
    rule = Rule("all", "rewrite", match="//WWW.bücher.de/{p}", to="/b")
    assert SiteNormalizer(SiteRules("bücher.de", (rule,))).normalize(url).canonical.endswith("/b")
