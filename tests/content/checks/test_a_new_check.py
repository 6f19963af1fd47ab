"""A content check that the package does not have, in this one file: pages with the same set of long words."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import mmh3
import pytest

from dedupcrawl.content.checks import registry
from dedupcrawl.content.checks.base import Check, Keys
from dedupcrawl.core.postings import Postings
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.detection.detector import Detector
from dedupcrawl.index.open import open_index
from dedupcrawl.page import Page
from tests.crawls.site import prose


@dataclass(frozen=True)
class LongWordsCheck(Check):
    """Equal digests of the sorted words of nine letters and more."""

    name: ClassVar[str] = "long_words"

    def header(self) -> Mapping[str, str | int | float]:
        return {"version": 1}

    def signature(self, page: Page, text: SymbolText) -> bytes | None:
        words = sorted({word for word in " ".join(page.paragraphs).lower().split() if len(word) >= 9})
        return mmh3.hash_bytes(" ".join(words)) if words else None

    def keys(self, signature: bytes) -> Keys:
        return array("Q", signature[:8])

    def candidates(self, signature: bytes, postings: Postings) -> list[int]:
        return postings.pages_of(self.keys(signature)[0])

    def compare(self, new: bytes, kept: bytes) -> float | None:
        return 1.0 if new == kept else None


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> list[Check]:
    monkeypatch.setattr(registry, "_CHECKS", {**registry._CHECKS, "long_words": LongWordsCheck})
    return registry.make_checks(["long_words"], {})


@pytest.mark.parametrize("where", ["memory:", "lmdb:"])
def test_it_finds_duplicates_in_any_index(checks: list[Check], where: str, tmp_path: Path) -> None:
    text = prose(1)
    edited, other = f"It is said so. {text} Read on.", prose(2)
    index = open_index(where, checks, default_path=tmp_path / "index")
    try:
        detector = Detector(index, run="r")
        verdicts = [
            detector.judge(
                Analysis(Page(f"http://a.example/{n}", title="", paragraphs=(said,)), detector.index.secret), checks
            )
            for n, said in enumerate((text, other, edited))
        ]
    finally:
        index.close()
    assert [verdict.verdict for verdict in verdicts] == ["unique", "unique", "duplicate"]
    assert (verdicts[2].check, verdicts[2].duplicate_of) == ("long_words", "http://a.example/0")
