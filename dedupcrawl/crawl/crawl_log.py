"""Downloader middleware: one row a response into the crawl log, from which rules are learned."""

from __future__ import annotations

import logging
import time

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK

from dedupcrawl.crawl.extension import Dedup

logger = logging.getLogger(__name__)


class CrawlLogMiddleware:
    """Stands next to the spider, where bodies are decompressed; redirects are taken from the request's meta."""

    def __init__(self, crawler: Crawler) -> None:
        self._failed = False
        log = Dedup.of(crawler).page_log
        if log is None:
            raise NotConfigured  # no message: that is a choice, and no news
        self._log = log

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> CrawlLogMiddleware:
        """Called by Scrapy."""
        return cls(crawler)

    async def process_response(self, request: Request, response: Response) -> Response:
        """The response, untouched."""
        if request.callback is not NO_CALLBACK and not request.meta.get("dedup_skip"):
            try:
                self._log.add(request, response, time.time())
            except Exception:  # a log is not worth a page
                if not self._failed:
                    logger.exception("%r could not be logged; this is said once.", response.url)
                self._failed = True
        return response
