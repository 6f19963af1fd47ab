"""Spider middleware: rewrites requests as they leave the spider, before Scrapy's duplicate filter sees them."""

from __future__ import annotations

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from dedupcrawl.crawl.extension import Dedup


class LinkRewriting(BaseSpiderMiddleware):
    """A link to a known variant becomes a link to its page: the duplicate costs nothing, not even a queue entry."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._rewriter = Dedup.of(crawler).rewriter

    def get_processed_request(self, request: Request, response: Response | None) -> Request | None:
        """The request, rewritten where a rule says so."""
        return self._rewriter.rewrite(request)
