"""What is kept of a page to know it again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.crawl.same_page import digest_of_text
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.page import Page

LINES = st.lists(st.text(min_size=1), max_size=3).map(tuple)
WORDS = tuple(f"word{number}" for number in range(25))


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
