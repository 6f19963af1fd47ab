"""Parts: what everything that follows the URLs of one crawl works with, put together in one place."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK
from scrapy.statscollectors import StatsCollector

from dedupcrawl.crawl.batch import Batch
from dedupcrawl.crawl.dupe_filter import DupeFilterBypass
from dedupcrawl.crawl.pages import Pages
from dedupcrawl.crawl.request_meta import ORIGINAL_URL
from dedupcrawl.crawl.rewrites import PendingRewrites, Rewrites
from dedupcrawl.crawl.same_page import EarlierPages
from dedupcrawl.crawl.url_set import key_of
from dedupcrawl.detection.detector import Detector
from dedupcrawl.index.contract import Index
from dedupcrawl.index.runs import RunTally
from dedupcrawl.printable import printable
from dedupcrawl.settings import DedupSettings
from dedupcrawl.urls.normalizer import Normalizer
from dedupcrawl.urls.rule_book import RuleBook

logger = logging.getLogger(__name__)


class Savings:
    """Counts the fetches that rules save, and what fell back: was sent elsewhere, and fetched as asked for after all.

    Each URL counts once, and not while it is fetched after all.
    """

    def __init__(self, stats: StatsCollector, tally: RunTally) -> None:
        self._stats = stats
        self._tally = tally
        self._spent: set[int] = set()  # hashes: 60 bytes per URL
        self._saved: set[int] = set()
        self._fetched_for: dict[int, int] = {}  # a URL → what it is fetched instead of, both by their hashes

    def spend(self, url: str, canonical: str) -> None:
        """`url` saves nothing as yet: `canonical` is fetched for it."""
        self._spent.add(key_of(url))
        if not_saved := self._not_saved([url]):  # by what it was sent to before
            self._tally.fall_back(0, not_saved=not_saved)
        self._fetched_for[key_of(canonical)] = key_of(url)

    def try_both(self, canonical: str) -> None:
        """What `canonical` is fetched for is fetched as well: that is no fetch saved."""
        self._fetched_for.pop(key_of(canonical), None)

    def meet(self, canonical: str) -> None:
        """There is a link to `canonical` itself: it would have been fetched beside what it was fetched for."""
        key = self._fetched_for.pop(key_of(canonical), None)
        if key is not None:
            self._spent.discard(key)
            self._save(key)

    def save(self, url: str) -> None:
        """The fetch of `url` is saved."""
        self._save(key_of(url))

    def _save(self, key: int) -> None:
        if key not in self._spent and key not in self._saved:
            self._saved.add(key)
            self._stats.inc_value("dedup/url/saved")
            self._tally.save()

    def fall_back(self, requests: Sequence[Request], why: str) -> None:
        """These are fetched as they were asked for after all; a DEBUG log line for each says so."""
        if not requests:
            return
        not_saved = self._not_saved(request.meta.get(ORIGINAL_URL, request.url) for request in requests)
        self._stats.inc_value("dedup/url/fallback", len(requests))
        self._tally.fall_back(len(requests), not_saved=not_saved)
        for request in requests:
            logger.debug("Fell back to %s: %s", printable(request.url), printable(why))

    def _not_saved(self, urls: Iterable[str]) -> int:
        """How many of these URLs had counted as saved, and do so no more."""
        not_saved = self._saved & set(map(key_of, urls))
        self._saved -= not_saved
        if not_saved:
            self._stats.inc_value("dedup/url/saved", -len(not_saved))
        return len(not_saved)


class Sending:
    """Hands requests that no callback has made to the engine: scheduled like any other, or fetched past the spider.

    Attributes:
        count: Requests that were scheduled.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._tasks: set[asyncio.Task[None]] = set()
        self.count = 0

    def schedule(self, request: Request) -> None:
        """The request goes to the scheduler, as if a callback had yielded it."""
        assert self._crawler.engine is not None
        self._crawler.engine.crawl(request)
        self.count += 1

    def fetch(self, request: Request, answered: Callable[[Response | None], None]) -> None:
        """Have the answer to `request` passed to `answered`, and to no spider; None when there is none."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
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
            logger.debug("%s was not answered: %r", request, error)
        answered(response)


class Parts:
    """What belongs to one crawl; with a `folder` its requests survive the process.

    Attributes:
        tries: Whether rules are tried; what pages say, and what is known of software, is used on trial only.
        book: Of the rules that are tried; of none where none are.
        earlier: Pages of this crawl, if of other workers.
    """

    def __init__(  # noqa: PLR0913 - what a crawl opens
        self,
        crawler: Crawler,
        settings: DedupSettings,
        normalizer: Normalizer,
        index: Index,
        run: str,
        detector: Detector,
        *,
        folder: Path | None = None,
    ) -> None:
        assert crawler.spider is not None
        assert crawler.stats is not None
        assert crawler.request_fingerprinter is not None
        self.crawler = crawler
        self.fingerprint = crawler.request_fingerprinter.fingerprint
        self.settings = settings
        self.normalizer = normalizer
        self.index = index
        self.run = run
        self.spider = crawler.spider
        self.stats = crawler.stats
        self.tries = settings.trial_share > 0
        self.book = RuleBook(normalizer, settings.trial_share) if self.tries else RuleBook(Normalizer(), 1)
        self.detector = detector
        self.pages = Pages(settings)
        self.batch = Batch(index)
        self.sending = Sending(crawler)
        self.bypass = DupeFilterBypass(crawler.signals, self.fingerprint)
        self.savings = Savings(crawler.stats, detector.tally)
        self.pending = PendingRewrites(folder / "pending-rewrites.jsonl" if folder else None, crawler.spider)
        self.rewrites = Rewrites(index, crawler.spider, run)
        self.earlier = EarlierPages(index, run, normalizer)
