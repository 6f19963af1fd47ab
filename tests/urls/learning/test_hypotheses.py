from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.urls.compiled_rule import CompiledRule
from dedupcrawl.urls.learning.hypotheses import embedded, exposing, hypotheses, hypothesis
from dedupcrawl.urls.learning.transformation import Transformation
from dedupcrawl.urls.rule import RuleError
from dedupcrawl.urls.url_parts import UrlParts, split_url


def parts(url: str) -> UrlParts:
    found = split_url(url)
    assert found is not None
    return found


def suggested(source: str, target: str) -> list[Transformation]:
    return list(hypotheses(parts(source), parts(target)))


@pytest.mark.parametrize(
    ("source", "target", "match", "to"),
    [
        ("http://a.com/x/art/index.html", "http://a.com/x/art", "/{p*}/index.html", "/{p*}"),
        ("http://a.com/x/art/index.html", "http://a.com/x/art/", "/{p*}/index.html", "/{p*}/"),
        ("http://a.org/?title=Casino_Royale", "http://a.org/wiki/Casino_Royale", "/?title={value}", "/wiki/{value}"),
        ("http://a.org/?title=A%2FB", "http://a.org/wiki/A/B", "/?title={value}", "/wiki/{value|path}"),
        ("http://a.org/?title=A%3AB", "http://a.org/wiki/A:B", "/?title={value}", "/wiki/{value|decode}"),
        ("http://a.com/tt1/photogallery", "http://a.com/tt1/mediaindex", "/{p*}/photogallery", "/{p*}/mediaindex"),
        ("http://a.com/Lord-Rings/dp/B1", "http://a.com/dp/B1", "/{p*}/dp/{x1}", "/dp/{x1}"),
        ("http://a.com/Recipe/x", "http://a.com/RECIPE/x", "/{p*}/{name}/{x0}", "/{p*}/{name|upper}/{x0}"),
        ("http://a.com/wiki/page.", "http://a.com/wiki/page", "/{p*}/{name}.", "/{p*}/{name}"),
        ("http://a.com/wiki/page.html", "http://a.com/wiki/page.php", "/{p*}/{name}.html", "/{p*}/{name}.php"),
        ("http://www.a.com/x", "http://a.com/x", "//www.{host}", "//{host}"),
        ("http://a.com/x", "https://a.com/x", "http://", "https://"),
        ("http://a.com/2008/05/x", "http://a.com/2008/06/x", "/2008/{:digits}/{x0}", "/2008/{}/{x0}"),
        ("http://a.com/9/1/b", "http://a.com/9/2/b", "/{b0:digits}/{:digits}/{x0}", "/{b0}/{}/{x0}"),
        ("http://a.com/2008/05/x", "http://a.com/2008/new/x", "/2008/{}/{x0}", "/2008/{}/{x0}"),
        ("http://a.com/S1a/x/y", "http://a.com/S2b/x/y", "/{}/{x}/{p*}", "/{}/{x}/{p*}"),
        ("http://a.com/knives/folding/robin.html", "http://a.com/robin.html", "/{p*}/{x0}.html", "/{x0}.html"),
    ],
)  # fmt: skip
def test_transformations_of_a_pair(source: str, target: str, match: str, to: str) -> None:
    assert (match, to) in [(rule.match, rule.to) for rule in suggested(source, target)]


def test_the_placeholder_of_an_earlier_rule_is_no_name() -> None:
    assert not [one for one in suggested("http://a.com/*/x", "http://a.com/x") if "*" in one.match.split("/")]
    assert suggested("http://a.com/*/x/print", "http://a.com/*/x")  # what else differs is told


def test_arguments() -> None:
    found = suggested("http://a.com/x?sid=1&cat=8", "http://a.com/x?sid=2&cat=8")
    assert ("sid",) in [rule.drop for rule in found]
    assert ("cat",) not in [rule.drop for rule in found]
    assert [rule.convert for rule in suggested("http://a.com/?b=1&a=2", "http://a.com/?a=2&b=1")] == ["sort-query"]


def test_the_spelling_of_escapes_is_no_conversion() -> None:
    assert all("|" not in rule.to for rule in suggested("http://a.com/a%2fb%41/x", "http://a.com/a%2FbA/x"))
    assert all("|" not in rule.to for rule in suggested("http://a.com/%E4%BA%BA", "http://a.com/人"))
    assert "/{p*}/{name|decode}" in [rule.to for rule in suggested("http://a.com/File%3Ab", "http://a.com/File:b")]


def test_urls_in_urls() -> None:
    assert [r.match for r in embedded(parts("http://a.com/go?to=http%3A%2F%2Fa.com%2Fx"))] == ["?to={url}"]
    assert [r.match for r in embedded(parts("http://a.com/go?to=/news/7&via=%2fx"))] == ["?to={url}", "?via={url}"]
    assert not list(embedded(parts("http://a.com/go?to=/&via=//b.com/x&at=%2F%2Fb.com")))
    rule = exposing(parts("http://a.com/add/uenc/aHR0cDovL2EuY29tL3g_cT0x/"))
    assert rule is not None
    after = CompiledRule(hypothesis(*rule)).apply(parts("http://a.com/add/uenc/aHR0cDovL2EuY29tL3g_cT0x/"), "a.com")
    assert after is not None
    assert after.args == ["q=1"]  # what is decoded is taken apart again


@given(st.text("ab/?&=.%{}1A-", max_size=25), st.text("ab/?&=.%{}1A-", max_size=25))
def test_every_hypothesis_is_a_rule(source: str, target: str) -> None:
    for rule in suggested(f"http://a.com/{source}", f"http://a.com/{target}"):
        try:
            CompiledRule(hypothesis(*rule))
        except RuleError:
            assert "{" in source + target or "|" in source + target


def test_what_stands_before_a_url_in_a_url_is_not_named_when_it_is_long() -> None:
    long = parts(f"http://a.com/{'x' * 5000}/aHR0cDovL2EuY29tLw")
    assert exposing(long) is None
    assert exposing(parts("http://a.com/x/aHR0cDovL2EuY29tLw")) is not None
