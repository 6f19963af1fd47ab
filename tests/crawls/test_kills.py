"""Crawls that are killed: what the next one fetches again."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import scrapy

from dedupcrawl.index.lmdb import LmdbIndex
from tests import warm
from tests.crawls.project import crawl_arguments, items, make_project, scrapy_crawl
from tests.crawls.site import Site, page, prose, serve, slow

STORY = prose(1, 200)


def kill_when(project: Path, site: Site, feed: str, enough: Callable[[], bool], *options: str) -> None:
    """Crawl until `enough`, then SIGKILL.

    Scrapy may leave the file of a queue empty then, and the next run loses every request that belongs there, with this
    package or without: such files are removed.
    """
    running = warm.start(crawl_arguments(f"{site.base}/", feed, *options), cwd=project)
    while not enough() and running.poll() is None:
        time.sleep(0.01)
    assert running.poll() is None
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    for file in project.glob("*/requests.queue/**/*"):
        if file.is_file() and not file.stat().st_size:
            file.unlink()


def test_a_kill_brings_back_what_was_dropped_for_what_was_in_no_feed_yet(tmp_path: Path) -> None:
    """The second run does not come by the pages itself."""
    pages: dict[str, Any] = {
        "/": page("Start " + prose(0), *(f"/p/{n}" for n in range(60)), "/first", "/second"),  # last is first
        "/first": page(STORY),
        "/second": page(STORY),
        "/elsewhere": page("Elsewhere " + prose(5)),
        **{f"/p/{n}": slow(page(prose(100 + n, 80))) for n in range(60)},
    }
    settings = {"DEDUP_SCOPE": "spider", "CONCURRENT_REQUESTS": 1, "LOG_LEVEL": "INFO", "DEPTH_PRIORITY": 1}
    project = make_project(tmp_path, settings)
    with serve(pages) as site:
        kill_when(project, site, "killed.jsonl", lambda: sum(site.requests.values()) > 30)
        done = scrapy_crawl(project, f"{site.base}/elsewhere", "second.jsonl")
        assert "may not have been stored" in done.stderr
        found = [item["url"].removeprefix(site.base) for item in items(project, "second.jsonl")]
        assert len(found) == 2
        assert "/elsewhere" in found
        assert {"/first", "/second"} & set(found)
        third = scrapy_crawl(project, f"{site.base}/elsewhere", "third.jsonl")
    assert "may not have been stored" not in third.stderr
    assert len(items(project, "third.jsonl")) == 1


def test_a_crawl_that_is_resumed_after_a_kill_asks_again_for_what_was_in_no_feed_yet(tmp_path: Path) -> None:
    """Its own list of what it has seen, which is written 200 links at a time, would not let it."""
    numbers = range(260)
    pages: dict[str, Any] = {
        "/": page("Start " + prose(0), *(f"/p/{n}" for n in numbers)),
        **{f"/p/{n}": slow(page(prose(1000 + n, 80))) for n in numbers},
    }
    settings = {"CONCURRENT_REQUESTS": 2, "DEDUP_INDEX": f"lmdb:{tmp_path}/index", "JOBDIR": "job"}
    project = make_project(tmp_path, settings)
    with serve(pages) as site:
        kill_when(project, site, "killed.jsonl", lambda: sum(site.requests.values()) > 30)
        index = LmdbIndex(tmp_path / "index", ())
        kept = {entry.url for entry in index.entries()}
        index.close()
        assert len(kept) > 10
        scrapy_crawl(project, f"{site.base}/", "resumed.jsonl")
    resumed = [item["url"] for item in items(project, "resumed.jsonl")]
    assert kept <= set(resumed)
    assert len(resumed) == len(set(resumed))


def test_a_crawl_that_is_killed_while_it_asks_again_asks_once_more(tmp_path: Path) -> None:
    """After a kill Scrapy's queue of what a crawl starts with gives out what it has given out before, not what is new.

    So many links that most are in the list of what Scrapy has seen, and do not bring the pages back.
    """
    numbers = range(500)
    pages: dict[str, Any] = {
        "/": page("Start " + prose(0), *(f"/p/{n}" for n in numbers)),
        **{f"/p/{n}": slow(page(prose(1000 + n, 80))) for n in numbers},
    }
    settings = {"CONCURRENT_REQUESTS": 2, "DEDUP_INDEX": f"lmdb:{tmp_path}/index", "JOBDIR": "job", "LOG_LEVEL": "INFO"}
    project = make_project(tmp_path, settings)
    with serve(pages) as site:
        kill_when(project, site, "killed.jsonl", lambda: sum(site.requests.values()) > 40)
        with closing(LmdbIndex(tmp_path / "index", ())) as index:
            kept = {entry.url for entry in index.entries()}
        assert len(kept) > 20
        kill_when(project, site, "killed-again.jsonl", lambda: sum(site.requests.values()) > 55)
        done = scrapy_crawl(project, f"{site.base}/", "resumed.jsonl")
    assert kept <= {item["url"] for item in items(project, "resumed.jsonl")}
    with closing(LmdbIndex(tmp_path / "index", ())) as index:
        assert index.due("pages") == []
    assert "'finish_reason': 'finished'" in done.stderr


FROM_HOME = """
import scrapy

