"""Crawls that aliases save fetches in, and that are killed: nothing is lost by what was not fetched."""

from __future__ import annotations

import os
import shutil
import signal
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import scrapy

from tests.crawls.project import items, make_project, scrapy_crawl
from tests.crawls.ruled_sites import KNOWN, rules
from tests.crawls.site import Answer, crawl, page, prose, redirect, serve, slow, texts
from tests.crawls.test_aliases import FORUM, phpbb
from tests.crawls.test_kills import kill_when
from tests.crawls.test_several_workers import EXAMPLE, found, push, start, wait_for_its_death
from tests.redis_server import RedisServer

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
    assert sum(path.startswith("/p?") for path in site.requests) <= 1, "but for trials"
