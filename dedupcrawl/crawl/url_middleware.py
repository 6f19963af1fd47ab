"""Downloader middleware: rewrites the requests that did not come out of a spider callback, and watches the answers."""

from __future__ import annotations

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from dedupcrawl.crawl.extension import Dedup
from dedupcrawl.crawl.request_meta import CANONICAL, TRIAL, AlreadyFetchedError


class UrlMiddleware:
    """Requests of other middlewares, pipelines and redirects go through the rules here, after the offsite filter.

    A request that is returned goes back to the scheduler, whose duplicate filter then knows its canonical URL.
    """

    def __init__(self, crawler: Crawler) -> None:
        dedup = Dedup.of(crawler)
        self._rewriter = dedup.rewriter
        self._watch = dedup.watch
        self._starts = dedup.repetitions.starts
        self._orphans = dedup.orphans
        self._software = dedup.software
        self._aliases = dedup.aliases

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> UrlMiddleware:
        """Called by Scrapy."""
        return cls(crawler)

    async def process_response(self, request: Request, response: Response) -> Request | Response:
        """The response, untouched; or a request for the URL that its page would be known by."""
        self._orphans.answered(request, response)
        if self._software is not None:
            self._software.look(response)
        if (instead := self._aliases.look(request, response)) is not None:
            return instead
        self._watch.answered(request, response)
        return response

    async def process_request(self, request: Request) -> Request | None:
        """None to go on, or the rewritten request."""
        if self._watch.meets(request):
            raise AlreadyFetchedError(f"{request.url} is where the canonical URL led")
        is_waited_for = CANONICAL in request.meta or TRIAL in request.meta
        if "redirect_urls" in request.meta and not is_waited_for and self._starts.has(request):
            raise AlreadyFetchedError(f"{request.url} is where the crawl has started")
        rewritten = self._rewriter.rewrite(request)
        if rewritten is request:
            rewritten = self._rewriter.follow(request)
        return None if rewritten is request else rewritten
