"""A plain spider for one host: it follows links, and writes down what each page that came says."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import mmh3
from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse, Response

_SHINGLE = 3  # words


class LiveSpider(Spider):
    """Follows all links of the host that do not fit `skip`.

    Args:
        start: A URL.
        main: CSS selectors of what a page says; a page without one of them says all its body.
        passing: A regular expression of what is another text at each fetch.
        skip: A regular expression of URLs that are not asked for.
        pages: A file for rows of JSON, one a page with status 200, in the order of the answers.
    """

    name = "live"

    def __init__(self, start: str, main: str, passing: str, skip: str, pages: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.first = start
        self.host = urlsplit(start).netloc
        self.main = main
        self.passing = re.compile(passing or "(?!)")
        self.skip = re.compile(skip or "(?!)")
        self.pages = Path(pages).open("w", encoding="utf-8")  # noqa: SIM115 - closed with the spider

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> LiveSpider:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.note, signals.response_received)
        return spider

    async def start(self) -> AsyncIterator[Request]:
        yield Request(self.first)

    def note(self, response: Response) -> None:
        """Write down a page that came, whatever becomes of it."""
        if response.status == 200 and isinstance(response, HtmlResponse):
            words = self.text(response).split()
            row = {"url": response.url, "text_sha1": _digest(words), "simhash64": _simhash(words), "words": len(words)}
            self.pages.write(json.dumps(row) + "\n")

    def text(self, response: HtmlResponse) -> str:
        """What the page says."""
        parts = (response.css(self.main) if self.main else None) or response.css("body")
        texts = parts.xpath(".//text()[not(ancestor::script or ancestor::style)]").getall()
        return self.passing.sub(" ", " ".join(" ".join(texts).split()))

    def parse(self, response: Response) -> Iterator[dict[str, str] | Request]:
        if not isinstance(response, HtmlResponse):
            return
        yield {"url": response.url}
        for href in dict.fromkeys(response.css("a::attr(href)").getall()):
            try:
                url = response.urljoin(href.strip())
                if urlsplit(url).netloc == self.host and not self.skip.search(url):
                    yield Request(url)
            except ValueError:  # a link that is not a URL
                continue

    def closed(self, reason: str) -> None:
        self.pages.close()


def _digest(words: list[str]) -> str:
    return hashlib.sha1("".join(words).encode(), usedforsecurity=False).hexdigest()


def _simhash(words: list[str]) -> str:
    """Sixteen hexadecimal digits."""
    counts = [0] * 64
    for start in range(max(1, len(words) - _SHINGLE + 1)):
        value = mmh3.hash64(" ".join(words[start : start + _SHINGLE]), signed=False)[0]
        for bit in range(64):
            counts[bit] += 1 if value >> bit & 1 else -1
    return f"{sum(1 << bit for bit, count in enumerate(counts) if count > 0):016x}"
