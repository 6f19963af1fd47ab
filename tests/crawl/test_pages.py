"""Pages as a crawl knows them: again, as their host's error pages, and judged."""

from __future__ import annotations

import random
import tracemalloc
from urllib.parse import urlsplit

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from dedupcrawl.content.model import packaged
from dedupcrawl.core.packing import pack
from dedupcrawl.core.template import Template
from dedupcrawl.crawl.error_pages import ErrorPages
from dedupcrawl.crawl.probes import missing_url
from dedupcrawl.crawl.same_page import NOWHERE, Look, PageComparer, digest_of_text
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.page import Page
from dedupcrawl.settings import DedupSettings
from tests.crawls.site import prose

LINES = st.lists(st.text(min_size=1), max_size=3).map(tuple)
WORDS = tuple(f"word{number}" for number in range(25))


def look(text: str, body: bytes = b"") -> Look:
    return Look.at(Analysis(Page("http://a.example/", paragraphs=(text,) if text else (), body_digest=body)))


STORY, OTHER, SHELL = look(prose(1)), look(prose(2)), look("")


def template_of_pages(count: int) -> Template:
    """Of a host with so many pages of different titles, which have a counter in common."""
    template = Template()
    for number in range(count):
        analysis = Analysis(Page("http://a.example/", paragraphs=(f"Viewed {number} times", prose(10 + number))))
        analysis.learn(template, f"page {number}")
    return template


def comparer(template: Template | None = None, **settings: object) -> PageComparer:
    """`settings` without their prefix."""
    given = DedupSettings.read({f"DEDUP_{name}": value for name, value in settings.items()})
    return PageComparer(lambda host: template or Template(), packaged(), given)


def digest(*paragraphs: str, **beside: tuple[str, ...]) -> bytes:
    return digest_of_text(Analysis(Page("http://a.example/", paragraphs=paragraphs, **beside)))  # type: ignore[arg-type]  # lines


@given(LINES, LINES)
def test_what_stands_beside_a_text_does_not_count(asides: tuple[str, ...], links: tuple[str, ...]) -> None:
    assert digest(" ".join(WORDS), asides=asides, link_lines=links) == digest(" ".join(WORDS))


@given(st.permutations(WORDS))
def test_the_text_itself_does_to_the_letter(words: list[str]) -> None:
    assert (digest(" ".join(words)) == digest(" ".join(WORDS))) == (tuple(words) == WORDS)


def test_of_a_page_without_a_text_all_does() -> None:
    assert digest("Photo 3 of 9", asides=("A lake",)) != digest("Photo 3 of 9", asides=("A mountain",))
    assert digest("Photo 3 of 9", asides=("A lake",)) == digest("Photo 3 of 9", asides=("A lake",))


@pytest.mark.parametrize(
    ("asked", "canonical", "same"),
    [
        (STORY, look(prose(1), b"another body"), True),
        (STORY, look(prose(1) + " Read more."), True),
        (STORY, OTHER, False),
        (STORY, SHELL, False),
        (STORY, NOWHERE, False),
        (SHELL, STORY, None),
        (SHELL, SHELL, None),
        (look("", b"an image"), look("", b"an image"), True),
        (look("", b"an image"), look("", b"another"), None),
        (look(prose(1), b"body"), look(prose(2), b"body"), True),
    ],
)
def test_whether_one_page_serves_who_asked_for_the_other(asked: Look, canonical: Look, same: bool | None) -> None:
    assert comparer().same_page(asked, canonical) is same


def test_two_pages_are_one_if_the_crawl_would_drop_one_of_them() -> None:
    edited = prose(1, 150).split()
    edited[::12] = prose(77, 150).split()[::12]
    pages = look(prose(1, 150)), look(" ".join(edited))
    for target, same in ((0.9, True), (0.97, True), (0.995, False), (1.0, False)):
        assert comparer(TARGET_PRECISION=target).same_page(*pages) is same
        assert comparer(SITES={"a.example": {"DEDUP_TARGET_PRECISION": target}}).same_page(*pages) is same
    assert comparer(CHECKS="papers").same_page(*pages) is True  # the model's default


def test_counters_that_a_site_repeats_make_no_other_page() -> None:
    """A thread, and itself after its authors have written elsewhere."""

    def thread(counts: range, said: str = "Viewed {} times") -> Look:
        posts = [text for n in counts for text in (said.format(n), " ".join(prose(30 + n % 10).split()[:12]))]
        return Look.at(Analysis(Page("http://a.example/", paragraphs=tuple(posts))))

    first, second = range(10, 20), range(50, 60)
    assert comparer(template_of_pages(5)).same_page(thread(first), thread(second))
    levels = thread(first, "Level {} of ten"), thread(second, "Level {} of ten")
    assert not comparer().same_page(*levels)


