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


class StatsFile:
    """Writes the stats to STATS_FILE in the end."""

    def __init__(self, crawler: Crawler) -> None:
        if not crawler.settings.get("STATS_FILE"):
            raise NotConfigured("STATS_FILE is not set")
        self._crawler = crawler
        crawler.signals.connect(self._engine_stopped, signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> StatsFile:
        """Called by Scrapy."""
        return cls(crawler)

    def _engine_stopped(self) -> None:
        assert self._crawler.stats is not None
        stats = json.dumps(self._crawler.stats.get_stats(), default=str)
        Path(self._crawler.settings["STATS_FILE"]).write_text(stats, encoding="utf-8")
