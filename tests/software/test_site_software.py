"""What is known of a site's software, and what markup shows."""

from __future__ import annotations

import time
from urllib.parse import urljoin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.content.html import facts_of
from dedupcrawl.software import sightings
from dedupcrawl.software.installation import MOST_OF_A_SITE, Installation, SiteSoftware
from dedupcrawl.software.program import programs
from dedupcrawl.software.recognition import Sight
from dedupcrawl.software.sightings import _MOST_HTML
from dedupcrawl.urls.credits import Credits

TICKETS = {"url /ticket/{:digits}": 2, "url /roadmap": 1}
TRAC = Installation("trac", "a.com/trac", TICKETS, {"base": "/trac"}, ("a.com",))
BOARDS = {"url /index.php?board={:digits}.{}": 2, "cookie SMFCookie": 2}
FORUM = Installation("smf", "a.com", BOARDS, {"base": ""}, ("a.com", "www.a.com"))


def test_what_cannot_be_read_is_nothing() -> None:
    assert SiteSoftware.from_bytes(None) == SiteSoftware.from_bytes(b"{") == SiteSoftware.from_bytes(b"[1]")


def test_joined_with_what_another_process_kept() -> None:
    one, other = SiteSoftware((TRAC,), frozenset("r")), SiteSoftware((FORUM,), frozenset("s"))
    assert one.joined(other) == SiteSoftware((TRAC, FORUM), frozenset("rs"))


def test_signs_that_several_have_seen_come_together() -> None:
    against = Installation("trac", "a.com/trac", {"url /projects/{}": -2}, {"base": "/trac"}, ("www.a.com",))
    one, other = SiteSoftware(seen=(TRAC, FORUM)), SiteSoftware(seen=(against,))
    for known in (one.joined(other), other.joined(one)):
        assert known.installations == [FORUM]
        (trac,) = (found for found in known.seen if found.program == "trac")
        assert trac.signs == {**TICKETS, "url /projects/{}": -2}
        assert trac.hosts == ("a.com", "www.a.com")
        assert known.joined(one).installations == [FORUM], "who has not seen it does not bring the program back"
        assert [(row["program"], row["recognized"]) for row in known.told(lambda owner: Credits())] == [
            ("smf", True),
            ("trac", False),
        ]


NEARLY = {"url /ticket/{:digits}": 2}
OTHER = {"url /projects/{}": -1}


@pytest.mark.parametrize(
    ("sure", "signs", "is_recognized"),
    [
        (3, NEARLY, True),
        (2, NEARLY, False),
        (3, {"url /roadmap": 1}, False),
        (3, {**TICKETS, **OTHER}, False),
        (3, OTHER, False),
    ],
)
def test_where_several_places_run_a_program_less_is_enough_at_others(
    sure: int, signs: dict[str, int], is_recognized: bool
) -> None:
    def trac(where: str, signs: dict[str, int]) -> Installation:
        return Installation("trac", f"a.com/{where}", signs, {"base": f"/{where}"}, ("a.com",))

    there = [trac(str(number), TICKETS) for number in range(sure)]
    last = trac("last", signs)
    known = SiteSoftware(seen=(last, FORUM, *there))
    assert known.installations == [FORUM, *there, *([last] if is_recognized else [])]
    places = [row["where"] for row in known.told(lambda owner: Credits()) if row["recognized"]]
    assert places.count("a.com/last") == is_recognized


def test_what_is_recognized_comes_before_what_is_not_where_there_is_too_much() -> None:
    against = tuple(
        Installation("trac", f"a.com/{n}", {"url /x": -2}, {"base": f"/{n}"}, ("a.com",)) for n in range(99)
    )
    many = SiteSoftware(seen=against).joined(SiteSoftware(seen=(TRAC, FORUM)))
    assert many.seen[:2] == (TRAC, FORUM)
    assert len(many.seen) == MOST_OF_A_SITE


def test_signs_count_what_the_file_of_the_program_says_now() -> None:
    known = {program.name: program for program in programs()}
    old = Installation(
        "trac", "a.com/trac", {"url /ticket/{:digits}": 9, "url /gone": 9}, {"base": "/trac"}, ("a.com",)
    )
    assert old.is_recognized
    now = old.judged_by(known["trac"].weights)
    assert list(now.signs) == ["url /ticket/{:digits}"]
    assert not now.is_recognized


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
