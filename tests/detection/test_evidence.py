"""What differs decides, and how sure to be is a setting."""

from __future__ import annotations

import pytest

from dedupcrawl.content.checks.registry import make_checks
from dedupcrawl.content.probability import DOUBTED_PRECISION, threshold
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.detection.detector import Detector
from dedupcrawl.index.memory import MemoryIndex
from dedupcrawl.page import Page
from tests.detection.judged import CHECKS, REPORT, Crawl, changed, prose


@pytest.mark.parametrize(
    "other",
    [
        changed(guilty="not guilty"),
        changed(Monday="Friday", bakery="brewery", hour="instant"),
        changed(man="woman", bakery="brewery"),
    ],
)
def test_what_another_page_says_in_nearly_the_same_words_is_kept(other: list[str]) -> None:
    crawl = Crawl()
    crawl.judge("first", REPORT.split())
    assert not crawl.judge("other", other).is_duplicate


def test_the_evidence_shows_the_pieces_that_differ() -> None:
    crawl = Crawl()
    text = prose(400)
    crawl.judge("first", text)
    verdict = crawl.judge("edited", [*text[:100], "here", *text[101:200], *text[201:300], "and", "there", *text[300:]])
    assert verdict.is_duplicate
    assert verdict.evidence["probability"] > 0.9
    assert verdict.evidence["differs"] == [
        {"at": 100, "says": "here", "kept_symbols": 1},
        {"at": 200, "says": "", "kept_symbols": 1},
        {"at": 299, "says": "and there", "kept_symbols": 0},
    ]


def test_how_sure_to_be_is_a_setting() -> None:
    crawl = Crawl()
    crawl.judge("first", REPORT.split())
    other = changed(bakery="brewery")
    page = Page("http://a.example/other", paragraphs=(" ".join(other),))
    assert not crawl.detector.judge(Analysis(page), CHECKS, target_precision=0.9999).is_duplicate
    assert crawl.detector.judge(Analysis(page), CHECKS, target_precision=0.9).is_duplicate


@pytest.mark.parametrize(
    ("name", "parameters", "drops"),
    [
        ("simhash", {"SIMHASH_DISTANCE": 7}, True),
        ("simhash", {"SIMHASH_DISTANCE": 0}, False),
        ("mwo", {"MWO_THRESHOLD": 0.6}, True),
        ("mwo", {"MWO_THRESHOLD": 0.99}, False),
        ("feature_code", {"CODE_CHARACTERS": 60}, True),
    ],
)
def test_a_check_alone_decides_by_its_own_threshold_where_no_evidence_is_asked_for(
    name: str, parameters: dict[str, int | float], drops: bool
) -> None:
    checks = make_checks((name,), parameters)
    detector = Detector(MemoryIndex(checks), run="one")
    first = Page("http://a.example/first", paragraphs=(REPORT,))
    other = Page("http://a.example/other", paragraphs=(REPORT.replace("guilty", "not guilty"),))
    assert detector.judge(Analysis(first), checks, target_precision=0).verdict == "unique"
    verdict = detector.judge(Analysis(other), checks, target_precision=0)
    assert verdict.is_duplicate == drops
    assert not drops or (verdict.check == name and verdict.evidence["probability"] < threshold(0.998))
    assert not detector.judge(Analysis(other), checks, target_precision=0.998).is_duplicate


def test_what_is_let_through_in_doubt_is_recorded_with_the_page_that_it_resembles() -> None:
    crawl = Crawl()
    crawl.judge("first", REPORT.split())
    page = Page("http://a.example/other", paragraphs=(" ".join(changed(bakery="brewery")),))
    verdict = crawl.detector.judge(Analysis(page), CHECKS, target_precision=0.9999)
    assert verdict.verdict == "unique"
    doubt = verdict.evidence["in_doubt"]
    assert doubt["url"] == "http://a.example/first"
    assert doubt["probability"] >= threshold(DOUBTED_PRECISION)
    assert doubt["differs"] == [{"at": 11, "says": "brewery", "kept_symbols": 1}]
    assert crawl.index.verdict(page.url) == verdict
    assert list(crawl.index.verdicts()) == [verdict]


def test_what_is_plainly_another_page_is_not_in_doubt() -> None:
    crawl = Crawl()
    crawl.judge("first", REPORT.split())
    others = changed(guilty="innocent")
    assert crawl.judge("other", others).evidence == {}
    assert not list(crawl.index.verdicts())
