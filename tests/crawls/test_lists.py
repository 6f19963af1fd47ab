"""Crawls of a blog whose months hold their posts whole."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.crawls.site import crawl, crawled, page, prose, redirect, serve

BLOG = {f"/post{number}": page(prose(number), title=f"Post {number}") for number in range(4)}
MOVED = {f"/?p={number}": redirect(url) for number, url in enumerate(BLOG)}


def month(links: Iterable[str]) -> str:
    return page("\n".join(prose(number) for number in range(4)), *links, "/elsewhere", title="November")


@pytest.mark.parametrize(("links", "crawls"), [(BLOG, 2), (MOVED, 1)])  # later ones ask for the posts after the list
async def test_a_list_that_comes_last_is_dropped_its_links_are_followed_and_later_crawls_fetch_it(
    tmp_path: Path, links: Iterable[str], crawls: int
) -> None:
    front = page("Welcome. " + prose(7), *links, "/month", title="Front")
    pages = {"/": front, **BLOG, **MOVED, "/month": month(links), "/elsewhere": page(prose(8), title="Elsewhere")}
    settings = {
        "DEDUP_INDEX": f"lmdb:{tmp_path}",
        "CONCURRENT_REQUESTS": 1,
        "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    }
    with serve(pages) as site:
        for asked in range(1, crawls + 1):
            done = await crawl(f"{site.base}/", {**settings, "DEPTH_PRIORITY": 1})
            stored = {item["url"].removeprefix(site.base) for item in done.items}
            assert site.requests["/month"] == asked
            assert "/month" not in stored
            assert stored == {"/", *BLOG, "/elsewhere"}


@pytest.mark.parametrize(("links", "sources"), [(BLOG, True), (MOVED, True), (MOVED, False)])
async def test_posts_are_kept_where_the_list_comes_first(tmp_path: Path, links: Iterable[str], sources: bool) -> None:
    pages = {"/": month(links), **BLOG, **MOVED, "/elsewhere": page(prose(8), title="Elsewhere")}
    done = await crawled(pages, {"DEDUP_INDEX": f"lmdb:{tmp_path}", "DEDUP_ALIASES": sources})
    assert {item["url"].removeprefix(done.base) for item in done.items} == {"/", *BLOG, "/elsewhere"}
