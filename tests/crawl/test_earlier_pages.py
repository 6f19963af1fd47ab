"""What the index knows of pages that a crawl has fetched: which of two the content half would drop for the other."""

from __future__ import annotations

import pytest

from dedupcrawl.crawl.same_page import EarlierPages
from dedupcrawl.urls.normalizer import Normalizer
from dedupcrawl.urls.rules_in_use import RulesInUse
from tests.detection.judged import Crawl, prose
from tests.fixtures import table_of

TEXT = prose(400)
PAGES = {
    "whole": TEXT,
    "copy": TEXT,
    "excerpt": TEXT[170:330],
    "another-excerpt": TEXT[20:180],
    "other": prose(400, 1),
}


@pytest.fixture(scope="module")
def earlier() -> EarlierPages:
    crawl = Crawl()
    for name, words in PAGES.items():
        verdict = crawl.judge(name, words)
        crawl.index.record(verdict, run="one", site="a.example")
    return EarlierPages(crawl.index, "one", RulesInUse(Normalizer()))


@table_of("crawl", "whether_one_page_serves_for_the_other")
def test_whether_one_page_serves_for_the_other(
    earlier: EarlierPages, asked: str, canonical: str, served: bool | None
) -> None:
    assert earlier.is_served(f"http://a.example/{asked}", f"http://a.example/{canonical}") is served


def test_what_another_crawl_has_kept_tells_nothing_of_this_one() -> None:
    crawl = Crawl()
    for name in ("whole", "copy"):
        crawl.index.record(crawl.judge(name, TEXT), run="one", site="a.example")
    later = EarlierPages(crawl.index, "two", RulesInUse(Normalizer()))
    assert later.is_served("http://a.example/copy", "http://a.example/whole") is None
