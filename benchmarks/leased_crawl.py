"""What a crawl from a shared queue costs its Redis: round trips and server time a page, with leases and without.

    python -m benchmarks.leased_crawl [--pages 600] [--runs 3]

Starts a redis-server of its own and crawls a made-up site in this process: pages of 200 words, every tenth a copy of
the one before, each with links to two new pages and to two known ones. Answers are made in the downloader, after up
to 0.3 s. A round trip is a command, or a script, that the server read (INFO stats, total_reads_processed);
the server's time is that of all commands, also of those that a script runs and that its own time holds already (INFO
commandstats). Each link is a round trip of its own, whoever schedules.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import redis
from scrapy import Request
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.http import HtmlResponse, Response
from scrapy_redis.spiders import RedisSpider

from benchmarks.markdown import table
from benchmarks.redis_process import redis_process

_WORDS = 200
_LONGEST = 0.3  # seconds until an answer
_COPIED = 10  # one page in so many
_KINDS: Mapping[str, Mapping[str, Any]] = {
    "scrapy-redis's scheduler": {"SCHEDULER": "scrapy_redis.scheduler.Scheduler", "DEDUP_INDEX": "memory:"},
    "with leases": {"SCHEDULER": "dedupcrawl.shared_queue.scheduler.Scheduler", "DEDUP_INDEX": "memory:"},
    "with leases and the index": {"SCHEDULER": "dedupcrawl.shared_queue.scheduler.Scheduler"},
}


class Site(BaseDownloadHandler):
    """Answers at once; page n has links to pages 2n + 1 and 2n + 2, to itself and to page n // 2."""

    async def download_request(self, request: Request) -> Response:
        """The page that the path names."""
        number, pages = int(request.url.rsplit("/", 1)[1]), self.crawler.settings.getint("PAGES")
        await asyncio.sleep(np.random.default_rng(number).random() * _LONGEST)
        text = np.random.default_rng(number - (number % _COPIED == 1)).integers(0, 20_000, _WORDS)
        links = [link for link in (2 * number + 1, 2 * number + 2) if link < pages]
        links += [max(1, number), max(1, number // 2)]  # the start URL is in no filter
        body = " ".join(f"word{word}" for word in text) + "".join(f'<a href="/{link}">go</a>' for link in links)
        return HtmlResponse(request.url, body=f"<html><body><article>{body}</article></body></html>", encoding="utf-8")

    async def close(self) -> None:
        """Nothing is open."""


class Spider(RedisSpider):  # type: ignore[misc]  # it has no types
    """Follows every link."""

    name = "leased"

    def parse(self, response: Any) -> Any:
        """One item a page."""
        yield {"url": response.url, "text": " ".join(response.css("article ::text").getall())}
        yield from response.follow_all(css="a")


@dataclass(frozen=True, slots=True)
class Run:
    """What one crawl came to."""

    round_trips: float
    server_ms: float


async def measure(port: int, pages: int, kind: Mapping[str, Any]) -> Run:
    """One crawl on an empty server."""
    server: Any = redis.Redis(port=port)
    server.flushall()
    server.lpush(f"{Spider.name}:start_urls", "http://site.example/0")
    with tempfile.TemporaryDirectory() as folder:
        settings = {
            "ADDONS": {"dedupcrawl.Addon": 500},
            "DEDUP_INDEX": f"redis://127.0.0.1:{port}/0",
            "DEDUP_RUN": "bench",
            "DEDUP_CRAWL_LOG": None,
            "REDIS_URL": f"redis://127.0.0.1:{port}/0",
            "SCHEDULER_PERSIST": True,
            "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
            "MAX_IDLE_TIME_BEFORE_CLOSE": 1,
            "DOWNLOAD_HANDLERS": {"http": Site},
            "DOWNLOAD_DELAY": 0,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
            "ROBOTSTXT_OBEY": False,
            "TWISTED_REACTOR_ENABLED": False,
            "REMOTE_CONTROL_ENABLED": False,
            "TELNETCONSOLE_ENABLED": False,
            "LOG_ENABLED": False,
            "FEEDS": {Path(folder, "items.jsonl"): {"format": "jsonlines"}},
            "PAGES": pages,
            **kind,
        }
        runner = AsyncCrawlerRunner(settings)
        crawler = runner.create_crawler(Spider)
        server.config_resetstat()
        await runner.crawl(crawler)
        spent = sum(row["usec"] for name, row in server.info("commandstats").items() if "resetstat" not in name)
        read = server.info("stats")["total_reads_processed"]
    assert crawler.stats is not None
    found = crawler.stats.get_value("response_received_count")
    assert found == pages
    return Run(read / found, spent / found / 1000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--pages", type=int, default=600)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    runs: dict[str, list[Run]] = {name: [] for name in _KINDS}
    with redis_process() as port:
        for _ in range(given.runs):
            for name, kind in _KINDS.items():
                runs[name].append(asyncio.run(measure(port, given.pages, kind)))
    links = 2 + (given.pages - 1) / given.pages
    print(f"{given.pages} pages, {links:.1f} links a page, medians of {given.runs} runs\n")
    rows = []
    for name, some in runs.items():
        trips = statistics.median(run.round_trips for run in some)
        spent = statistics.median(run.server_ms for run in some)
        rows.append((name, f"{trips:.2f}", f"{trips - links:.2f}", f"{spent:.3f}"))
    print(table(("crawl", "round trips a page", "besides one a link", "server ms a page"), rows))


if __name__ == "__main__":
    main()
