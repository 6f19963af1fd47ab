"""Crawls of a blog whose months hold their posts whole."""

from __future__ import annotations

from pathlib import Path

from tests.crawls.site import crawl, page, prose, serve

BLOG = {f"/post{number}": page(prose(number), title=f"Post {number}") for number in range(4)}
MONTH = page("\n".join(prose(number) for number in range(4)), *BLOG, "/elsewhere", title="November")


async def test_a_list_that_comes_last_is_dropped_its_links_are_followed_and_later_crawls_fetch_it(
    tmp_path: Path,
) -> None:
    front = page("Welcome. " + prose(7), *BLOG, "/month", title="Front")
    pages = {"/": front, **BLOG, "/month": MONTH, "/elsewhere": page(prose(8), title="Elsewhere")}
    settings = {
        "DEDUP_INDEX": f"lmdb:{tmp_path}",
        "CONCURRENT_REQUESTS": 1,
        "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    }
    with serve(pages) as site:
        for asked in (1, 2):
            done = await crawl(f"{site.base}/", {**settings, "DEPTH_PRIORITY": 1})
            stored = {item["url"].removeprefix(site.base) for item in done.items}
            assert site.requests["/month"] == asked
            assert "/month" not in stored
            assert stored == {"/", *BLOG, "/elsewhere"}


async def test_posts_are_kept_where_the_list_comes_first(tmp_path: Path) -> None:
    pages = {"/": MONTH, **BLOG, "/elsewhere": page(prose(8), title="Elsewhere")}
    with serve(pages) as site:
        done = await crawl(f"{site.base}/", {"DEDUP_INDEX": f"lmdb:{tmp_path}"})
        assert {item["url"].removeprefix(site.base) for item in done.items} == {"/", *BLOG, "/elsewhere"}
