from __future__ import annotations

import time
from urllib.parse import urljoin

from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.content.html import facts_of
from dedupcrawl.software import sightings
from dedupcrawl.software.recognition import Sight
from dedupcrawl.software.sightings import _MOST_HTML

URL = "http://example.org/a/page"


def sight_of(url: str, html: str) -> Sight:
    return sightings.sight_of(url, facts_of(html))


def test_links_are_made_whole() -> None:
    html = (
        """<a href="../b?x=1&amp;y=2">1</a> <img src='/c.png'> <form action=d> <a href="#top">t</a> <a href="">e</a>"""
    )
    assert sight_of(URL, html).links == (
        "http://example.org/b?x=1&y=2", "http://example.org/c.png", "http://example.org/a/d",
    )  # fmt: skip


def test_links_begin_at_the_base_of_a_page() -> None:
    assert sight_of(URL, '<base href="/b/c"><a href="d">').links == ("http://example.org/b/c", "http://example.org/b/d")
    assert sight_of(URL, '<base href="http://["><a href="d">').links == ("http://example.org/a/d",)


def test_what_is_no_markup_has_no_links() -> None:
    html = """<!-- <a href="/1"> --><script>"<a href='/2'>"</script><textarea><a href="/3"></textarea> href="/4" """
    html += """<p onclick="location.href = '/5'"><noscript><a href="/6"></noscript><svg><a href="/7"></svg>"""
    assert sight_of(URL, html).links == ("http://example.org/6", "http://example.org/7")


FRONTS = st.sampled_from(["/", "http://a.example/", "https://b.example:80/", "http://c.example", "HTTP://d.example/"])
PATHS = st.builds("{}{}".format, FRONTS, st.text("/?=&.-_%+:;,a1", max_size=12))


def test_attributes_whichever_way_they_are_written() -> None:
    html = """<A HREF = "/1"><img\nsRc='/2'><form method=post\taction\n=\n/3><a data-href="/4">"""
    html += """<a xhref="/5" href-x="/6">"""
    assert sight_of(URL, html).links == tuple(f"http://example.org/{n}" for n in (1, 2, 3, 4))


@given(
    PATHS, st.sampled_from([URL, "http://example.org", "https://example.org:8000/?a=/b", "http://example.org/a/b/?c"])
)
def test_what_is_not_resolved_needs_not_be(path: str, url: str) -> None:
    assert sight_of(url, f'<a href="{path}">').links == (urljoin(url, path),)


def test_generators_whichever_way_they_are_written() -> None:
    html = """<META NAME="Generator" CONTENT="WordPress 6"><meta content='Plone' name='generator'><meta name=robots>"""
    assert sight_of(URL, html).generators == ("WordPress 6", "Plone")


def test_a_broken_link_is_left_out() -> None:
    assert sight_of(URL, '<a href="http://[">x</a><a href="/y">y</a>').links == ("http://example.org/y",)


def test_a_long_page_is_looked_at_as_far_as_that_goes() -> None:
    html = "<p>" * _MOST_HTML + '<a href="/late">x</a>'
    assert sight_of(URL, html).links == ()


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
