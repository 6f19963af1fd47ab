"""Spider middlewares: drop repeated links that a spider yields, rewrite others, link items to their pages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from dedupcrawl.crawl.extension import START, Component, Dedup
from dedupcrawl.crawl.first_referrers import Referrer
from dedupcrawl.crawl.request_meta import Yielded
from dedupcrawl.detection.trust import Trust


class RepeatedLinks(Component):
    """Drops links early that would be dropped in the end, before they pass three generators of each middleware.

    It is next to the spider. If there is a middleware other than Scrapy's own between it and `SpiderOutput`, that one
    may make other requests of such links: then it drops none, and `SpiderOutput` does.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._is_on = False
        crawler.signals.connect(self._started, signal=signals.engine_started)

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """All but those links."""
        repetitions, count = self._dedup.repetitions, 0
        urls, leaves_out = repetitions.urls if self._is_on else set[str](), repetitions.leaves_out
        try:
            async for one in result:
                if isinstance(one, Request) and one.url in urls and leaves_out(one, response):
                    count += 1
                else:
                    yield one
        finally:
            repetitions.count(count)

    def _started(self) -> None:
        """All middlewares are there; which those are, the settings alone do not tell."""
        assert self._crawler.engine is not None
        kinds = [type(one) for one in self._crawler.engine.scraper.spidermw.middlewares]  # the spider is at their end
        if SpiderOutput in kinds and not self._crawler.settings.getbool("DEPTH_STATS_VERBOSE"):  # counts every link
            between = kinds[kinds.index(SpiderOutput) + 1 : kinds.index(RepeatedLinks)]
            self._is_on = all(kind.__module__.startswith("scrapy.spidermiddlewares.") for kind in between)


class SpiderOutput(BaseSpiderMiddleware):
    """One middleware for both, because Scrapy hands every link of every page through three generators for each.

    It is next to the engine: what other spider middlewares drop or replace never gets here, and a request that must be
    fetched as it was made already has its depth and its referrer.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        dedup = self._dedup = Dedup.of(crawler)
        self._repetitions, self._bypass = dedup.repetitions, dedup.parts.bypass
        self._is_new, self._fingerprint = dedup.aliases.first_referrers.is_new, dedup.parts.fingerprint
        self._rewrite, self._link = dedup.rewriter.rewrite, dedup.parts.pages.link
        self._software = dedup.software
        self._trust = dedup.parts.detector.trust if dedup.settings.trusted_sites == START else None

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """What a run that was cut off makes necessary, and what the spider starts with, which may have no end."""
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
        """As Scrapy's own, without two calls a link.

        A page that an item is made of is not settled before its callback has come to its end: there may be more items.
        """
        assert response is not None
        assert response.request is not None
        held, referrer, repetitions = None, Referrer.of(response), self._repetitions
        found: list[Yielded] = []
        repetitions.came(response.request)
        try:
            async for one in result:
                if isinstance(one, Request):
                    if one.url in repetitions.urls and repetitions.leaves_out(one, response):
                        repetitions.count(1)
                    elif (sent := self._followed(one, referrer, found)) is not None:
                        yield sent
                else:
                    held = held or self._dedup.storing.hold(response)
                    self._link(one, response)  # a pipeline gets no response
                    yield one
            if (page := self._dedup.parts.pages.known(response)) is not None:
                page.links = found if response.request.method == "GET" else None
                self._dedup.answers.settle_page(page, is_last=held is None)
        finally:
            if held is not None:
                self._dedup.storing.release(held)

    def _followed(self, link: Request, referrer: Referrer, found: list[Yielded]) -> Request | None:
        """What is asked for where a callback has yielded a link, if anything; one that is new is added to `found`.

        A link is asked about by its fingerprint, which is made once; what goes past the filter has none here.
        """
        fingerprint = b"" if link.dont_filter else self._fingerprint(link)
        is_fetched = fingerprint in self._bypass.known  # before a rule sends it elsewhere
        sent = link if is_fetched else self._rewrite(link)
        if self._is_new(link, referrer, sent):
            found.append(Yielded.of(link))
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
        may_be = fingerprint in repetitions.dropped or fingerprint in repetitions.started
        if may_be and repetitions.drops(sent, fingerprint):
            self._dedup.answers.dropped(sent)
            return None
        return sent

    def get_processed_request(self, request: Request, response: Response | None) -> Request | None:
        """The request, rewritten where a rule says so, before Scrapy's duplicate filter sees it.

        A link to a known variant becomes a link to its page: the duplicate costs nothing, not even a queue entry.
        """
        return self._rewrite(request)


async def _trusting(start: AsyncIterator[Any], trust: Trust) -> AsyncIterator[Any]:
    """What a spider starts with, unchanged; its sites are trusted from then on."""
    async for one in start:
        if isinstance(one, Request):
            trust.add(one.url)
        yield one
