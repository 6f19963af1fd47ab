"""Pairs: what a crawl would say of two pages, asked without one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dedupcrawl.content.checks.registry import CHECK_NAMES, make_checks
from dedupcrawl.content.model import packaged
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.detection.detector import Detector
from dedupcrawl.detection.pairs import Pairs, UnknownPageError
from dedupcrawl.index.contract import Index
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.page import Page
from tests.crawls.site import prose

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
