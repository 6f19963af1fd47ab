"""Pairs: what a crawl would say of two pages, asked without one."""

from __future__ import annotations

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
    """A site with furniture, slots and lines around the main text; the last page is the first with a word changed."""
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


def crawled(path: Path, *, target: float = 0.5) -> tuple[Index, dict[str, float | None]]:
    """The index of a crawl of these, and the probability of each verdict."""
    index = LmdbIndex(path, CHECKS)
    detector = Detector(index, run="one")
    analyses = [Analysis(page, index.secret) for page in pages()]
    for analysis in analyses:
        detector.learn(analysis)
    said: dict[str, float | None] = {}
    for analysis in analyses:
        verdict = detector.judge(analysis, CHECKS, target_precision=target)
        evidence = verdict.evidence if verdict.is_duplicate else verdict.evidence.get("in_doubt", {})
        said[verdict.url] = evidence.get("probability")
    detector.close()
    return index, said


@pytest.mark.parametrize("target", [0.5, 0.999])
def test_it_says_of_a_recorded_pair_what_the_crawl_said(tmp_path: Path, target: float) -> None:
    index, said = crawled(tmp_path / "index", target=target)
    found = Pairs(index, packaged()).compare("http://a.example/copy", "http://a.example/0")
    if said["http://a.example/copy"] is not None:
        assert found.probability == pytest.approx(said["http://a.example/copy"], abs=2e-3)
    else:
        assert target == 0.999
    index.close()


def test_pages_given_whole_are_read_as_in_the_crawl(tmp_path: Path) -> None:
    index, said = crawled(tmp_path / "index")
    first, *_, copy = pages()
    found = Pairs(index, packaged()).compare(copy, first)
    assert said[copy.url] is not None
    assert found.probability == pytest.approx(said[copy.url], abs=5e-3)
    assert [piece["says"] for piece in found.evidence["differs"]][:1] == ["brewery"]
    kept = Pairs(index, packaged()).compare(copy, first.url)
    assert kept.probability == found.probability
    index.close()


def test_a_verdict_that_was_withdrawn_is_remembered(tmp_path: Path) -> None:
    index, _ = crawled(tmp_path / "index")
    before = Pairs(index, packaged()).compare("http://a.example/copy", "http://a.example/0")
    index.withdraw(["http://a.example/copy"])
    assert index.verdict("http://a.example/copy") is None
    assert Pairs(index, packaged()).compare("http://a.example/copy", "http://a.example/0") == before
    index.close()


def test_a_url_that_the_index_knows_too_little_of(tmp_path: Path) -> None:
    index, _ = crawled(tmp_path / "index")
    with pytest.raises(UnknownPageError, match=r"http://a\.example/copy"):
        Pairs(index, packaged()).compare("http://a.example/copy", "http://a.example/3")
    index.close()


def test_a_page_kept_under_its_canonical_url_is_found_where_it_was_fetched(tmp_path: Path) -> None:
    index = LmdbIndex(tmp_path / "index", CHECKS)
    detector = Detector(index, run="one")
    page = Page("http://a.example/1?sid=2", title="One", paragraphs=(prose(1),))
    detector.judge(Analysis(page, detector.index.secret), CHECKS, canonical="http://a.example/1")
    detector.close()
    assert Pairs(index, packaged()).compare(page, page.url).probability == 1
    index.close()
