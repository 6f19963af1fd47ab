from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from w3lib.url import canonicalize_url

from dedupcrawl.content.html import extract
from dedupcrawl.core.links import link_hash, local_form
from dedupcrawl.page import Page
from tests.fixtures import table_of
from tests.linked import linked


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
