"""The spider of the demo, good for any site: follows the links of the start page's host, one item a page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import urlsplit

from scrapy import Request, Spider
from scrapy.http import Response, TextResponse

_PIECES = ".//text()[not(parent::script or parent::style)]"


class PagesSpider(Spider):
    """``scrapy crawl pages -a start=https://example.com/``.

    Args:
        start: Where to begin; only links to its host are followed.
        also: More hosts to follow, separated by commas.
    """

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
            except ValueError:  # a link that is no URL
                continue


def _text(response: TextResponse) -> str:
    """The words of the main element, or of the body, one line a piece."""
    pieces = (response.css("main") or response.css("body")).xpath(_PIECES).getall()
    return "\n".join(line for line in (" ".join(piece.split()) for piece in pieces) if line)
