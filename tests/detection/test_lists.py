"""Lists and the pages that they hold: front pages, tags and months of a blog."""

from __future__ import annotations

from typing import Any

import pytest

from dedupcrawl.page import Page
from tests.detection.judged import Crawl, text
from tests.linked import linked

BLOG = {f"/p/{number}": text(80, number) for number in range(12)}


def post(path: str, host: str = "a.example") -> Page:
    return Page(f"http://{host}{path}", title=f"Post {path}", paragraphs=(BLOG[path],))


def crawled_blog() -> Crawl:
    crawl = Crawl()
    assert not any(crawl.meet(post(path)).is_duplicate for path in BLOG)
    return crawl


def listing(path: str, title: str, *texts: str) -> Page:
    return Page(f"http://a.example{path}", title=title, paragraphs=texts, links=linked(*BLOG))


def test_a_list_is_dropped_once_kept_pages_together_say_all_of_it() -> None:
    crawl = crawled_blog()
    month = listing("/2026/11", "November at the bay", "November at the bay", *BLOG.values())
    verdict = crawl.meet(month)
    assert verdict.is_duplicate
    assert not verdict.is_sure  # later crawls fetch it, for its links
    assert verdict.duplicate_of in verdict.evidence["lists"]
    assert len(verdict.evidence["lists"]) == 12
    assert 0.99 <= verdict.evidence["covered"] < 1


def test_a_story_is_no_list_of_the_month_and_the_category_that_hold_it() -> None:
    crawl = Crawl()
    story, heading = BLOG["/p/1"], "A story of the bay and of those who went down to it"
    for path in ("/p/2", "/p/3"):
        crawl.meet(listing(path, f"Stories {path}", f"Stories {path}", story), force_keep=True)
    verdict = crawl.meet(listing("/story", heading, heading, story))
    assert verdict.evidence.get("lists")
    assert not verdict.is_duplicate


@pytest.mark.parametrize("extra", ["He who crawls reads more than others", text(240, 99)])
def test_a_list_that_says_more_than_kept_pages_is_kept_and_says_how_much_they_cover(extra: str) -> None:
    crawl = crawled_blog()
    front = listing("/", "A blog", extra, *list(BLOG.values())[:3])
    verdict = crawl.meet(front)
    assert not verdict.is_duplicate
    assert len(verdict.evidence["lists"]) == 3
    assert 0.4 <= verdict.evidence["covered"] < 1


@pytest.mark.parametrize("asked", [{"target_precision": 1.0}, {"force_keep": True}])
def test_a_list_of_kept_pages_is_kept_where_it_is_asked_for(asked: dict[str, Any]) -> None:
    crawl = crawled_blog()
    month = listing("/2026/11", "November", *BLOG.values())
    assert not crawl.meet(month, **asked).is_duplicate


def test_a_post_is_kept_beside_a_list_that_came_first_and_of_another_host_is_none_of_it() -> None:
    crawl = Crawl()
    front = listing("/", "A blog", *BLOG.values())
    assert not crawl.meet(front).is_duplicate
    for path in BLOG:
        verdict = crawl.meet(post(path))
        assert not verdict.is_duplicate
        assert verdict.evidence["listed_by"] == [front.url]
    crawl = Crawl()
    crawl.meet(front)
    assert not any("listed_by" in crawl.meet(post(path, "b.a.example")).evidence for path in BLOG)


def test_a_page_that_links_to_another_and_shares_a_notice_with_it_is_no_list_of_it() -> None:
    crawl, notice = Crawl(), text(60)
    links = linked("/story")
    crawl.meet(Page("http://a.example/", title="News", paragraphs=(notice, text(100, 1)), links=links))
    story = Page("http://a.example/story", title="A story", paragraphs=(notice, text(120, 2)))
    assert "listed_by" not in crawl.meet(story).evidence
