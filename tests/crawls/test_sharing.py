"""Spiders that share an index, and sites that share a crawl."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scrapy.exceptions import DropItem

from dedupcrawl.index.limits import SiteQuota
from dedupcrawl.index.lmdb import LmdbIndex
from tests.crawls.site import Follower, crawl, crawled, page, prose, serve

STORY = prose(1, 300)


class Other(Follower):
    name = "other"


async def test_spiders_that_ask_different_checks_share_an_index(tmp_path: Path) -> None:
    shared = {"DEDUP_INDEX": f"lmdb:{tmp_path}/index", "DEDUP_SCOPE": "all"}
    pages = {"/1": page(STORY), "/2": page(STORY + " " + prose(3, 20)), "/3": page(STORY), "/4": page(prose(4, 300))}
    with serve(pages) as site:
        first = await crawl(f"{site.base}/1", {**shared, "DEDUP_CHECKS": ["exact"]})
        alike = await crawl(f"{site.base}/2", {**shared, "DEDUP_CHECKS": ["shingles", "exact"]}, Other)
        equal = await crawl([f"{site.base}/3", f"{site.base}/4"], {**shared, "DEDUP_CHECKS": ["exact", "mwo"]}, Other)
    assert first.urls == {f"{site.base}/1"}
    assert alike.urls == {f"{site.base}/2"}, "the first left no shingles, which costs a duplicate"
    assert equal.urls == {f"{site.base}/4"}
    index = LmdbIndex(tmp_path / "index", ())
    assert index.verify() == []
    index.close()


async def test_an_older_page_counts_as_long_as_its_setting_says(tmp_path: Path) -> None:
    settings = {"DEDUP_INDEX": f"lmdb:{tmp_path}/index", "DEDUP_SCOPE": "all"}
    with serve({"/1": page(STORY), "/2": page(STORY), "/3": page(STORY)}) as site:
        await crawl(f"{site.base}/1", settings)
        assert (await crawl(f"{site.base}/2", {**settings, "DEDUP_TTL": "1h"})).items == []
        assert (await crawl(f"{site.base}/3", {**settings, "DEDUP_TTL": 0.001})).urls == {f"{site.base}/3"}


async def test_a_later_run_gives_known_urls_again_and_drops_known_texts_at_new_ones(tmp_path: Path) -> None:
    """As docs/recrawl.md has it."""
    settings = {"DEDUP_INDEX": f"lmdb:{tmp_path}/index", "DEDUP_SCOPE": "spider"}
    pages = {"/1": page(STORY), "/2": page(STORY), "/3": page(prose(4, 300))}
    with serve(pages) as site:
        first = await crawl(f"{site.base}/1", settings)
        later = await crawl([f"{site.base}/{n}" for n in (1, 2, 3)], settings)
    assert first.urls == {f"{site.base}/1"}
    assert later.urls == {f"{site.base}/1", f"{site.base}/3"}


async def test_a_site_that_nobody_named_takes_only_the_place_of_identical_texts() -> None:
    """The other site's copies lead to the pages that they are copies of."""
    pages = {"/story": page(STORY), "/article": page(prose(5, 300))}
    with serve(pages) as site:
        there = site.base.replace("127.0.0.1", "localhost")
        pages["/"] = page("Start " + prose(0), f"{there}/forged", f"{there}/copy")
        pages["/forged"] = page(STORY + " " + prose(7, 60), f"{site.base}/story")
        pages["/copy"] = page(prose(5, 300), f"{site.base}/article")
        careful = await crawl(f"{site.base}/")
        trusting = await crawl(f"{site.base}/", {"DEDUP_TRUSTED_SITES": "all"})
        named = await crawl(f"{site.base}/", {"DEDUP_TRUSTED_SITES": ["localhost"]})
        started = await crawl([f"{there}/", f"{there}/forged"])
    story, article = f"{site.base}/story", f"{site.base}/article"
    assert story in careful.urls
    assert article not in careful.urls
    for done in (trusting, named, started):
        assert len(done.urls) == 3, done.urls
        assert not {story, article} & done.urls


async def test_a_site_over_its_quota_is_let_through() -> None:
    pages = {f"/{n}": page(prose(n // 2, 200)) for n in range(2, 12)}
    done = await crawled(
        {"/": page("Start " + prose(0), *pages), **pages}, {"DEDUP_SITE_QUOTA": 3, "CONCURRENT_REQUESTS": 1}
    )
    assert done.stats["dedup/index/pages"] == 3
    assert done.stats["dedup/content/over_quota"] >= 6
    assert done.stats["dedup/content/checked"] + done.stats["dedup/content/over_quota"] == 11
    assert len(done.items) >= 9


class DropsFour:
    dropped = 0

    def process_item(self, item: Any) -> Any:
        self.dropped += 1
        if self.dropped <= 4:
            raise DropItem("not this one")
        return item


async def test_pages_that_were_not_stored_take_no_room_of_a_quota(tmp_path: Path) -> None:
    pages = {f"/{n}": page(prose(n, 200)) for n in range(6)}
    settings = {"DEDUP_INDEX": f"lmdb:{tmp_path}", "DEDUP_SITE_QUOTA": 6, "ITEM_PIPELINES": {DropsFour: 800}}
    with serve({"/": page("Start " + prose(99), *pages), **pages}) as site:
        await crawl(f"{site.base}/", settings)
    index = LmdbIndex(tmp_path, ())
    assert SiteQuota(index).pages("127.0.0.1") == len(list(index.entries())) <= 7 - 4
    index.close()
