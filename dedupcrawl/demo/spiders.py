"""The spider of the demo, good for any site: follows the links of the start page's host, one item per page."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response, TextResponse
from scrapy.utils.asyncio import create_looping_call

_PIECES = ".//text()[not(parent::script or parent::style)]"


class PagesSpider(Spider):
    """``scrapy crawl pages -a start=https://example.com/``: that host, and those of `also`, separated by commas."""

    name = "pages"

    def __init__(self, start: str, also: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_url = start
        self.allowed_domains = [urlsplit(start).hostname or "", *filter(None, also.split(","))]

    async def start(self) -> AsyncIterator[Request]:
        """The start page."""
        yield Request(self.start_url)

    def parse(self, response: Response) -> Iterator[dict[str, str | None] | Request]:
        """One item, then the page's links."""
        if not isinstance(response, TextResponse) or not response.css("body"):
            return
        yield {
            "url": response.url,
            "title": response.css("title::text").get(default="").strip(),
            "text": _text(response),
        }
        for href in response.css("a::attr(href)").getall():
            try:
                url = response.urljoin(href.strip())
                if url.startswith(("http://", "https://")):
                    yield Request(url)
            except ValueError:  # a link that is not a URL
                continue


def _text(response: TextResponse) -> str:
    """The words of the main element, or of the body, one line per piece."""
    pieces = (response.css("main") or response.css("body")).xpath(_PIECES).getall()
    return "\n".join(line for line in (" ".join(piece.split()) for piece in pieces) if line)


_SECONDS = 1.0  # between two writes


class StatsFile:
    """Writes the stats to STATS_FILE every second, and in the end, when they have a "finish_reason"."""

    def __init__(self, crawler: Crawler) -> None:
        path = crawler.settings.get("STATS_FILE")
        if not path:
            raise NotConfigured("STATS_FILE is not set")
        self._path = Path(path)
        self._crawler = crawler
        self._beat = create_looping_call(self._write)
        crawler.signals.connect(self._spider_opened, signals.spider_opened)
        crawler.signals.connect(self._engine_stopped, signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> StatsFile:
        """Called by Scrapy."""
        return cls(crawler)

    def _spider_opened(self) -> None:
        self._beat.start(_SECONDS)

    def _engine_stopped(self) -> None:
        if self._beat.running:
            self._beat.stop()
        self._write()

    def _write(self) -> None:
        assert self._crawler.stats is not None
        part = self._path.with_suffix(".part")  # who reads never sees half of it
        part.write_text(json.dumps(self._crawler.stats.get_stats(), default=str), encoding="utf-8")
        part.replace(self._path)