class Pages(scrapy.Spider):
    name = "pages"

    async def start(self):
        yield scrapy.Request(self.origin, dont_filter=True)

    def parse(self, response):
        yield from response.follow_all(css="a", callback=self.parse_item)

    def parse_item(self, response):
        yield {"url": response.url, "text": " ".join(response.css("article ::text").getall())}
"""


def test_a_home_page_that_is_fetched_again_as_an_item_is_still_where_the_crawl_starts(tmp_path: Path) -> None:
    numbers = range(30)
    pages: dict[str, Any] = {
        "/": page("Start " + prose(0, 80), *(f"/p/{n}" for n in numbers), "/"),  # the last is asked for first
        **{f"/p/{n}": slow(page(prose(1000 + n, 80))) for n in numbers},
    }
    settings = {"CONCURRENT_REQUESTS": 1, "DEDUP_INDEX": f"lmdb:{tmp_path}/index", "JOBDIR": "job"}
    project = make_project(tmp_path, settings, FROM_HOME)
    with serve(pages) as site:
        kill_when(project, site, "killed.jsonl", lambda: sum(site.requests.values()) > 6)
        index = LmdbIndex(tmp_path / "index", ())
        assert index.entry(f"{site.base}/") is not None
        index.close()
        before = site.requests["/"]
        scrapy_crawl(project, f"{site.base}/", "resumed.jsonl")
        assert site.requests["/"] == before + 2, "once for its item, once for its links"
    assert f"{site.base}/" in [item["url"] for item in items(project, "resumed.jsonl")]


@pytest.mark.skipif(
    scrapy.version_info < (2, 18), reason="older ones say only at the end that files of a feed are closed"
)
def test_files_of_a_feed_that_are_closed_confirm_what_is_in_them(tmp_path: Path) -> None:
    pages: dict[str, Any] = {
        "/": page("Start " + prose(0), *(f"/p/{n}" for n in range(60))),
        **{f"/p/{n}": slow(page(prose(100 + n, 80))) for n in range(60)},
    }
    feeds = {"part-%(batch_id)d.jsonl": {"format": "jsonlines", "batch_item_count": 5}}
    project = make_project(
        tmp_path,
        {"CONCURRENT_REQUESTS": 1, "LOG_LEVEL": "ERROR", "DEDUP_INDEX": f"lmdb:{tmp_path}/index", "FEEDS": feeds},
    )
    with serve(pages) as site:
        kill_when(
            project,
            site,
            "whole-%(batch_id)d.jsonl:jsonlines",
            lambda: (project / "part-6.jsonl").exists() and sum(site.requests.values()) > 28,
            "-s",
            "FEED_EXPORT_BATCH_ITEM_COUNT=5",
        )
    index = LmdbIndex(tmp_path / "index", ())
    info = index.info()
    index.close()
    assert isinstance(info["unstored"], int)
    assert isinstance(info["pages"], int)
    assert 0 < info["unstored"] <= 15 < info["pages"]
