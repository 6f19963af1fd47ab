"""Pages as the core reads them: what was recorded, links, facts and tags."""

from __future__ import annotations

from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from w3lib.url import canonicalize_url

from dedupcrawl.content.html import extract, facts_of
from dedupcrawl.core.facts import Facts
from dedupcrawl.core.links import link_hash, local_form
from dedupcrawl.core.tags import tame
from dedupcrawl.page import Page
from tests.core.markup import ARTICLES, MARKUP, PARTS, PIECES, TAG_PIECES, TAGS, article, drawn
from tests.core.reading import LOCATED, read, shown, told
from tests.core.recorded import changed
from tests.fixtures import table_of
from tests.linked import linked

BROKEN = [
    "".join(pieces).encode("utf-8", "surrogatepass")
    for pieces in [*drawn(TAG_PIECES, 400, 40), *drawn(PIECES, 200, 40)]
]


def test_broken_pages() -> None:
    assert changed("broken", (told(read(markup)) for markup in BROKEN)) == []
    assert changed("without fields", (told(read(markup, fields=False)) for markup in BROKEN[:100])) == []
    assert changed("tame", (tame(markup).decode("utf-8", "replace") for markup in BROKEN)) == []


def test_articles() -> None:
    assert changed("articles", (told(read(article(parts))) for parts in drawn(PARTS, 400, 60))) == []


def test_pages_that_meet_a_bound() -> None:
    pages = [
        b"<p>" + b"<b" * 120_000,
        b"<p>one" * 100_000,
        b"<p>one" * 100_001 + b"<3",
        b"<script>" + b"<" * 300_005 + b"</script>x",
        b"<svg>" + b"<" * 299_999 + b"<p>x",
        b"<!--" + b"-x" * 300_005 + b"-->y",
        b"<a " + b"x=" * 1_999 + b"'>'>y" + b"<a " + b"x=" * 2_000 + b"'>'>y",
        b"<div>" * 300 + b"<template>" + b"</div>" * 99 + b"x</b></td>" + b"<td><div>" * 60 + b"</table>y",
        b"<a href='" * 50_000,
        b"<\xe4\xb8<b>\xad</b>\xff" * 50,
        b"".join(b"<a href=/%d>x</a>" % number for number in range(1_200)),
        b"".join(b"<a href=/" + b"x" * length + b"#>x</a>" for length in (1_999, 2_000, 3_998, 3_999)),
    ]
    assert changed("bounds", (told(read(markup)) for markup in pages)) == []


_PARTS_OF_LINKS = """
a A.example www. WWW.a.Example a.example é %C3%A9 %b1 %2 % + %26 / // ? = . ./ ../ .. # : :80 @ http: HTTPS:// ftp:// x
&amp; &#63; &#32; mailto: \\
"""


@pytest.mark.parametrize("located", [LOCATED, (b"a.example", b"b.example", b"/")], ids=["at home", "base elsewhere"])
def test_links(located: tuple[bytes, bytes, bytes], request: pytest.FixtureRequest) -> None:
    targets = drawn([*_PARTS_OF_LINKS.split(), " ", "\u3000"], 400, 12)
    pages = (f'<a href="{"".join(target)}">x</a>'.encode() for target in targets)
    found = (told(read(markup, located=located, fields=False)) for markup in pages)
    assert changed(f"links, {request.node.callspec.id}", found) == []


@given(TAGS | MARKUP.map(str.encode) | ARTICLES)
def test_any_markup_is_a_page_and_the_same_one_again(markup: bytes) -> None:
    page = read(markup)
    assert told(read(markup)) == told(page)
    assert [line for line in page.paragraphs if not line.strip()] == []


def links(markup: str, url: str = "http://a.example/forum/topic?id=7") -> frozenset[int]:
    return extract(markup, url).links


@table_of("core", "a_link_is_written_like_the_page_that_it_leads_to")
def test_a_link_is_written_like_the_page_that_it_leads_to(href: str, leads_to: str) -> None:
    assert links(f'<p><a href="{href}">there</a>') == {link_hash(local_form(f"http://a.example{leads_to}"))}


