"""Leases: how long a request that was taken from a shared queue is this worker's: until what it brought is stored."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.extensions.feedexport import FeedSlot
from scrapy.http import Response

from dedupcrawl.crawl.extension import Dedup
from dedupcrawl.crawl.pages import FetchedPage
from dedupcrawl.shared_queue.queue import Told


class Leases:
    """Follows requests through the crawl.

    A request is done with when Scrapy's engine is: it was answered and its callback has ended, with all links handed to
    the scheduler and all items at the end of the pipelines, or it failed for good. If items were made of it, it must
    wait until the files of feeds that hold them are closed, as claims on pages do (DEDUP_CONFIRM).

    Args:
        crawler: Whose engine, and whose Dedup, if that is enabled.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._dedup = crawler.get_extension(Dedup)
        self._at_work: dict[Request, int] = {}
        self._pages: dict[Request, FetchedPage] = {}
        self._unstored: defaultdict[frozenset[FeedSlot], list[int]] = defaultdict(list)
        self._closed_some = False
        if self._dedup is not None:
            crawler.signals.connect(self._item_scraped, signal=signals.item_scraped)
            crawler.signals.connect(self._feed_slot_closed, signal=signals.feed_slot_closed)

    def begin(self, request: Request, lease: int) -> None:
        """A request was taken, and goes to the engine."""
        self._at_work[request] = lease

    def settled(self) -> Told:
        """What became of requests since this was asked last."""
        engine = self._crawler.engine
        slot = engine._slot if engine is not None else None  # Scrapy has no signal for the end of a request
        in_progress: Iterable[Request] = slot.inprogress if slot is not None else ()
        ended: list[int] = []
        waiting: list[int] = []
        for request in self._at_work.keys() - set(in_progress):
            lease = self._at_work.pop(request)
            (ended if self._is_stored(lease, self._pages.pop(request, None)) else waiting).append(lease)
        if self._closed_some and self._dedup is not None:
            self._closed_some = False
            for files in [files for files in self._unstored if self._dedup.storing.are_stored(files)]:
                ended += self._unstored.pop(files)
        return Told(ended, waiting)

    def _is_stored(self, lease: int, page: FetchedPage | None) -> bool:
        """Whether all is stored that a request brought; else it waits until that is."""
        if page is None or self._dedup is None:
            return True
        if page.unwritten:
            return False  # a feed could not take its item: whoever comes next fetches it again
        files = frozenset(page.files)
        if not self._dedup.storing.are_stored(files):
            self._unstored[files].append(lease)
            return False
        return True

    def _item_scraped(self, item: object, response: Response | None) -> None:
        if response is not None and response.request in self._at_work and self._dedup is not None:
            self._pages[response.request] = self._dedup.pages.of(response)

    def _feed_slot_closed(self, slot: FeedSlot) -> None:
        self._closed_some = True
