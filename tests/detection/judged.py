"""Texts to judge, and what judges them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import mmh3

from dedupcrawl.content.checks.base import Check
from dedupcrawl.content.checks.registry import DEFAULT_CHECKS, make_checks
from dedupcrawl.content.html import extract
from dedupcrawl.core.digests import Secret
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.detection.batch import judge_batch
from dedupcrawl.detection.comparison import Asked
from dedupcrawl.detection.detector import Detector
from dedupcrawl.detection.trust import EVERYBODY, Trust
from dedupcrawl.index.contract import Index
from dedupcrawl.index.open import TemporaryIndex
from dedupcrawl.page import Page
from dedupcrawl.verdict import Verdict

CHECKS = make_checks(DEFAULT_CHECKS, {})
SECRET = Secret.of(b"5")  # of all indexes here: with some secrets, words of a made-up text collide in 15 bits


def prose(count: int, seed: int = 0) -> list[str]:
    chance = random.Random(seed)
    return ["".join(chance.choice("abcdefghijklmnop") for _ in range(7)) for _ in range(count)]


def text(count: int, seed: int = 0) -> str:
    return " ".join(prose(count, seed))


class Crawl:
    """Judges pages in turn, on an index of its own unless one is given."""

    def __init__(self, checks: Sequence[Check] = CHECKS, index: Index | None = None, **of_detector: Any) -> None:
        self.index = index or TemporaryIndex(checks, SECRET)
        self.checks = checks
        self.detector = Detector(self.index, run="one", **of_detector)

    def meet(self, page: Page, **asked: Any) -> Verdict:
        return self.detector.judge(Analysis(page, self.index.secret), self.checks, **asked)

    def judge(self, name: str, words: list[str], scope: str = "run") -> Verdict:
        """Of a text that has a page of its own."""
        return self.meet(Page(f"http://a.example/{name}", paragraphs=(" ".join(words),)), scope=scope)


def framed(own: str, main: str = "") -> Page:
    """A page whose own text stands in a box that is named as if it were none."""
    markup = f"<body><main><p>{main}</main><div class=sidebar><h1>News</h1><p>{own}</div></body>"
    return extract(markup, f"http://a.example/{mmh3.hash(own)}")


REPORT = """
The court heard on Monday that the man who kept the bakery at the corner of the market had taken a clock from the town
hall. Witnesses said that he was seen near the stairs in the evening, that he carried something under his coat, and that
he would not stop when he was called. The jury came back after an hour and found that he was guilty of the charge. The
judge said that she would hear from both sides before she decided what was to follow, and that the clock should be put
back where it had hung for as long as anybody in the town could remember.
"""


def changed(**words: str) -> list[str]:
    return [part for word in REPORT.split() for part in words.get(word, word).split()]


class Shared:
    """An index that several crawls share."""

    def __init__(self) -> None:
        self.index = TemporaryIndex(CHECKS, SECRET)

    def judge(  # noqa: PLR0913 - each may be left out or is a case
        self,
        url: str,
        text: list[str],
        *,
        spider: str = "one",
        run: str = "1",
        scope: str = "all",
        trust: Trust = EVERYBODY,
        ttl: float | None = None,
        quota: int | None = None,
        request: bytes = b"",
        canonical: str | None = None,
    ) -> Verdict:
        detector = Detector(self.index, spider=spider, run=run, trust=trust)
        page = Page(url, paragraphs=(" ".join(text),))
        packed = (lambda: request) if request else None
        is_same = (lambda kept: kept.partition("?")[0] == canonical) if canonical else None
        asked = Asked(CHECKS, scope, canonical, is_same, ttl=ttl, quota=quota, request=packed)
        (verdict,) = judge_batch(self.index, [detector.steps(Analysis(page, self.index.secret), asked)])
        detector.close()
        return verdict