SAID = st.lists(st.sampled_from(["a", "b%3d", "é", "%C3%A9", "%b1", "%B1", " ", "%20", "+", "'", "%27", "(", ":"])).map(
    "".join
)


@given(SAID, st.lists(SAID, min_size=1))
def test_two_urls_that_scrapy_takes_for_one_have_one_form(path: str, values: list[str]) -> None:
    url = f"http://a.example/{path}?{'&'.join(f'{value}=' for value in values)}"
    assert local_form(canonicalize_url(url)) == local_form(url)


@pytest.mark.parametrize(("one", "other"), [("/%B1%B1", "/%B1%B2"), ("/p?a=1", "/p?a=2"), ("/a%2541", "/aA")])
def test_other_urls_have_other_forms(one: str, other: str) -> None:
    assert local_form(f"http://a.example{one}") != local_form(f"http://a.example{other}")


@pytest.mark.parametrize("href", ["http://b.example/p", "mailto:a@a.example", "javascript:void(0)", "#top", "", "?"])
def test_what_leads_elsewhere_is_none(href: str) -> None:
    assert links(f'<p><a href="{href}">there</a>') == set()


@table_of("core", "a_base_may_be_relative_or_of_another_host")
def test_a_base_may_be_relative_or_of_another_host(base: str, leads_to: list[str]) -> None:
    assert links(f"<base href='{base}'><p><a href=p.html>there</a>") == linked(*leads_to)


def test_other_schemes_are_no_links_of_a_file_either() -> None:
    markup = "<p><a href='mailto:a@a.example'>write</a> <a href='javascript:void(0)'>go</a>"
    assert links(markup, "file:///tmp/old.html") == set()


def test_a_million_links_are_not_kept() -> None:
    assert len(links("".join(f"<a href=/{number}>x</a>" for number in range(5_000)))) == 1_000


def test_a_question_mark_alone_is_no_link_whatever_stands_before() -> None:
    for before in ("/a", "?a=1", "a", "http://a.example/a"):
        assert len(links(f"<a href='{before}'>one</a> <a href='?'>two</a>")) == 1


def test_links_amid_the_main_text_are_told_apart() -> None:
    text = "<p>A long sentence about <a href=/in>it</a>, and more than that." * 20
    article = f"<article><h1><a href=/title>Title</a></h1>{text}</article>"
    page = extract(f"<nav><a href=/nav>Menu</a></nav>{article}<footer><a href=/end>End", "http://a.example/")
    assert page.links == linked("/nav", "/title", "/in", "/end")
    assert page.main_links == linked("/title", "/in")


WRITTEN = st.text(st.characters(exclude_characters="'"), max_size=60)


@given(st.lists(WRITTEN, max_size=5), st.text(max_size=60), st.text())
def test_total(targets: list[str], base: str, url: str) -> None:
    markup = "".join(f"<p><a href='{target}'>there</a>" for target in targets)
    page = extract(f"<base href='{base}'>{markup}", url)
    assert isinstance(page, Page)
    assert page.main_links <= page.links
    assert isinstance(local_form(url), bytes)


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


@table_of("core", "where_tags_are")
def test_where_tags_are(markup: str, text: str) -> None:
    assert "\n".join(shown(markup.encode())) == text


@given(MARKUP.map(str.encode) | TAGS)
def test_tame_markup_has_the_same_text(markup: bytes) -> None:
    assert "".join("".join(shown(tame(markup))).split()) == "".join("".join(shown(markup)).split())


def test_tame_markup_has_no_huge_tags_comments_or_scripts() -> None:
    huge = "".join(f" a{number}=1" for number in range(10_000))
    markup = f"<p{huge}>x</p><!-- c --><script>y</script><a href=u>z</a>"
    assert tame(markup.encode()) == b"<p>x</p><a href=u>z</a>"
