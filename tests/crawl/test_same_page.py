"""What is kept of a page to know it again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.core.template import Template
from dedupcrawl.crawl.same_page import NOWHERE, Look, digest_of_text, is_kept_with_lines_beside, same_page
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.page import Page
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
    assert same_page(asked, canonical, lambda host: Template()) is same


def test_counters_that_a_site_repeats_make_no_other_page() -> None:
    """A thread, and itself after its authors have written elsewhere."""

    def thread(counts: range, said: str = "Viewed {} times") -> Look:
        posts = [text for n in counts for text in (said.format(n), " ".join(prose(30 + n % 10).split()[:12]))]
        return Look.at(Analysis(Page("http://a.example/", paragraphs=tuple(posts))))

    first, second = range(10, 20), range(50, 60)
    assert same_page(thread(first), thread(second), lambda host: template_of_pages(5))
    levels = thread(first, "Level {} of ten"), thread(second, "Level {} of ten")
    assert not same_page(*levels, lambda host: Template())


def test_a_short_page_that_was_kept_with_lines_beside_it_is_the_same_still() -> None:
    main, lines = ("The mill is closed today.", "Ask the keeper."), ("Rye and barley wanted", "Cart to let", "Log in")
    now = Analysis(Page("http://a.example/", paragraphs=main, asides=lines))

    def kept(*paragraphs: str) -> bytes:
        return Analysis(Page("http://a.example/", paragraphs=paragraphs)).outline

    assert is_kept_with_lines_beside(kept(*main, *lines[:2]), now)
    assert is_kept_with_lines_beside(kept(*main), now)
    assert not is_kept_with_lines_beside(kept(*main, "It opens on Monday."), now), "it has lost its end"
    assert not is_kept_with_lines_beside(kept(main[0], *lines), now), "it has got one more"
