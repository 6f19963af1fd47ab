"""Spider middlewares: drop repeated links that a spider yields, rewrite others, link items to their pages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from dedupcrawl.crawl.extension import Component, Dedup
from dedupcrawl.crawl.first_referrers import Referrer
from dedupcrawl.crawl.request_meta import Yielded
from dedupcrawl.detection.trust import Trust
from dedupcrawl.settings import START


class RepeatedLinks(Component):
    """Drops repeated links before they pass three generators of each middleware.

    It stands next to the spider. If there is a middleware other than Scrapy's own between it and `SpiderOutput`, that
    one may turn such links into other requests: then this class drops none, and `SpiderOutput` does.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._is_on = False
        crawler.signals.connect(self._started, signal=signals.engine_started)

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        repetitions, count = self._dedup.repetitions, 0
        urls, leaves_out = repetitions.urls if self._is_on else set[str](), repetitions.leaves_out
        try:
            async for one in result:
                if isinstance(one, Request):
                    url = one.url
                    if (url.partition("#")[0] if "#" in url else url) in urls and leaves_out(one, response):
                        count += 1
                        continue
                yield one
        finally:
            repetitions.count(count)

    def _started(self) -> None:
        """Switch on if the middlewares allow it: the settings alone do not tell which ones are in use."""
        assert self._crawler.engine is not None
        kinds = [type(one) for one in self._crawler.engine.scraper.spidermw.middlewares]  # engine to spider
        # With DEPTH_STATS_VERBOSE, Scrapy's DepthMiddleware counts every link.
        if SpiderOutput in kinds and not self._crawler.settings.getbool("DEPTH_STATS_VERBOSE"):
            between = kinds[kinds.index(SpiderOutput) + 1 : kinds.index(RepeatedLinks)]
            self._is_on = all(kind.__module__.startswith("scrapy.spidermiddlewares.") for kind in between)


class SpiderOutput(BaseSpiderMiddleware):
    """Rewrites links, and remembers which page an item was made of.

    It is one middleware for both, because Scrapy passes every link of every page through three generators of each
    middleware. It stands next to the engine: requests that other spider middlewares drop or replace never get here, and
    a request that must be fetched as it was made already has its depth and its referrer.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        dedup = self._dedup = Dedup.of(crawler)
        self._repetitions, self._bypass = dedup.repetitions, dedup.parts.bypass
        self._is_new, self._fingerprint = dedup.aliases.first_referrers.is_new, dedup.parts.fingerprint
        self._was_requested = dedup.aliases.first_referrers.was_requested
        self._rewrite, self._link = dedup.rewriter.rewrite, dedup.parts.pages.link
        self._software = dedup.software
        self._trust = dedup.parts.detector.trust if dedup.settings.trusted_sites == START else None

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Yield the requests that an interrupted run makes necessary, then the spider's, which may have no end."""
        for request in self._dedup.refetches.at_start():
            yield request
        async for one in super().process_start(_trusting(start, self._trust) if self._trust else start):
            if isinstance(one, Request) and not one.dont_filter:
                self._bypass.leave_to_filter(one)
                if self._is_new(one) and self._software is not None:
                    self._dedup.falls.fall((), self._software.see_link(one.url))
            yield one

    async def process_spider_output_async(
        self, response: Response | None, result: AsyncIterator[Any], spider: Spider | None = None
    ) -> AsyncIterator[Any]:
        """Do what Scrapy's base class does, with two calls less for each link.

        A page with items is not settled before its callback has ended, because the callback may yield more items.
        """
        assert response is not None
        assert response.request is not None
        held, referrer, repetitions = None, Referrer.of(response), self._repetitions
        links: list[Yielded] = []
        if response.request.dont_filter and response.request.meta.get("is_start_request"):
            settings = self._dedup.settings.for_url(response.request.url)
            if settings.enabled and settings.url_mode == "rewrite":
                self._bypass.came(response.request)
        try:
            async for one in result:
                if isinstance(one, Request):
                    if one.url.partition("#")[0] in repetitions.urls and repetitions.leaves_out(one, response):
                        repetitions.count(1)
                    elif (sent := self._followed(one, referrer, links)) is not None:
                        yield sent
                else:
                    held = held or self._dedup.storing.hold(response)
                    self._link(one, response)  # pipelines do not get the response
                    yield one
            if (page := self._dedup.parts.pages.known(response)) is not None:
                page.links = links if response.request.method == "GET" else None
                self._dedup.answers.settle_page(page, is_last=held is None)
        finally:
            if held is not None:
                self._dedup.storing.release(held)

    def _followed(self, link: Request, referrer: Referrer, links: list[Yielded]) -> Request | None:
        """The request to send for a link that a callback has yielded, if any; a new link is added to `links`.

        The fingerprint is computed once for all look-ups; requests that bypass the filter get none here.
        """
        fingerprint = b"" if link.dont_filter else self._fingerprint(link)
        is_fetched = fingerprint in self._bypass.known  # then no rule may rewrite it
        is_sent = is_fetched or (not link.dont_filter and self._was_requested(link.url))  # the filter drops it
        sent = link if is_sent else self._rewrite(link)
        if self._is_new(link, referrer, sent):
            links.append(Yielded.of(link))
            if self._software is not None:
                self._dedup.falls.fall((), self._software.see_link(link.url))
        if is_fetched:
            self._dedup.parts.savings.drop(link)
            return None
        if sent is not link:
            fingerprint = b"" if sent.dont_filter else self._fingerprint(sent)
            if fingerprint in self._bypass.known:
                self._dedup.parts.savings.drop(sent)
                return None
        repetitions = self._repetitions
        may_be = fingerprint in repetitions.dropped or fingerprint in self._bypass.started
        if may_be and repetitions.drops(sent, fingerprint):
            self._dedup.answers.dropped(sent)
            return None
        if "#" in link.url and self._dedup.aliases.leads_to_element(link.url):
            sent.priority -= 1  # its page may come by another URL before
        return sent

    def get_processed_request(self, request: Request, response: Response | None) -> Request | None:
        """Rewrite a request before Scrapy's duplicate filter sees it.

        A link to a known variant becomes a link to the canonical URL, so that the duplicate does not even cost an entry
        in the queue.
        """
        return self._rewrite(request)


async def _trusting(start: AsyncIterator[Any], trust: Trust) -> AsyncIterator[Any]:
    """Pass on what a spider starts with, and trust the sites of its requests from then on."""
    async for one in start:
        if isinstance(one, Request):
            trust.add(one.url)
        yield one
