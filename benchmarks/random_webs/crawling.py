"""Crawls of a random web, each in a process of its own that may be killed."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import sys
import traceback
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import scrapy
from scrapy.core.engine import ExecutionEngine
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.exceptions import DropItem
from scrapy.http import HtmlResponse, TextResponse
from scrapy.utils.log import configure_logging

from benchmarks.random_webs.server import CONTROL
from benchmarks.random_webs.web import START

FINISHED = 0
STOPPED = 3


class ThroughTheServer:
    """A downloader middleware: all hosts are those of the random web."""

    def __init__(self, proxy: str) -> None:
        self._proxy = proxy

    @classmethod
    def from_crawler(cls, crawler: Any) -> ThroughTheServer:
        """Called by Scrapy."""
        return cls(crawler.settings["WEB_PROXY"])

    def process_request(self, request: scrapy.Request) -> None:
        """Send it to the server."""
        request.meta["proxy"] = self._proxy


class Failing:
    """An item pipeline after all others that loses some items, in one way or another."""

    def __init__(self, share: float, salt: int) -> None:
        self._share, self._salt = share, salt

    @classmethod
    def from_crawler(cls, crawler: Any) -> Failing:
        """Called by Scrapy."""
        return cls(crawler.settings.getfloat("WEB_FAILING"), crawler.settings.getint("WEB_SALT"))

    def process_item(self, item: Any) -> Any:
        """Called by Scrapy."""
        drawn = zlib.crc32(f"{self._salt} {item['url']}".encode()) / 2**32
        if drawn < self._share / 2:
            raise DropItem("the pipeline does not want it")
        if drawn < self._share:
            raise RuntimeError("the pipeline fails")
        return item


class Visitor(scrapy.Spider):
    """Follows every link, sends every form, and yields one item a page."""

    name = "visitor"
    start_urls = [START]  # noqa: RUF012 - as Scrapy has it

    def parse(self, response: Any) -> Iterator[Any]:
        """Called by Scrapy."""
        if not isinstance(response, TextResponse):
            return
        is_html = isinstance(response, HtmlResponse)
        yield {
            "url": response.url,
            "text": " ".join(response.css("article ::text").getall()) if is_html else response.text,
        }
        if not is_html:
            return
        yield from response.follow_all(css="a")
        for number in range(len(response.css("form"))):
            yield scrapy.FormRequest.from_response(response, formnumber=number)


@dataclass(frozen=True)
class Circumstances:
    """Of one crawl.

    Attributes:
        number: How manieth crawl of its web it is, from 1.
        settings: Scrapy's.
        kill_after: Answers, after which it is killed with SIGKILL; 0: it is not.
    """

    number: int
    settings: Mapping[str, Any]
    kill_after: int = 0


def tell(port: int, **told: int) -> None:
    """Tell the server what comes."""
    connection = HTTPConnection("127.0.0.1", port)
    connection.request("GET", f"{CONTROL}?{urlencode(told)}")
    connection.getresponse().read()
    connection.close()


def warm_up(port: int, folder: Path) -> None:
    """Load what crawls need, so that each process has it."""
    asyncio.run(
        _crawl(
            port,
            Circumstances(1, {"ADDONS": {"dedupcrawl.Addon": 500}, "DEDUP_INDEX": "memory:"}),
            folder / "warm.jsonl",
        )
    )


_MOST_BYTES = 4 << 30  # of address space: more is a fault, of which the log of the process then tells where it is


def in_process(work: Callable[[], int], folder: Path, log: str = "log") -> int:
    """Do something in a process of its own, that may be killed: what it returns, or as it ended."""
    pid = os.fork()
    if not pid:
        status = 1
        try:
            os.chdir(folder)
            _, hard = resource.getrlimit(resource.RLIMIT_AS)
            if hard == resource.RLIM_INFINITY:
                resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, hard))
            with (folder / log).open("ab") as output:
                os.dup2(output.fileno(), 1)
                os.dup2(output.fileno(), 2)
            status = work()
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    _, ended = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(ended)


def crawl(port: int, folder: Path, of: Circumstances, feed: Path) -> int:
    """Crawl in a process of its own: 0 when it has finished, 3 when it was stopped, else as the process ended."""

    def work() -> int:
        tell(port, run=of.number, pid=os.getpid(), kill=of.kill_after)
        return FINISHED if asyncio.run(_crawl(port, of, feed)) == "finished" else STOPPED

    return in_process(work, folder, f"{feed.stem}.log")


async def _crawl(port: int, of: Circumstances, feed: Path) -> str:
    ExecutionEngine._SLOT_HEARTBEAT_INTERVAL = 0.1  # seconds, for 5: so long an idle spider is not asked again
    settings = {
        "TWISTED_REACTOR_ENABLED": False,
        "REMOTE_CONTROL_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "ROBOTSTXT_OBEY": False,
        "RETRY_ENABLED": False,
        "DOWNLOAD_DELAY": 0,
        "CONCURRENT_ITEMS": 8,  # Scrapy starts so many tasks a response, 100 unless told otherwise
        "LOG_ENABLED": False,
        "WEB_PROXY": f"http://127.0.0.1:{port}",
        "DOWNLOADER_MIDDLEWARES": {ThroughTheServer: 745},
        "ITEM_PIPELINES": {Failing: 900},
        "FEEDS": {feed: {"format": "jsonlines"}},
        **of.settings,
    }
    if settings["LOG_ENABLED"]:
        configure_logging(settings)
    runner = AsyncCrawlerRunner(settings)
    crawler = runner.create_crawler(Visitor)
    await runner.crawl(crawler)
    assert crawler.stats is not None
    return str(crawler.stats.get_value("finish_reason"))


def texts_in(feed: Path) -> set[str]:
    """The texts of the items that a feed holds, whole ones."""
    if not feed.exists():
        return set()
    found = set()
    for line in feed.read_text("utf-8").split("\n"):
        try:
            found.add(json.loads(line)["text"])
        except ValueError:  # the end of one that was killed
            continue
    return found
