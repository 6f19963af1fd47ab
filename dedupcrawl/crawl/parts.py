"""Parts: the objects that the URL half of one crawl shares, put together in one place."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK
from scrapy.statscollectors import StatsCollector

from dedupcrawl.core.hash_set import HashSet
from dedupcrawl.crawl.alias_store import AliasStore
from dedupcrawl.crawl.batch import Batch
from dedupcrawl.crawl.credentials import Credentials
from dedupcrawl.crawl.dupe_filter import DupeFilterBypass
from dedupcrawl.crawl.failures import running_loop
from dedupcrawl.crawl.fetched import Fetched
from dedupcrawl.crawl.outage import Owed
from dedupcrawl.crawl.pages import Pages
from dedupcrawl.crawl.request_meta import CANONICAL, ORIGINAL_URL, TRAIL, TRIAL, without_fragment
from dedupcrawl.crawl.rewrites import Rewrites
from dedupcrawl.crawl.same_page import EarlierPages
from dedupcrawl.crawl.software_store import SoftwareStore
from dedupcrawl.detection.detector import Detector
from dedupcrawl.index.contract import Index
from dedupcrawl.index.runs import RunTally
from dedupcrawl.printable import printable
from dedupcrawl.settings import DedupSettings
from dedupcrawl.urls.normalizer import Normalizer
from dedupcrawl.urls.rule_book import RuleBook
from dedupcrawl.urls.rules_in_use import RulesInUse

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
        """Count a request that is about to be fetched."""
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


class Sending:
    """Hands the add-on's own requests to the engine: scheduled like any other, or fetched past the spider.

    Attributes:
        count: Number of requests that were scheduled.
        is_over: Whether the crawl takes no more requests; the next crawl requests the pages that are due.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._tasks: set[asyncio.Task[None]] = set()
        self.count = 0
        self.is_over = False

    def schedule(self, request: Request) -> None:
        """Schedule a request, as if a callback had yielded it."""
        assert self._crawler.engine is not None
        self._crawler.engine.crawl(request)
        self.count += 1

    def fetch(self, request: Request, answered: Callable[[Response | None], None]) -> None:
        """Fetch `request` past the spider, and call `answered` with the response, or with None if there is none."""
        if (loop := running_loop()) is None:
            answered(None)
            return
        task = loop.create_task(self._fetched(request.replace(callback=NO_CALLBACK), answered))
        self._tasks.add(task)

        def ended(task: asyncio.Task[None]) -> None:
            self._tasks.discard(task)
            if task.cancelled():  # the caller still waits for an answer
                answered(None)
            self._look_again()

        task.add_done_callback(ended)

    def _look_again(self) -> None:
        """Have the engine check now whether it is idle: while a spider is kept open, it checks every five seconds."""
        slot = self._crawler.engine._slot if self._crawler.engine is not None else None
        if slot is not None:
            slot.nextcall.schedule()

    async def _fetched(self, request: Request, answered: Callable[[Response | None], None]) -> None:
        assert self._crawler.engine is not None
        response = None
        try:
            response = await self._crawler.engine.download_async(request)
        except Exception as error:  # whatever a downloader raises; the crawl can do without the answer
            logger.debug("%s was not answered: %r", printable(request.url), error)
        answered(response)


@dataclass(eq=False)
class Parts:
    """The parts of one crawl; with a `folder` its requests outlive the process.

    Attributes:
        tries: Whether rules are tried. Aliases that pages state, and rules of known software, are used only then.
        chance: Draws which rewrites are tried.
        book: The rule book; it has no rules if none are tried.
        rules: The rules in use.
        software: What is known of the software of sites; None if it is not used.
        earlier: Pages that this crawl has fetched, also by other workers.
        owed: Work that waits until the index can be used again.
    """

    crawler: Crawler
    settings: DedupSettings
    normalizer: Normalizer
    index: Index
    run: str
    detector: Detector
    folder: Path | None = None
    software: SoftwareStore | None = None

    def __post_init__(self) -> None:
        crawler, share, folder = self.crawler, self.settings.trial_share, self.folder
        assert crawler.spider is not None
        assert crawler.stats is not None
        assert crawler.request_fingerprinter is not None
        self.fingerprint = crawler.request_fingerprinter.fingerprint
        merges_cookies = crawler.settings.getbool("COOKIES_ENABLED")
        self.credentials = Credentials(crawler.spider, merges_cookies=merges_cookies)
        self.spider = crawler.spider
        self.stats = crawler.stats
        self.tries = share > 0
        self.chance = Random(bytes(self.index.secret) + self.run.encode())  # no site can foresee which URLs are tried
        self.alias_store = store = AliasStore(self.index, crawler.stats, self.settings)
        tried = (self.normalizer, store.rules_of) if self.tries else (Normalizer(), None)
        self.book = RuleBook(tried[0], share or 1, self.chance, tried[1])
        self.rules = RulesInUse(self.normalizer, self.book if self.tries else None)
        self.pages = Pages(self.settings, self.index, self.software)
        self.batch = Batch(self.index, store.read)
        self.sending, self.owed = Sending(crawler), Owed()
        self.fetched = Fetched()
        self.savings = Savings(crawler.stats, self.detector.tally, self.fetched)
        self.bypass = DupeFilterBypass(crawler.signals, self.fingerprint, self.savings.drop)
        self.rewrites = Rewrites(
            self.index,
            self.credentials,
            self.run,
            self.owed,
            lasts=folder is not None,
            is_shared=bool(self.settings.run),
        )
        self.earlier = EarlierPages(self.index, self.run, self.rules)
