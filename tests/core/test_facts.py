"""What the markup of a page says besides its text, as browsers read it."""

from __future__ import annotations

from html import escape

from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.content.html import extract, facts_of
from dedupcrawl.core.facts import Facts
from tests.fixtures import table_of

LINKS = (("link", b"rel", (b"canonical", b"alternate")),)
GENERATOR = (("meta", b"name", (b"generator",)),)


def head(markup: str) -> Facts:
    return facts_of(f"<html><head>{markup}</head><body><link rel=canonical href=/late><p>text")


def test_the_links_of_a_head_by_one_of_their_relations() -> None:
    markup = '<link REL="next  Canonical" HREF=/a href=/b><link rel=canonically><link href=/c><!-- <link rel=canonical>'
    assert head(markup).elements(LINKS, True) == [("link", {"rel": "next  Canonical", "href": "/a"})]
    assert head("<noscript><link rel=canonical></noscript>").elements(LINKS, True) == []
    assert len(facts_of("<link rel=canonical href=/without-a-head>").elements(LINKS, True)) == 1


def test_elements_of_two_kinds_in_page_order() -> None:
    facts = facts_of('<head><META Property=OG:url content=" /a "><link rel=alternate></head><meta property="og:url">')
    wanted = (*LINKS, ("meta", b"property", (b"og:url",)))
    of_head = [("meta", {"property": "OG:url", "content": "/a"}), ("link", {"rel": "alternate"})]
    assert facts.elements(wanted, True) == of_head
    assert facts.elements(wanted) == [*of_head, ("meta", {"property": "og:url"})]
    assert facts.elements(GENERATOR) == []


def test_links_and_elements_that_go_by_a_number() -> None:
    facts = facts_of(
        '<a href="/t?p=42&amp;x#p42 "><a href="/t?p=142#42"><a href="#7"><a href="/7">'
        "<a href=/7/#c-7 id=c-7><svg><g id=42></svg>"
    )
    assert facts.numbered_anchors == ["/t?p=42&x#p42", "/t?p=142#42", "/7/#c-7"]
    assert facts.has_elements({"p42", "c-7", "42"}) == {"c-7", "42"}
    assert len(facts.anchors) == 5


@table_of("core", "references_in_values")
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
    facts.elements(LINKS, True), facts.elements(GENERATOR), facts.scripts(b"a")
    assert facts.has_elements({"p1"}) <= {"p1"}
    assert set(facts.numbered_anchors) <= set(facts.anchors)
    assert len(set(facts.references(1_000))) <= body.count(b"=")
    assert (
        extract(facts, "http://a.example/")
        == extract(facts, "http://a.example/")
        == extract(Facts(body), "http://a.example/")
    )
