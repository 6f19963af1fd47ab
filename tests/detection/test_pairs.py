"""Pairs, how sure a page has to be a duplicate, and what is kept beside a page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.content.checks.registry import CHECK_NAMES, make_checks
from dedupcrawl.content.model import DOUBTED, packaged
from dedupcrawl.core.template import RECURRING
from dedupcrawl.core.view import OWN_SYMBOLS
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.detection.attachments import items_of, packed_item, packed_text, text_of
from dedupcrawl.detection.detector import Detector
from dedupcrawl.detection.pairs import Pairs, UnknownPageError
from dedupcrawl.index.contract import Index
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.page import Page
from dedupcrawl.verdict import Verdict
from tests.crawls.site import prose
from tests.detection.judged import Crawl, text
from tests.detection.judged import prose as worded

CHECKS = make_checks(CHECK_NAMES, {})


def pages() -> list[Page]:
    """A site with a template, slots and lines around the main text; the last page is the first with a word changed."""
    found = []
    for number in range(14):
        lines = (*prose(number, 200).split(". "), f"There are {number} guests on this board", "Welcome to the board")
        found.append(
            Page(
                f"http://a.example/{number}",
                title=f"Topic {number}",
                paragraphs=lines,
                asides=("Menu of all", f"seen {number} times"),
            )
        )
    words = found[0].paragraphs[0].split()
    edited = (" ".join([*words[:-1], "brewery"]), *found[0].paragraphs[1:])
    return [*found, Page("http://a.example/copy", title="Topic 0", paragraphs=edited, asides=("Menu of all",))]


def crawled(path: Path) -> tuple[Index, dict[str, float | None]]:
    """The index of a crawl of these, and the probability of each verdict."""
    index = LmdbIndex(path, CHECKS)
    detector = Detector(index, run="one")
    analyses = [Analysis(page, index.secret) for page in pages()]
    for analysis in analyses:
        detector.learn(analysis)
    said: dict[str, float | None] = {}
    for analysis in analyses:
        verdict = detector.judge(analysis, CHECKS, target_precision=0.5)
        evidence = verdict.evidence if verdict.is_duplicate else verdict.evidence.get("in_doubt", {})
        said[verdict.url] = evidence.get("probability")
    detector.close()
    return index, said


@pytest.fixture
def crawl(tmp_path: Path) -> Iterator[tuple[Index, dict[str, float | None]]]:
    index, said = crawled(tmp_path / "index")
    yield index, said
    index.close()


def test_it_says_of_a_recorded_pair_what_the_crawl_said(crawl: tuple[Index, dict[str, float | None]]) -> None:
    index, said = crawl
    pair = ("http://a.example/copy", "http://a.example/0")
    found = Pairs(index, packaged()).compare(*pair)
    assert found.probability == pytest.approx(said["http://a.example/copy"], abs=2e-3)
    index.withdraw(["http://a.example/copy"])
    assert index.verdict("http://a.example/copy") is None
    assert Pairs(index, packaged()).compare(*pair) == found, "a verdict that was withdrawn is remembered"
    with pytest.raises(UnknownPageError, match=r"http://a\.example/copy"):
        Pairs(index, packaged()).compare("http://a.example/copy", "http://a.example/3")


def test_pages_given_whole_are_read_as_in_the_crawl(crawl: tuple[Index, dict[str, float | None]]) -> None:
    index, said = crawl
    first, *_, copy = pages()
    found = Pairs(index, packaged()).compare(copy, first)
    assert said[copy.url] is not None
    assert found.probability == pytest.approx(said[copy.url], abs=5e-3)
    assert [piece["says"] for piece in found.evidence["differs"]][:1] == ["brewery"]
    kept = Pairs(index, packaged()).compare(copy, first.url)
    assert kept.probability == found.probability


TEXT, OTHER = worded(80, 1), [*worded(80, 1)[:70], *worded(10, 2)]
LENIENT = msgspec.structs.replace(packaged(), thresholds=((0.97, 0.00001), (0.98, 0.9999)))
"""Drops at the default precision whatever is compared, and above it next to nothing."""


def page(path: str, words: list[str], title: str = "Tides", *asides: str) -> Page:
    return Page(f"http://a.example/{path}", title=title, paragraphs=(" ".join(words),), asides=asides)


def last_of(pages: list[Page], check: str, **given: Any) -> Verdict:
    asked = {name: given.pop(name) for name in ("target_precision",) if name in given}
    crawl = Crawl(make_checks((check,), {}), **given)
    return [crawl.meet(one, **asked) for one in pages][-1]


STRANGERS = [page(f"x/{number}", worded(80, 100 + number), f"Page {number}") for number in range(RECURRING)]


@pytest.mark.parametrize("before", [STRANGERS, []])
@pytest.mark.parametrize(("check", "is_dropped"), [("shingles", True), ("title", False)])
def test_what_a_title_alone_brings_up_must_be_surer(before: list[Page], check: str, is_dropped: bool) -> None:
    pages = [*before, page("1", TEXT), page("2", OTHER)]
    assert last_of(pages, check, model=LENIENT).is_duplicate == is_dropped


@pytest.mark.parametrize(
    ("before", "words", "is_dropped"),
    [([], OWN_SYMBOLS, False), ([], OWN_SYMBOLS - 1, True), (STRANGERS, OWN_SYMBOLS, True)],
)
def test_of_the_first_pages_of_a_site_what_stands_beside_may_be_what_they_say(
    before: list[Page], words: int, is_dropped: bool
) -> None:
    model = msgspec.structs.replace(packaged(), thresholds=((0.97, 0.00001), (0.99, 0.00002)))
    pages = [*before, page("1", TEXT), page("2", TEXT, "Tides", text(words, 3))]
    assert last_of(pages, "shingles", model=model).is_duplicate == is_dropped


def test_a_page_in_doubt_is_told_with_the_one_that_it_resembles_most() -> None:
    """Which is neither the first nor the last that is compared: a "not" says more than ten words that went."""
    model = msgspec.structs.replace(packaged(), thresholds=((DOUBTED, 0.00001), (0.97, 1.0)))
    near = page("near", [*TEXT[10:], *worded(10, 2)], "Near")
    pages = [page("other", [*TEXT[:-1], "not", TEXT[-1]], "Other"), near, page("far", TEXT[20:], "Far")]
    verdict = last_of([*pages, page("new", TEXT)], "shingles", model=model)
    assert verdict.evidence["in_doubt"]["url"] == near.url


@given(st.lists(st.text(st.characters(exclude_characters="\n")), min_size=1, max_size=5))
def test_texts_and_items_come_back(paragraphs: list[str]) -> None:
    plain = [paragraph.encode("utf-8", "replace").decode() for paragraph in paragraphs]
    numbers = (11, 2, 9)
    attached = dict([packed_text(paragraphs), *(packed_item(number, f'{{"n": {number}}}') for number in numbers)])
    assert text_of(attached) == plain
    assert items_of(attached) == [b'{"n": 2}', b'{"n": 9}', b'{"n": 11}'], "in their order"


def test_long_texts_are_cut_and_large_items_refused() -> None:
    name, raw = packed_text(["x" * 3_000_000])
    assert len((text_of({name: raw}) or [""])[0]) == 1_000_000
    with pytest.raises(ValueError, match="not kept"):
        packed_item(0, '"' + "x" * (1 << 24) + '"')
