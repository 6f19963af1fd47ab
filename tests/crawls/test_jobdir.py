"""Crawls with a JOBDIR that are stopped, refused, killed and resumed: what they know beside Scrapy's queue."""

from __future__ import annotations

from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest

from dedupcrawl.settings import SettingError
from tests.crawls.project import items, make_project, scrapy_crawl
from tests.crawls.ruled_sites import KNOWN, every, rule, rules, shop
from tests.crawls.site import crawl, page, prose, serve, slow
from tests.crawls.test_kills import kill_when

STOPPED = """
import scrapy
from scrapy.exceptions import CloseSpider

class Pages(scrapy.Spider):
    name = "pages"

    async def start(self):
        yield scrapy.Request(self.origin)

    def parse(self, response):
        yield {"url": response.url, "text": " ".join(response.css("article ::text").getall())}
        if response.url.endswith("/stop"):
            raise CloseSpider("stopped")
        for link in response.css("a::attr(href)").getall():
            order = {"hidden": 2, "p?id": 1, "behin": -1}
            yield response.follow(link, priority=next((order[one] for one in order if link[1:].startswith(one)), 0))
"""


def test_a_rule_that_hides_pages_is_found_out_by_a_crawl_that_is_resumed(tmp_path: Path) -> None:
    """The page with `sid` is a copy, but it alone leads to /hidden.

    What leads back there was found on the hidden page alone, and is fetched only by the process that is resumed last.
    """
    count = 30
    others = [f"/other/{n}" for n in range(20)]
    links = [f"/p?id={n}&amp;sid=7" for n in range(count)]
    pages: dict[str, Any] = {"/": page("Start " + prose(0), *links, "/stop", *others), "/stop": page(prose(900))}
    pages |= {other: slow(page(prose(800 + n))) for n, other in enumerate(others)}
    for n in range(count):
        pages[f"/p?id={n}"] = page(prose(n + 1))
        pages[f"/p?id={n}&sid=7"] = page(prose(n + 1), f"/hidden/{n}")
        pages[f"/hidden/{n}"] = page(prose(n + 101), f"/behind/{n}")
        pages[f"/behind/{n}"] = page(prose(n + 201), f"/hidden/{n}")
    settings = {**rules(tmp_path / "rules", KNOWN), "JOBDIR": "job", "CONCURRENT_REQUESTS": 1, "LOG_LEVEL": "INFO"}
    settings |= {"SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue", "DEDUP_CRAWL_LOG": None}
    project = make_project(tmp_path, settings, STOPPED)
    with serve(pages) as site:
        scrapy_crawl(project, f"{site.base}/", "stopped.jsonl")
        assert not any(path.startswith("/behind") for path in site.requests)
        refused = scrapy_crawl(project, f"{site.base}/", "refused.jsonl", "-s", "DEDUP_LEARN=True")
        assert "the crawl does not start: DEDUP_LEARN" in refused.stderr
        fetched = sum(site.requests.values())
        kill_when(project, site, "killed.jsonl", lambda: sum(site.requests.values()) > fetched + 5)
        done = scrapy_crawl(project, f"{site.base}/", "resumed.jsonl")
    assert "'dedup/url/tried_links'" in done.stderr
    assert rule(tmp_path / "rules", "sid").failed
    found = {item["text"] for feed in ("stopped", "resumed") for item in items(project, f"{feed}.jsonl")}
    assert found >= every(count) | {prose(n + more) for n in range(count) for more in (101, 201)}


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"0123456789abcde", b"../../etc/passwd", b"0123456789ABCDEF"])
async def test_what_has_no_run_any_more_is_not_resumed(tmp_path: Path, content: bytes) -> None:
    settings, file = {"JOBDIR": str(tmp_path / "job")}, tmp_path / "job" / "dedup" / "run-id"
    with serve(shop(3)) as site:
        await crawl(f"{site.base}/", {**settings, "CLOSESPIDER_PAGECOUNT": 1})
        file.write_bytes(content)
        with pytest.raises(SettingError, match=r"JOBDIR: .* cannot be resumed"):
            await crawl(f"{site.base}/", settings)
    assert file.read_bytes() == content


@pytest.mark.parametrize("run", [None, "one"])
async def test_what_has_lost_its_index_is_not_resumed(tmp_path: Path, run: str | None) -> None:
    """What rules had left out is known to the index alone, while Scrapy's queue takes it for seen."""
    settings = {**rules(tmp_path / "rules", KNOWN), "JOBDIR": str(tmp_path / "job"), "DEDUP_RUN": run}
    settings["DEDUP_INDEX"] = f"lmdb:{tmp_path / 'index'}"
    with serve(shop(12, sessions=1)) as site:
        await crawl(f"{site.base}/", {**settings, "CLOSESPIDER_PAGECOUNT": 3})
        (tmp_path / "index").rename(tmp_path / "old")
        with pytest.raises(SettingError, match="its index is missing or is another"):
            await crawl(f"{site.base}/", settings)
        rmtree(tmp_path / "index")
        (tmp_path / "old").rename(tmp_path / "index")
        resumed = await crawl(f"{site.base}/", settings)
    assert resumed.stats["finish_reason"] == "finished"


async def test_a_worker_does_not_resume_what_is_part_of_another_run(tmp_path: Path) -> None:
    settings = {"JOBDIR": str(tmp_path / "job"), "DEDUP_INDEX": f"lmdb:{tmp_path / 'index'}"}
    with serve(shop(3)) as site:
        await crawl(f"{site.base}/", {**settings, "DEDUP_RUN": "one", "CLOSESPIDER_PAGECOUNT": 1})
        with pytest.raises(SettingError, match=r"DEDUP_RUN: got 'two', but .*job is part of the run 'one'"):
            await crawl(f"{site.base}/", {**settings, "DEDUP_RUN": "two"})
        resumed = await crawl(f"{site.base}/", {**settings, "DEDUP_RUN": "one"})
    assert resumed.stats["finish_reason"] == "finished"
