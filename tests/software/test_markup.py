from __future__ import annotations

import time
from urllib.parse import urljoin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.content.html import facts_of
from dedupcrawl.software import sightings
from dedupcrawl.software.recognition import Sight
from dedupcrawl.software.sightings import _MOST_HTML

URL = "http://example.org/a/page"


def sight_of(url: str, html: str) -> Sight:
    return sightings.sight_of(url, facts_of(html))


SITE = "http://example.org"
LINKS: dict[str, tuple[str, list[str]]] = {
    "made whole": (
        """<a href="../b?x=1&amp;y=2">1</a> <img src='/c.png'> <form action=d> <a href="#top">t</a> <a href="">e</a>""",
        ["/b?x=1&y=2", "/c.png", "/a/d"],
    ),
    "however they are written": (
        """<A HREF = "/1"><img\nsRc='/2'><form method=post\taction\n=\n/3><a data-href="/4">"""
        """<a xhref="/5" href-x="/6">""",
        ["/1", "/2", "/3", "/4"],
    ),
    "from the base of the page": ('<base href="/b/c"><a href="d">', ["/b/c", "/b/d"]),
    "but not from a broken one": ('<base href="http://["><a href="d">', ["/a/d"]),
    "without one that is broken": ('<a href="http://[">x</a><a href="/y">y</a>', ["/y"]),
    "of elements alone": (
        """<!-- <a href="/1"> --><script>"<a href='/2'>"</script><textarea><a href="/3"></textarea> href="/4" """
        """<p onclick="location.href = '/5'"><noscript>--><a href="/6"><!--</noscript><svg><a href="/7"></svg>"""
        "<noscript></noscript><select><option src=/8></noscript><i src=/9>",
        ["/6", "/7", "/8", "/9"],
    ),
    "as far as a long page is looked at": ("<p>" * _MOST_HTML + '<a href="/late">x</a>', []),
}


@pytest.mark.parametrize(("html", "links"), LINKS.values(), ids=LINKS)
def test_links_are_those_that_a_browser_follows(html: str, links: list[str]) -> None:
    assert sight_of(URL, html).links == tuple(f"{SITE}{link}" for link in links)


def test_generators_whichever_way_they_are_written() -> None:
    html = """<META NAME="Generator" CONTENT="WordPress 6"><meta content='Plone' name='generator'><meta name=robots>"""
    assert sight_of(URL, html).generators == ("WordPress 6", "Plone")


FRONTS = st.sampled_from(["/", "http://a.example/", "https://b.example:80/", "http://c.example", "HTTP://d.example/"])
PATHS = st.builds("{}{}".format, FRONTS, st.text("/?=&.-_%+:;,a1", max_size=12))


@given(
    PATHS, st.sampled_from([URL, "http://example.org", "https://example.org:8000/?a=/b", "http://example.org/a/b/?c"])
)
def test_what_is_not_resolved_needs_not_be(path: str, url: str) -> None:
    assert sight_of(url, f'<a href="{path}">').links == (urljoin(url, path),)


def test_a_page_made_to_be_slow_is_not() -> None:
    started = time.process_time()
    for html in (
        "<meta " * 50_000,
        'href="' * 50_000,
        "<meta name=generator content=" + "a" * 200_000,
        "href=" * 50_000,
    ):
        sight_of(URL, html)
    assert time.process_time() - started < 5


@given(st.text(), st.text())
def test_it_never_raises(url: str, html: str) -> None:
    sight_of(url, html)
    sight_of(f"http://example.org/{url}", f'<a href="{html}"><meta name="generator" content="{html}">')
