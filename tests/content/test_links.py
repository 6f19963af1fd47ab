from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.content.html import extract
from dedupcrawl.content.links import local_form, local_links


def links(markup: str, url: str = "http://a.example/forum/topic?id=7") -> tuple[str, ...]:
    return extract(markup, url).links


@pytest.mark.parametrize(
    ("href", "leads_to"),
    [
        ("/p/1", "/p/1"),
        ("http://a.example/p/1", "/p/1"),
        ("HTTPS://www.A.example/p/1", "/p/1"),
        ("//a.example/p/1", "/p/1"),
        ("http://a.example", "/"),
        ("other?id=8", "/forum/other?id=8"),
        ("./other", "/forum/other"),
        ("../other", "/other"),
        ("../../../other", "/other"),
        ("?id=8&amp;page=2#last", "/forum/topic?id=8&page=2"),
    ],
)
def test_a_link_is_written_like_the_page_that_it_leads_to(href: str, leads_to: str) -> None:
    assert links(f"<p><a href='{href}'>there</a>") == (leads_to,)


@pytest.mark.parametrize("href", ["http://b.example/p", "mailto:a@a.example", "javascript:void(0)", "#top", ""])
def test_what_leads_elsewhere_is_none(href: str) -> None:
    assert links(f'<p><a href="{href}">there</a>') == ()


def test_a_base_is_heeded() -> None:
    assert links("<base href='/wiki/'><p><a href=Page>there</a>") == ("/wiki/Page",)


@pytest.mark.parametrize(
    ("base", "leads_to"),
    [
        ("./", ("/forum/p.html",)),
        ("sub/", ("/forum/sub/p.html",)),
        ("https://cdn.other.example/x/", ()),
        ("https://www.a.example/x/", ("/x/p.html",)),
    ],
)
def test_a_base_may_be_relative_or_of_another_host(base: str, leads_to: tuple[str, ...]) -> None:
    assert links(f"<base href='{base}'><p><a href=p.html>there</a>") == leads_to


def test_other_schemes_are_no_links_of_a_file_either() -> None:
    markup = "<p><a href='mailto:a@a.example'>write</a> <a href='javascript:void(0)'>go</a>"
    assert links(markup, "file:///tmp/old.html") == ()


def test_a_page_has_its_own_form() -> None:
    assert local_form("http://a.example/forum/topic?id=7#x") == "/forum/topic?id=7"
    assert local_form("http://a.example") == "/"


def test_a_million_links_are_not_kept() -> None:
    assert len(links("".join(f"<a href=/{number}>x</a>" for number in range(5_000)))) == 1_000


@given(st.lists(st.binary(max_size=60), max_size=5), st.binary(max_size=60), st.text(max_size=60))
def test_total(anchors: list[bytes], base: bytes, url: str) -> None:
    links, main_links = local_links([(anchor, [], at) for at, anchor in enumerate(anchors)], base, url, [0])
    assert all(links)
    assert set(main_links) <= set(links)
