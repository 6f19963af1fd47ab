"""Parts: what everything that follows the URLs of one crawl works with, put together in one place."""

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

    Requested are URLs of links and targets of redirects. URLs that no rule affects are fetched if they are requested,
    and not counted. Fetches that bypass the spider were not requested. A negative number means more fetches than
    without rules. While several requests are on their way the count may be off by one: of 800 crawls of fifty pages, in
    each of which a rule failed, one counted a fetch too few.
    """

    def __init__(self, stats: StatsCollector, tally: RunTally, fetched: Fetched) -> None:
        self._stats, self._tally, self._is_fetched, self._given_back = stats, tally, fetched.has, fetched.given_back
        self._asked, self._fetched = HashSet(), HashSet()
        self._came = HashSet()  # as they were asked for or tried, or because others were sent there
        self._sent_to = HashSet()  # links lead to these, to which rules have sent others

    def drop(self, request: Request) -> None:
        """`request` is not fetched, because another request for its URL is."""
        if ORIGINAL_URL in request.meta:
            self._count(self._ask(request))
            return
        url = request.url.partition("#")[0]
        self._sent_to.add(url)
        if url in self._fetched:
            self._count(self._asked.add(url))

    def lead_on(self, request: Request) -> None:
        """`request` is not fetched, for its page is by another URL."""
        url = request.url.partition("#")[0]
        self._count(self._answer(request) if ORIGINAL_URL in request.meta else self._asked.add(url))
        self._fetched.add(url)  # as if: a link to it brings no fetch

    def fetch(self, request: Request) -> None:
        """`request` is about to be fetched."""
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
        """True for a second fetch of `url`: what waits because others were sent to it may also be tried or given back.

        Scrapy alone retries, too.
        """
        return not self._came.add(url) and "retry_times" not in request.meta

    def fetch_as_asked(self, *urls: str) -> None:
        """These are fetched, whatever rules make of them."""
        self._count(-sum(map(self._fetched.add, urls)))

    def fall_back(self, requests: Sequence[Request], why: str) -> None:
        """These are fetched as they were requested after all; a DEBUG log line for each says so."""
        if not requests:
            return
        self._stats.inc_value("dedup/url/fallback", len(requests))
        self._tally.fall_back(len(requests))
        self.fetch_as_asked(*(without_fragment(request.url) for request in requests))
        for request in requests:
            logger.debug("Fell back to %s: %s", printable(request.url), printable(why))

    def _answer(self, request: Request) -> int:
        """How many URLs are asked for that the answer to `request` is for."""
        url = request.url.partition("#")[0]
        linked = url in self._sent_to and self._asked.add(url)
        return linked + (self._ask(request) if ORIGINAL_URL in request.meta else 0)

    def _ask(self, request: Request) -> int:
        """1 when the URL of which rules have made `request` is new and not fetched itself, else 0."""
        url, trail = request.meta[ORIGINAL_URL], request.meta.get(TRAIL)
        if trail and "redirect_urls" in request.meta:  # which lead there
            url = trail[-1]
        return self._asked.add(url) - (self._is_fetched(url) and self._fetched.add(url))

    def _count(self, fetches: int) -> None:
        if fetches:
            self._stats.inc_value("dedup/url/saved", fetches)
            self._tally.save(fetches)


class Sending:
    """Hands requests that no callback has made to the engine: scheduled like any other, or fetched past the spider.

    Attributes:
        count: Requests that were scheduled.
        is_over: Whether the crawl takes no more requests: the next one asks for what is due.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._tasks: set[asyncio.Task[None]] = set()
        self.count = 0
        self.is_over = False

    def schedule(self, request: Request) -> None:
        """The request goes to the scheduler, as if a callback had yielded it."""
        assert self._crawler.engine is not None
        self._crawler.engine.crawl(request)
        self.count += 1

    def fetch(self, request: Request, answered: Callable[[Response | None], None]) -> None:
        """Have the answer to `request` passed to `answered`, and to no spider; None when there is none."""
        if (loop := running_loop()) is None:
            answered(None)
            return
        task = loop.create_task(self._fetched(request.replace(callback=NO_CALLBACK), answered))
        self._tasks.add(task)

        def ended(task: asyncio.Task[None]) -> None:
            self._tasks.discard(task)
            if task.cancelled():  # somebody waits all the same
                answered(None)
            self._look_again()

        task.add_done_callback(ended)

    def _look_again(self) -> None:
        """Have the engine see whether it is idle: a spider that is kept open is looked at every five seconds only."""
        slot = self._crawler.engine._slot if self._crawler.engine is not None else None
        if slot is not None:
            slot.nextcall.schedule()

    async def _fetched(self, request: Request, answered: Callable[[Response | None], None]) -> None:
        assert self._crawler.engine is not None
        response = None
        try:
            response = await self._crawler.engine.download_async(request)
        except Exception as error:  # whatever a downloader raises: it was only a question
            logger.debug("%s was not answered: %r", printable(request.url), error)
        answered(response)


@dataclass(eq=False)
class Parts:
    """What belongs to one crawl; with a `folder` its requests survive the process.

    Attributes:
        tries: Whether rules are tried; what pages say, and what is known of software, is used on trial only.
        chance: Draws what is tried.
        book: Of the rules that are tried; of none where none are.
        rules: Those that are in use.
        software: What is known of the software of sites; None where that does not matter.
        earlier: Pages of this crawl, if of other workers.
        owed: What the index could not be asked or told yet.
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
        self.chance = Random(bytes(self.index.secret) + self.run.encode())  # nobody can foresee what is tried
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