def test_a_page_is_read_with_those_lines_beside_its_main_text_that_a_kept_one_has() -> None:
    """Which lines an index has of a page whose main text its site repeats depends on what was known of that by then."""
    main, lines = (prose(1, 30), prose(2, 30)), ("Rye and 8 sacks of barley wanted", "Cart to let at the inn")
    beside = *lines, "1 reply by the miller", "Log in", "2 replies by the keeper"
    template = Template()
    for number in range(5):
        Analysis(Page("http://a.example/", paragraphs=main)).learn(template, f"page {number}")
    now = Look.at(Analysis(Page("http://a.example/", paragraphs=main, asides=beside)))

    def is_one(*kept: str) -> tuple[bool | None, bool | None]:
        look = Look.at(Analysis(Page("http://a.example/", paragraphs=kept))).lasting
        return comparer(template).same_page(now, look), comparer(template).same_page(look, now)

    for added in ((), lines, (*lines, "2 replies by the keeper"), beside):
        assert is_one(*main, *added) == (True, True)
    bare, long = (
        Look.at(Analysis(Page("http://a.example/", title="Mill", paragraphs=one))).lasting
        for one in (main, (*main, *lines))
    )
    assert comparer(template).same_page(long, bare) is False
    assert not comparer(template).are_two(long, bare)
    assert comparer(template).are_two(replace(long, title="Inn"), bare)
    assert not comparer(template).are_two(long, replace(bare, outline=long.outline))
    assert is_one(*main, "Rye and 9 sacks of barley wanted", lines[1]) == (False, False)
    assert is_one(*main, "It opens on Monday, as the miller says", *lines) != (True, True)


HOST = "a.example"


def outline(*symbols: int, title: str = "") -> Look:
    """A page of symbols that are all of one kind."""
    return Look(pack(np.array(symbols, dtype="<u2").tobytes(), bytes(len(symbols)), b""), b"", title=title)


SORRY = outline(*range(10))
PAGE = outline(*range(100, 140))


def test_a_few_texts_of_a_host_and_a_few_of_its_pages_are_enough() -> None:
    known = ErrorPages()
    for number in range(10):
        known.learn(HOST, outline(*range(1000 * number, 1000 * number + 10)))
    suspected = [
        bool(known.suspects(HOST, "http://a.example/", outline(*range(n, n + 10)))) for n in range(0, 10_000, 1000)
    ]
    assert suspected == [True] * 4 + [False] * 6
    assert [known.wants(HOST) for _ in range(30)] == [True] * 20 + [False] * 10
    assert known.wants("b.example")


@given(
    st.sampled_from(["http", "https"]), st.text(alphabet="ab/.-%é", max_size=20), st.text(alphabet="a=&1", max_size=9)
)
def test_a_made_up_url_is_beside_the_one_it_is_for(scheme: str, path: str, query: str) -> None:
    url = f"{scheme}://user@a.example:8080/{path}?{query}#top"
    made, other = urlsplit(missing_url(url)), urlsplit(missing_url(url))
    assert (made.scheme, made.netloc, made.query, made.fragment) == (scheme, "user@a.example:8080", "", "")
    assert made.path.rpartition("/")[0] == urlsplit(url).path.rpartition("/")[0]
    assert made.path != other.path
    assert len(made.path.rpartition("/")[2]) == 20


def test_texts_take_no_room() -> None:
    """However long they are: twenty thousand of them are remembered."""
    known = ErrorPages()
    tracemalloc.start()
    for number in range(200):
        text = random.Random(number).randbytes(65_000)
        known.suspects(HOST, f"http://{HOST}/{number}", Look(text, b""))
        known.trust(HOST, Look(text, b""))
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken < 200 * 1_000


def test_what_was_found_to_be_a_page_of_its_own_is_suspected_no_more() -> None:
    known = ErrorPages()
    known.learn(HOST, SORRY)
    known.learn(HOST, PAGE)
    known.trust(HOST, SORRY)
    assert known.suspects(HOST, "http://a.example/1", SORRY) == []
    assert known.suspects(HOST, "http://a.example/2", outline(*range(9), 50)) == [], "nor what looks like it"
    assert known.suspects(HOST, "http://a.example/3", PAGE) == ["http://a.example/3"]
    for number in range(5):
        assert known.suspects(HOST, f"http://a.example/{number}", SORRY) == []


def test_what_is_called_like_an_error_page_is_suspected_once() -> None:
    """Such a page may have another text each time; and a site may call all its pages so."""
    known = ErrorPages()
    known.learn(HOST, outline(*range(10), title="Sorry"))
    others = [outline(*range(n, n + 10), title=title) for n, title in ((100, "Sorry"), (200, "Sorry"), (300, "Page"))]
    assert [known.suspects(HOST, "http://a.example/1", other) for other in others] == [["http://a.example/1"]] * 2 + [
        []
    ]
    assert known.suspects("b.example", "http://b.example/1", others[0]) == []
    known.trust(HOST, others[0])
    assert known.suspects(HOST, "http://a.example/2", others[1]) == []
    assert known.suspects(HOST, "http://a.example/3", outline(*range(10), title="Page")) == ["http://a.example/3"]


def test_pages_without_a_name_are_not_called_alike() -> None:
    known = ErrorPages()
    known.learn(HOST, outline(*range(10)))
    assert known.suspects(HOST, "http://a.example/1", outline(*range(100, 110))) == []
