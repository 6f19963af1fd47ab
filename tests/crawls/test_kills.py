"""Crawls that are killed: what the next one fetches again, and what aliases stand for."""

from __future__ import annotations

import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import scrapy

from dedupcrawl.index.lmdb import LmdbIndex
from tests import warm
from tests.crawls.project import crawl_arguments, items, make_project, scrapy_crawl
from tests.crawls.ruled_sites import KNOWN, rules
from tests.crawls.site import Answer, Site, crawl, page, prose, redirect, serve, slow, texts
from tests.crawls.test_aliases import FORUM, phpbb
from tests.crawls.test_several_workers import EXAMPLE, found, push, start, wait_for_its_death
from tests.redis_server import RedisServer

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


SETTINGS = {"DEDUP_SOFTWARE": False, "CONCURRENT_REQUESTS": 2, "LOG_LEVEL": "ERROR"}


def slowly(pages: Mapping[str, Any], permits: threading.Semaphore | None = None) -> dict[str, Any]:
    """The site, a page at a time; with `permits` it waits with each answer until there is one."""

    def answer(html: str) -> Any:
        def given() -> Answer:
            time.sleep(0.02)
            if permits is not None:
                permits.acquire()
            return Answer(html)

        return given

    return {path: answer(html) for path, html in pages.items()}


def named() -> dict[str, Any]:
    """Print views of pages, which name the URL that those are to be known by, and alone lead on."""
    pages = {"/": page(prose(0), *(f"/print?n={n}" for n in range(16)))}
    for n in range(16):
        of_its_own = f'<link rel="canonical" href="/a/{n}"><title>'
        both = page(prose(100 + n), f"/from/{n}").replace("<title>", of_its_own)
        pages |= {f"/print?n={n}": both, f"/a/{n}": both, f"/from/{n}": page(prose(300 + n))}
    return pages


SITES = {
    "permalinks": (phpbb(), FORUM, {}),
    "named": (named(), set(map(prose, (0, *range(100, 116), *range(300, 316)))), {"DEDUP_KEEP": "canonical"}),
}


@pytest.mark.parametrize("of", SITES)
@pytest.mark.parametrize("jobdir", [True, False])
@pytest.mark.parametrize("after", [6, 11])
def test_after_a_kill_all_pages_are_found_that_aliases_stand_for(
    tmp_path: Path, of: str, jobdir: bool, after: int
) -> None:
    if jobdir and scrapy.version_info < (2, 19):
        pytest.skip("older ones remember at once what they have asked for, and forget their queue when they are killed")
    pages, every, more = SITES[of]
    where = {"JOBDIR": "job"} if jobdir else {"DEDUP_SCOPE": "spider"}
    project = make_project(tmp_path, {**SETTINGS, **more, **where, "DEDUP_INDEX": f"lmdb:{tmp_path}/index"})
    permits = threading.Semaphore(after)  # so that the crawl cannot end before it is killed
    with serve(slowly(pages, permits)) as site:
        kill_when(project, site, "killed.jsonl", lambda: sum(site.requests.values()) > after)
        permits.release(1_000)
        scrapy_crawl(project, f"{site.base}/", "resumed.jsonl")
        assert {item["text"] for item in items(project, "resumed.jsonl")} == every, "the feed before was not closed"
        fetched = sum(site.requests.values())
    if of == "permalinks":
        assert fetched < len(pages), "and aliases saved fetches"


def test_two_workers_of_which_one_is_killed_find_all_pages_that_aliases_stand_for(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    project = Path(shutil.copytree(EXAMPLE, tmp_path / "project"))
    with serve(slowly(phpbb())) as site:
        client = push(redis_server, site)
        killed, other = (start(project, redis_server, feed) for feed in ("killed.jsonl", "other.jsonl"))
        while sum(site.requests.values()) < len(FORUM):
            time.sleep(0.01)
        os.killpg(killed.pid, signal.SIGKILL)
        killed.wait()
        assert other.wait(timeout=120) == 0
        wait_for_its_death(client)
        assert start(project, redis_server, "last.jsonl").wait(timeout=120) == 0
        texts = found(project, "other.jsonl", "last.jsonl")
        fetched = sum(site.requests.values())
    assert {text.removeprefix("Start ") for text in texts} >= FORUM - {prose(0)}, (
        "scrapy-redis may forget the front page"
    )
    assert fetched < len(phpbb()), "and aliases saved fetches"


async def test_what_rules_make_and_aliases_lead_on_from_is_not_fetched_after_a_restart(tmp_path: Path) -> None:
    """Links that come after the restart wait for the page that was asked for in the end, which has come before."""
    numbers = range(12)
    late = "/late"
    first = (*(f"/p?id={n}&amp;sid=0" for n in numbers), *(f"/t/{n}" for n in numbers))  # the last is asked for first
    pages: dict[str, Any] = {"/": page(prose(0), late, "/between", "/middle", *first)}
    pages |= {"/middle": page(prose(2)), "/between": page(prose(3))}
    for n in numbers:
        pages |= {f"/t/{n}": page(prose(100 + n))} | {f"/p?id={n}{sid}": redirect(f"/t/{n}") for sid in ("", "&sid=1")}
    pages[late] = page(prose(1), *(f"/p?id={n}&amp;sid=1" for n in numbers))
    pages = {path: slow(answer) for path, answer in pages.items()}
    given = {**rules(tmp_path, KNOWN), "DEDUP_SCOPE": "spider", "DEDUP_SOFTWARE": False, "CONCURRENT_REQUESTS": 1}
    given |= {"DEDUP_TRIAL_SHARE": 1e-6}
    with serve(pages) as site:
        await crawl(f"{site.base}/", given)
        site.requests.clear()
        given |= {"JOBDIR": str(tmp_path / "job")}
        cut = await crawl(f"{site.base}/", {**given, "CLOSESPIDER_PAGECOUNT": 15})  # a trial or none
        assert site.requests["/middle"] == 1
        assert not site.requests[late]
        rest = await crawl(f"{site.base}/", given)
        assert site.requests[late] == 1
    assert texts(cut) | texts(rest) == set(map(prose, (0, 1, 2, 3, *range(100, 112))))
    tried = sum(one.stats.get("dedup/url/tried", 0) for one in (cut, rest))
    asked = {path.partition("&")[0] for path in site.requests if path.startswith("/p?")}
    assert len(asked) <= tried <= 2, "nothing but trials: of the first use of the rule in each process"
