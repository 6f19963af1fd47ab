"""Downloader middleware: rewrites the requests that did not come out of a spider callback."""

from __future__ import annotations

from scrapy import Request
from scrapy.crawler import Crawler

from dedupcrawl.crawl.extension import Dedup


class UrlMiddleware:
    """Requests of other middlewares, pipelines and redirects go through the rules here, after the offsite filter.

    A request that is returned goes back to the scheduler, whose duplicate filter then knows its canonical URL.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._rewriter = Dedup.of(crawler).rewriter

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> UrlMiddleware:
        """Called by Scrapy."""
        return cls(crawler)

    async def process_request(self, request: Request) -> Request | None:
        """None to go on, or the rewritten request."""
        rewritten = self._rewriter.rewrite(request)
        return None if rewritten is request else rewritten
