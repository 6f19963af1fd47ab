"""Lists and the pages that they hold: front pages, tags and months of a blog."""

from __future__ import annotations

from typing import Any

import pytest

from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.page import Page
from tests.detection.judged import CHECKS, Crawl, prose
from tests.linked import linked

BLOG = {f"/p/{number}": " ".join(prose(80, number)) for number in range(12)}


def crawled_blog() -> Crawl:
    crawl = Crawl()
    for path, text in BLOG.items():
        page = Page(f"http://a.example{path}", title=f"Post {path}", paragraphs=(text,))
        assert not crawl.detector.judge(Analysis(page, crawl.index.secret), CHECKS).is_duplicate
    return crawl


def listing(path: str, title: str, *texts: str) -> Page:
    return Page(f"http://a.example{path}", title=title, paragraphs=texts, links=linked(*BLOG))


def test_a_list_is_dropped_once_kept_pages_together_say_all_of_it() -> None:
    crawl = crawled_blog()
    month = listing("/2026/11", "November at the bay", "November at the bay", *BLOG.values())
    verdict = crawl.detector.judge(Analysis(month, crawl.index.secret), CHECKS)
    assert verdict.is_duplicate
    assert not verdict.is_sure  # later crawls fetch it, for its links
    assert verdict.duplicate_of in verdict.evidence["lists"]
    assert len(verdict.evidence["lists"]) == 12
    assert 0.99 <= verdict.evidence["covered"] < 1


def test_a_story_is_no_list_of_the_month_and_the_category_that_hold_it() -> None:
    crawl = Crawl()
    story, heading = BLOG["/p/1"], "A story of the bay and of those who went down to it"
    for path in ("/p/2", "/p/3"):
        month = listing(path, f"Stories {path}", f"Stories {path}", story)
        crawl.detector.judge(Analysis(month, crawl.index.secret), CHECKS, force_keep=True)
    verdict = crawl.detector.judge(Analysis(listing("/story", heading, heading, story), crawl.index.secret), CHECKS)
    assert verdict.evidence.get("lists")
    assert not verdict.is_duplicate


@pytest.mark.parametrize("extra", ["He who crawls reads more than others", " ".join(prose(240, 99))])
def test_a_list_that_says_more_than_kept_pages_is_kept_and_says_how_much_they_cover(extra: str) -> None:
    crawl = crawled_blog()
    front = listing("/", "A blog", extra, *list(BLOG.values())[:3])
    verdict = crawl.detector.judge(Analysis(front, crawl.index.secret), CHECKS)
    assert not verdict.is_duplicate
    assert len(verdict.evidence["lists"]) == 3
    assert 0.4 <= verdict.evidence["covered"] < 1


@pytest.mark.parametrize("asked", [{"target_precision": 1.0}, {"force_keep": True}])
def test_a_list_of_kept_pages_is_kept_where_it_is_asked_for(asked: dict[str, Any]) -> None:
    crawl = crawled_blog()
    month = listing("/2026/11", "November", *BLOG.values())
    assert not crawl.detector.judge(Analysis(month, crawl.index.secret), CHECKS, **asked).is_duplicate


def test_a_post_is_kept_beside_a_list_that_came_first() -> None:
    posts = [" ".join(prose(80, number)) for number in range(4)]
    crawl = Crawl()
    links = linked(*(f"/p/{number}" for number in range(4)))
    front = Page("http://a.example/", title="A blog", paragraphs=tuple(posts), links=links)
    assert not crawl.detector.judge(Analysis(front, crawl.index.secret), CHECKS).is_duplicate
    for number, text in enumerate(posts):
        verdict = crawl.detector.judge(
            Analysis(
                Page(f"http://a.example/p/{number}", title=f"Post {number}", paragraphs=(text,)),
                crawl.index.secret,
            ),
            CHECKS,
        )
        assert not verdict.is_duplicate
        assert verdict.evidence["listed_by"] == [front.url]


def test_a_list_of_another_host_lists_no_page_that_has_but_its_path() -> None:
    front = Page("http://a.example/", title="A blog", paragraphs=tuple(BLOG.values()), links=linked(*BLOG))
    crawl = Crawl()
    crawl.detector.judge(Analysis(front, crawl.index.secret), CHECKS)
    for path, text in BLOG.items():
        verdict = crawl.detector.judge(
            Analysis(Page(f"http://b.a.example{path}", title=f"Post {path}", paragraphs=(text,)), crawl.index.secret),
            CHECKS,
        )
        assert "listed_by" not in verdict.evidence
