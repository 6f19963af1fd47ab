"""The spider of the replay: what a plain spider does with a page, parse it and follow its links, and no more."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider
from scrapy.http import Response, TextResponse

_BATCH = 64  # pages
_NOT_STORED = {"dedup_url": False}  # neither is what a rule makes of such a URL: the add-on would try it and get 404s


class ReplaySpider(Spider):
    """Starts at the first page of each host and follows links; whenever those run dry, goes on with pages not met yet.

    Args:
        urls: A file with the stored crawl's URLs, one a line.
    """

    name = "replay"

    def __init__(self, urls: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        listed = Path(urls).read_text(encoding="utf-8").splitlines()
        self.stored = frozenset(listed)
        self.met: set[str] = set()
        self._hosts = {urlsplit(url).netloc: url for url in reversed(listed)}
        self.allowed_domains = sorted({urlsplit(url).hostname or "" for url in listed})
        self._rest = iter(listed)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> ReplaySpider:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.seed, signals.spider_idle)
        return spider

    async def start(self) -> AsyncIterator[Request]:
        for url in self._hosts.values():
            yield Request(url)

    def seed(self) -> None:
        """Hand the engine the next pages that no link led to."""
        assert self.crawler.engine is not None
        batch = list(islice((url for url in self._rest if url not in self.met), _BATCH))
        for url in batch:
            self.crawler.engine.crawl(Request(url))
        if batch:
            raise DontCloseSpider

    def parse(self, response: Response) -> Iterator[dict[str, str | None] | Request]:
        if not isinstance(response, TextResponse):
            return
        yield {"url": response.url, "title": response.css("title::text").get()}
        seen: set[str] = set()
        for href in response.css("a::attr(href)").getall():
            try:
                url = response.urljoin(href.strip())
                if url not in seen and url.startswith("http"):
                    seen.add(url)
                    yield Request(url, meta=None if url in self.stored else _NOT_STORED)
            except ValueError:  # a link that is not a URL
                continue
