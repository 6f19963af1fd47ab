"""Savings: how many fetches the rules of a crawl save."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from scrapy import Request
from scrapy.http.request import NO_CALLBACK
from scrapy.statscollectors import StatsCollector

from dedupcrawl.core.hash_set import HashSet
from dedupcrawl.crawl.fetched import Fetched
from dedupcrawl.crawl.request_meta import CANONICAL, ORIGINAL_URL, TRAIL, TRIAL, without_fragment
from dedupcrawl.index.runs import RunTally
from dedupcrawl.printable import printable

logger = logging.getLogger(__name__)


class Savings:
    """Counts the fetches that rules save: the URLs that were requested, minus those that are fetched.

    URLs of links and targets of redirects count as requested. URLs that no rule affects are not counted, because each
    that is requested is fetched. Fetches past the spider count as fetched only. A negative number means more fetches
    than without rules. While several requests are under way, the count may be off by one: of 800 crawls of fifty pages,
    in each of which a rule failed, one counted a fetch too few.
    """

    def __init__(self, stats: StatsCollector, tally: RunTally, fetched: Fetched) -> None:
        self._stats, self._tally, self._is_fetched, self._given_back = stats, tally, fetched.has, fetched.given_back
        self._asked, self._fetched = HashSet(), HashSet()
        self._came = HashSet()  # URLs that were fetched as requested, for a trial, or because others were sent there
        self._sent_to = HashSet()  # URLs of links that the filter dropped, perhaps after rewrites to them

    def drop(self, request: Request) -> None:
        """Count a request that is not fetched, because another request for its URL is."""
        if ORIGINAL_URL in request.meta:
            self._count(self._ask(request))
            return
        url = request.url.partition("#")[0]
        self._sent_to.add(url)
        if url in self._fetched:
            self._count(self._asked.add(url))

    def lead_on(self, request: Request) -> None:
        """Count a request that is not fetched, because its page is fetched by another URL."""
        url = request.url.partition("#")[0]
        self._count(self._answer(request) if ORIGINAL_URL in request.meta else self._asked.add(url))
        self._fetched.add(url)  # counted as fetched: further links to it cause no fetch

    def fetch(self, request: Request) -> None:
        url, meta = without_fragment(request.url), request.meta
        is_tried = url == meta.get(TRIAL)
        if request.callback is NO_CALLBACK and meta.get("dedup_skip"):
            self._count(-1)
        elif url in meta.get(CANONICAL, ()):
            is_again = self._is_again(url, request)
            self._count(self._answer(request) - (self._fetched.add(url) or is_again))
        elif request.dont_filter and (meta.get("redirect_urls") or [""])[0] in self._fetched:
            is_more = not self._fetched.add(url) or url in self._asked or self._is_fetched(url)
            self._asked.add(url)  # may be fetched many times
            self._count(-is_more)
        elif url in self._asked or is_tried:
            is_again = self._is_again(url, request) and (is_tried or url in self._given_back)
            self._count(-(self._fetched.add(url) or is_again))

    def _is_again(self, url: str, request: Request) -> bool:
        """True for a second fetch of `url`: as a target, for a trial, or because it was given back.

        A retry by Scrapy does not count: it would happen without rules, too.
        """
        return not self._came.add(url) and "retry_times" not in request.meta

    def fetch_as_asked(self, *urls: str) -> None:
        """Count URLs that are fetched as they were requested, whatever rules make of them."""
        self._count(-sum(map(self._fetched.add, urls)))

    def fall_back(self, requests: Sequence[Request], why: str) -> None:
        """Count requests that are fetched as they were made after all; log each (DEBUG)."""
        if not requests:
            return
        self._stats.inc_value("dedup/url/fallback", len(requests))
        self._tally.fall_back(len(requests))
        self.fetch_as_asked(*(without_fragment(request.url) for request in requests))
        for request in requests:
            logger.debug("Fell back to %s: %s", printable(request.url), printable(why))

    def _answer(self, request: Request) -> int:
        """The number of URLs, not counted before, that the answer to `request` answers."""
        url = request.url.partition("#")[0]
        linked = url in self._sent_to and self._asked.add(url)
        return linked + (self._ask(request) if ORIGINAL_URL in request.meta else 0)

    def _ask(self, request: Request) -> int:
        """1 if the URL that rules rewrote to `request` is new, less 1 once it is known to be fetched itself, too."""
        url, trail = request.meta[ORIGINAL_URL], request.meta.get(TRAIL)
        if trail and "redirect_urls" in request.meta:  # the rules rewrote the target of a redirect
            url = trail[-1]
        return self._asked.add(url) - (self._is_fetched(url) and self._fetched.add(url))

    def _count(self, fetches: int) -> None:
        if fetches:
            self._stats.inc_value("dedup/url/saved", fetches)
            self._tally.save(fetches)
