"""What the markup of a page says besides its text, as browsers read it."""

from __future__ import annotations

from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.content.html import extract, facts_of
from dedupcrawl.core.facts import Facts

RELATIONS = (b"canonical", b"alternate")


def head(markup: str) -> Facts:
    return facts_of(f"<html><head>{markup}</head><body><link rel=canonical href=/late><p>text")


def test_the_links_of_a_head_by_one_of_their_relations() -> None:
    facts = head(
        '<link REL="next  Canonical" HREF=/a href=/b><link rel=canonically><link href=/c><!-- <link rel=canonical>'
    )
    assert facts.elements("link", b"rel", RELATIONS, True) == [{"rel": "next  Canonical", "href": "/a"}]
    assert head("<noscript><link rel=canonical></noscript>").elements("link", b"rel", RELATIONS, True) == []
    headless = facts_of("<link rel=canonical href=/without-a-head>")
    assert headless.elements("link", b"rel", RELATIONS, True)[0]["href"] == "/without-a-head"


def test_the_contents_of_meta_elements() -> None:
    facts = facts_of(
        '<head><META Property=OG:url content=" /a "><meta property="og:url"></head><meta name=generator content=x>'
    )
    named = facts.elements("meta", b"property", (b"og:url",), True)
    assert named == [{"property": "OG:url", "content": "/a"}, {"property": "og:url"}]
    assert facts.elements("meta", b"name", (b"generator",), True) == []
    assert facts.elements("meta", b"name", (b"generator",)) == [{"name": "generator", "content": "x"}]


def test_the_first_base_that_has_an_address() -> None:
    assert facts_of("<base target=_top><base href='/a&amp;b'><base href=/c>").base == "/a&b"
    assert facts_of("<!-- <base href=/a> --><p>").base == ""


def test_scripts_of_a_media_type() -> None:
    facts = facts_of(
        '<script type="application/LD+json; charset=utf-8">{"a": "</b>"}</script><script type=text/x>1</script>'
    )
    assert facts.scripts(b"application/ld+json") == [b'{"a": "</b>"}']


def test_links_and_elements_that_go_by_a_number() -> None:
    facts = facts_of(
        '<a href="/t?p=42&amp;x#p42 "><a href="/t?p=142#42"><a href="#7"><a href="/7">'
        "<a href=/7/#c-7 id=c-7><svg><g id=42></svg>"
    )
    assert facts.numbered_anchors == ["/t?p=42&x#p42", "/t?p=142#42", "/7/#c-7"]
    assert facts.has_elements({"p42", "c-7", "42"}) == {"c-7", "42"}
    assert len(facts.anchors) == 5


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("?a&amp;b&#38;c&#x26;d", "?a&b&c&d"),
        ("?a&copy=1&region=2&sect", "?a&copy=1&region=2§"),
        ("&copy;&semi;&notit;&noti", "©;&notit;&noti"),
        ("&unknown;&;&#;&&amp", "&unknown;&;&#;&&"),
        (f"&#{'9' * 20};", "\ufffd" + "9" * 11 + ";"),
        ("&nGt;" * 50, "≫⃒" * 50),
    ],
)
def test_references_in_values(written: str, value: str) -> None:
    assert facts_of(f'<a href="{written}">').anchors == [value]


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_value_that_was_escaped_is_what_it_was(value: str) -> None:
    facts = facts_of(f'<a href="{escape(value)}">')
    assert facts.anchors == [value.strip(" \t\n\v\f\r")]


PIECES = [
    "<",
    ">",
    "'",
    '"',
    "=",
    "&",
    "&amp",
    ";",
    "#p1",
    " ",
    "/",
    "<!--",
    "-->",
    "<a href",
    "<base ",
    "<link rel=canonical",
]
PIECES += ["<meta name=", "<script type=a>", "</script>", "<noscript>", "<svg", "<a id=p1>", "</head>", "p=1"]


@given(st.lists(st.one_of(st.sampled_from(PIECES).map(str.encode), st.binary(max_size=4))).map(b"".join))
def test_any_markup(body: bytes) -> None:
    facts = Facts(body)
    facts.elements("link", b"rel", RELATIONS, True), facts.elements("meta", b"name", (b"a",)), facts.scripts(b"a")
    assert facts.has_elements({"p1"}) <= {"p1"}
    assert set(facts.numbered_anchors) <= set(facts.anchors)
    assert len(set(facts.references(1_000))) <= body.count(b"=")
    assert (
        extract(facts, "http://a.example/")
        == extract(facts, "http://a.example/")
        == extract(Facts(body), "http://a.example/")
    )
