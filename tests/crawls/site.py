"""A real local site and real crawls of it, for tests."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import Any

import pytest
import scrapy
from scrapy import Request, signals
from scrapy.core.engine import ExecutionEngine
from scrapy.crawler import Crawler
from scrapy.settings import Settings

ExecutionEngine._SLOT_HEARTBEAT_INTERVAL = 0.1  # seconds, for 5: so long an idle spider is not asked again


@dataclass(frozen=True, slots=True)
class Answer:
    """What the site answers to one path."""

    body: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


Pages = Mapping[str, Any]  # path with query → an Answer, an HTML string, or a function that gives an Answer


NEEDS_PROXIES = pytest.mark.skipif(
    scrapy.version_info < (2, 19), reason="older ones use no proxy where there is no reactor"
)


def redirect(to: str, status: int = 301) -> Answer:
    return Answer(status=status, headers={"Location": to})


def slow(answer: Answer | str) -> Callable[[], Answer]:
    """An answer that takes a while, for a crawl that something else has to overtake."""

    def give() -> Answer:
        time.sleep(0.04)
        return Answer(answer) if isinstance(answer, str) else answer

    return give


def page(text: str, *links: str, title: str = "A page") -> str:
    """HTML with one paragraph a line of `text`."""
    paragraphs = "".join(f"<p>{line}</p>" for line in text.split("\n"))
    anchors = "".join(f'<a href="{link}">go</a> ' for link in links)
    return f"<html><head><title>{title}</title></head><body><article>{paragraphs}</article>{anchors}</body></html>"


@cache
def prose(seed: int, words: int = 120) -> str:
    """Made-up prose: another `seed` has other words."""
    syllables = ("ka", "lo", "mi", "ter", "van", "so", "pre", "du", "ran", "el", "bo", "stig", "nur", "fa", "wen", "ix")
    made = []
    state = seed * 2_654_435_761 + 12_345
    for number in range(words):
        word = ""
        for _ in range(2 + number % 2):
            state = (state * 6_364_136_223_846_793_005 + 1_442_695_040_888_963_407) % 2**64
            word += syllables[state >> 60]
        made.append(word)
    return " ".join(made).capitalize() + "."


@dataclass
class Site:
    """A running site."""

    base: str
    requests: Counter[str]


class _Server(ThreadingTCPServer):
    daemon_threads = True  # a crawl that was killed leaves connections open


@contextmanager
def serve(pages: Pages) -> Iterator[Site]:
    """Serve `pages` by path with query on a free loopback port; robots.txt is 404 unless given.

    What answers to POST has a path that begins with "POST ".
    """
    requests: Counter[str] = Counter()

    class Handler(StreamRequestHandler):
        """The part of HTTP that crawls need: http.server reads headers as if they were of mail, which takes longer."""

        disable_nagle_algorithm = True  # else each body waits 40 ms for the acknowledgement of its headers

        def handle(self) -> None:
            while request := self.rfile.readline():
                method, target, _ = request.decode("latin-1").split()
                length = 0
                while (line := self.rfile.readline()) not in (b"\r\n", b""):
                    name, _, value = line.partition(b":")
                    length = int(value) if name.lower() == b"content-length" else length
                self.rfile.read(length)
                self.wfile.write(self.answered(target if method == "GET" else f"{method} {target}"))

        def answered(self, path: str) -> bytes:
            requests[path] += 1
            found = pages.get(path, Answer("not here", 404))
            answer = found() if callable(found) else Answer(found) if isinstance(found, str) else found
            body = answer.body.encode("utf-8")
            headers = {"Content-Type": "text/html; charset=utf-8", **answer.headers, "Content-Length": len(body)}
            lines = [f"HTTP/1.1 {answer.status} -", *(f"{name}: {value}" for name, value in headers.items())]
            return "\r\n".join([*lines, "", ""]).encode("latin-1") + body

    server = _Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield Site(f"http://127.0.0.1:{server.server_address[1]}", requests)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Follower(scrapy.Spider):
    """Follows every link and yields one dict a page."""

    name = "follower"

    def parse(self, response: Any) -> Any:
        yield {"url": response.url, "text": " ".join(response.css("article ::text").getall())}
        yield from response.follow_all(css="a")


@dataclass
class Crawl:
    """What a crawl left behind; and where, and how often, it has asked a site that was there for it alone."""

    items: list[Any]
    dropped: list[Any]
    fetched: list[str]
    stats: dict[str, Any]
    base: str = ""
    requests: Counter[str] = field(default_factory=Counter)

    @property
    def urls(self) -> set[str]:
        return {item["url"] for item in self.items}


IN_ORDER: dict[str, Any] = {  # one page after the other, as links come
    "CONCURRENT_REQUESTS": 1,
    "DEPTH_PRIORITY": 1,
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
}


def texts(done: Crawl) -> set[str]:
    return {item["text"] for item in done.items}


SETTINGS: Mapping[str, Any] = {
    "ADDONS": {"dedupcrawl.Addon": 500},
    "DEDUP_INDEX": "memory:",
    "DEDUP_CRAWL_LOG": None,
    "TWISTED_REACTOR_ENABLED": False,
    "CONCURRENT_ITEMS": 16,  # Scrapy starts so many tasks a response, 100 unless told otherwise
    "DEDUP_GC_FREEZE": False,  # a whole collection, of all that tests have in memory
    "REMOTE_CONTROL_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "ROBOTSTXT_OBEY": False,
    "RETRY_ENABLED": False,
    "LOG_ENABLED": False,
    "DOWNLOAD_DELAY": 0,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
}


class _OfOneCrawl(Settings):
    """Nobody else has them, so they need no copies, of which Scrapy makes two; each takes as long as a page."""

    def copy(self) -> _OfOneCrawl:
        return self


async def crawl(
    start: str | list[str], settings: Mapping[str, Any] | None = None, spider: type[scrapy.Spider] = Follower
) -> Crawl:
    """Run a real crawl in this process; `settings` go over SETTINGS."""
    done = Crawl([], [], [], {})
    crawler = Crawler(spider, _OfOneCrawl({**SETTINGS, **(settings or {})}))

    def scraped(item: Any) -> None:
        done.items.append(item)

    def dropped(item: Any) -> None:
        done.dropped.append(item)

    def fetched(response: Any, request: Request) -> None:
        if not request.url.endswith("/robots.txt"):
            done.fetched.append(request.url)

    crawler.signals.connect(scraped, signal=signals.item_scraped)
    crawler.signals.connect(dropped, signal=signals.item_dropped)
    crawler.signals.connect(fetched, signal=signals.response_received)
    await crawler.crawl_async(start_urls=[start] if isinstance(start, str) else start)
    assert crawler.stats is not None
    done.stats.update(crawler.stats.get_stats())
    return done


async def crawled(
    pages: Pages, settings: Mapping[str, Any] | None = None, spider: type[scrapy.Spider] = Follower, start: str = "/"
) -> Crawl:
    """Serve these pages while one crawl runs."""
    with serve(pages) as site:
        done = await crawl(f"{site.base}{start}", settings, spider)
    done.base, done.requests = site.base, site.requests
    return done
