"""How sure a page has to be a duplicate: surer where less is known, and by a title alone."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from dedupcrawl.content.checks.registry import make_checks
from dedupcrawl.content.model import DOUBTED, packaged
from dedupcrawl.core.template import RECURRING
from dedupcrawl.detection.analysis import OWN_SYMBOLS
from dedupcrawl.page import Page
from dedupcrawl.verdict import Verdict
from tests.detection.judged import Crawl, prose, text

TEXT, OTHER = prose(80, 1), [*prose(80, 1)[:70], *prose(10, 2)]
LENIENT = msgspec.structs.replace(packaged(), thresholds=((0.97, 0.00001), (0.98, 0.9999)))
"""Drops at the default precision whatever is compared, and above it next to nothing."""


def page(path: str, words: list[str], title: str = "Tides", *asides: str) -> Page:
    return Page(f"http://a.example/{path}", title=title, paragraphs=(" ".join(words),), asides=asides)


def last_of(pages: list[Page], check: str, **given: Any) -> Verdict:
    asked = {name: given.pop(name) for name in ("target_precision",) if name in given}
    crawl = Crawl(make_checks((check,), {}), **given)
    return [crawl.meet(one, **asked) for one in pages][-1]


STRANGERS = [page(f"x/{number}", prose(80, 100 + number), f"Page {number}") for number in range(RECURRING)]


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
    near = page("near", [*TEXT[10:], *prose(10, 2)], "Near")
    pages = [page("other", [*TEXT[:-1], "not", TEXT[-1]], "Other"), near, page("far", TEXT[20:], "Far")]
    verdict = last_of([*pages, page("new", TEXT)], "shingles", model=model)
    assert verdict.evidence["in_doubt"]["url"] == near.url
