"""Storing: whether the item of a kept page has reached its storage, so that other pages may be dropped as duplicates.

Until then it is an open premise, of everything that was dropped because of the page, that the item is stored (see
`index.ledger`). If a later pipeline drops or loses the item, the page is forgotten, and what was dropped because of it
is fetched again.
"""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, TypeVar
from weakref import WeakSet

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem
from scrapy.extensions.feedexport import FeedExporter, FeedSlot
from scrapy.http import Response

from dedupcrawl.crawl.falls import Falls
from dedupcrawl.crawl.log_file import PageLog
from dedupcrawl.crawl.pages import FetchedPage
from dedupcrawl.crawl.parts import Parts
from dedupcrawl.crawl.refetches import Refetches
from dedupcrawl.index.contract import Ledger
from dedupcrawl.index.record import Premise
from dedupcrawl.printable import printable

logger = logging.getLogger(__name__)

_CONFIRMED_AT_ONCE = 64  # pages
_PAUSE = 0.2  # seconds between two attempts to reach an index that is away

Held = TypeVar("Held")


class DropDuplicate(DropItem):
    """Raised by our own pipeline."""


class Storing:
    """Follows the items that the pipeline let through until they are stored or lost.

    DEDUP_CONFIRM says where that is: with "feed" an item is stored when every file of a feed that holds it is closed,
    with "item" after the last pipeline.
    """

    def __init__(self, parts: Parts, refetches: Refetches, falls: Falls, page_log: PageLog) -> None:
        self._crawler, self._stats, self._pages = parts.crawler, parts.stats, parts.pages
        self._index: Ledger = parts.index
        self._detector, self._fetched = parts.detector, parts.fetched
        self._refetches, self._falls, self._page_log = refetches, falls, page_log
        self._feeds = parts.settings.confirm == "feed"
        self._files: FeedFiles | None = None
        self._once_closed: defaultdict[frozenset[FeedSlot], list[tuple[list[Any], list[Any]]]] = defaultdict(list)
        self._closed: WeakSet[FeedSlot] = WeakSet()
        self._stored: list[Premise] = []
        self._warned = False
        self._owed = parts.owed
        connect = self._crawler.signals.connect
        connect(self._engine_started, signal=signals.engine_started)
        connect(self._item_lost, signal=signals.item_dropped)
        connect(self._item_lost, signal=signals.item_error)

    def close(self, wait: float) -> None:
        """Confirm what is stored; an index that is away is waited for up to `wait` seconds."""
        end = time.monotonic() + wait
        self._confirm()
        self._owed.retry()
        while self._owed.is_away and time.monotonic() < end:
            time.sleep(_PAUSE)
            self._owed.retry()
        if self._owed:
            logger.error("The index was not told what is stored and what was lost: these pages are fetched again.")

    def hold(self, response: Response) -> FetchedPage:
        """The page of a response, which is not to be settled until it is released."""
        page = self._pages.of(response)
        page.on_their_way += 1
        return page

    def once_stored(self, files: Iterable[FeedSlot], held: list[Held], stored: list[Held]) -> None:
        """Add what is `held` to what is `stored` once these files of feeds are: now, later, or never."""
        if still_open := frozenset(file for file in files if file not in self._closed):
            self._once_closed[still_open].append((held, stored))
        else:
            stored += held

    def release(self, page: FetchedPage) -> None:
        """No other item will be made of a page that was held."""
        page.on_their_way -= 1
        if page.on_their_way:
            return
        if self._pages.forget_rest(page) and not self._warned:
            self._warned = True
            logger.warning(
                "Items of %s reached DedupPipeline as other objects, or not at all, so their page is not known: "
                "they are not checked. Pipelines that replace items need a higher order than it. This is said once.",
                printable(page.url),
            )
        self.settle(page)

    def settle(self, page: FetchedPage) -> None:
        """All items of a page are at their end: what it is kept under is stored, lost, or waits for files to close."""
        kept, page.kept = page.kept, {}
        if not kept:
            return
        if page.unwritten and (page.item_urls or not page.stored):
            return  # its premises stay open: the next run fetches it again
        lost = {url: kept[url] for url in _lost(page, kept)}
        stored = [premise for url, premise in kept.items() if url not in lost]
        for url in page.force_keep:  # they have met the pipelines, even if they come under other URLs each time
            self._refetches.release(url, next(iter(stored), None))
        for url in lost:
            self._page_log.lost(url, has_failed=page.has_failed)
        if lost:
            self._owed.do(partial(self._abandon, lost, page.request))
        if lost and page.has_failed:  # who asked for others that were sent there might have better luck
            requested = () if page.request is None else (page.request.url,)
            self._falls.fall({*lost, *requested}, why="an item of the page that it was sent to was lost by an error")
        self.once_stored(page.files, stored, self._stored)
        if len(self._stored) >= _CONFIRMED_AT_ONCE:
            self._confirm()

    def _engine_started(self) -> None:
        """Only now follow the items, so that the feeds have been given each before we are told of it."""
        connect = self._crawler.signals.connect
        connect(self._item_scraped, signal=signals.item_scraped)
        if self._feeds:
            self._files = FeedFiles(self._crawler)
            connect(self._feed_slot_closed, signal=signals.feed_slot_closed)

    def _item_scraped(self, item: object, response: Response | None) -> None:
        files = self._files.took(item) if self._files is not None else []
        page = self._pages.known(response)
        if page is not None and files is not None:
            page.files.update(files)
        self._arrived(response, stored=files is not None, unwritten=files is None)

    def _item_lost(self, item: object, response: Response | None, exception: BaseException | None = None) -> None:
        """An item has not come through the pipelines; it is lost unless one before ours, or ours, took it out."""
        lost = self._pages.take(item) is None and not isinstance(exception, DropDuplicate)
        page = self._pages.known(response)
        if lost and page is not None and exception is None:
            page.has_failed = True
        if lost and page is not None and id(item) in page.judged_as:
            page.lost_alone.add(page.judged_as[id(item)])
        self._arrived(response, lost=lost)

    def _arrived(
        self, response: Response | None, *, stored: bool = False, lost: bool = False, unwritten: bool = False
    ) -> None:
        """One item of a page is at its end: stored, lost after our pipeline, taken by no feed, or out before."""
        page = self._pages.known(response)
        if page is None or not page.on_their_way:
            return  # no item of ours
        page.stored += stored
        page.lost += lost
        page.unwritten += unwritten
        self.release(page)

    def _feed_slot_closed(self, slot: FeedSlot) -> None:
        if any(name.startswith("feedexport/failed_count/") for name in self._stats.get_stats()):
            return  # some file has not been stored; which one cannot be told
        self._closed.add(slot)
        for files in [files for files in self._once_closed if slot in files]:
            for held, stored in self._once_closed.pop(files):
                self.once_stored(files, held, stored)
        self._confirm()

    def _confirm(self) -> None:
        if stored := self._stored.copy():
            self._stored.clear()
            self._owed.do(partial(self._index.hold, stored))

    def _abandon(self, kept: Mapping[str, Premise], request: Request | None) -> None:
        """A page, or its items by their own URLs, will not be stored as it was kept."""
        due = self._index.fall(kept.values())
        self._detector.erased(premise.url for premise in kept.values())
        self._stats.inc_value("dedup/content/abandoned", len(kept))
        for url in kept:
            self._fetched.lost.add(url)
        for skip in due:
            if skip.url in kept:  # it was fetched again, and has met the pipelines itself
                self._refetches.release(skip.url)
        self._refetches.fetch_again((skip for skip in due if skip.url not in kept), request)


def _lost(page: FetchedPage, kept: Mapping[str, Premise]) -> Iterable[str]:
    """The URLs, of those that a page and its items are kept under, of what will not be stored."""
    if not page.stored:
        return kept
    if not page.item_urls:
        return ()  # the page's text is stored with another of its items
    return kept if page.lost > len(page.lost_alone) else page.lost_alone & kept.keys()


class FeedFiles:
    """The files that Scrapy's feed exporter has open: which of them hold an item.

    Scrapy tells when a file of a feed is closed, but not what is in it: an item that cannot be written is an error in
    the log, and no more. So the counts of the open files are looked at after every item.

    Args:
        crawler: Whose feeds are meant, now that its spider is opened.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._exporter = crawler.get_extension(FeedExporter)
        self._counts = self._count()
        self._torn: WeakSet[FeedSlot] = WeakSet()

    def took(self, item: object) -> list[FeedSlot] | None:
        """The files that hold the item which the exporter was given last; to be asked after each item.

        Returns:
            None when a file that should hold it does not, or is torn: whatever follows a row that could not be written
            may be unreadable, too.
        """
        before, self._counts = self._counts, self._count()
        took, whole = [], True
        for file, count in before.items():
            if file.itemcount > count:
                took.append(file)
                whole &= file not in self._torn
            elif file.filter.accepts(item):
                whole = False
                if file not in self._torn:
                    self._torn.add(file)
                    logger.warning(
                        "An item could not be written to %s: pages whose items follow it there count as not stored.",
                        file.uri,
                    )
        return took if whole else None

    def _count(self) -> dict[FeedSlot, int]:
        return {file: file.itemcount for file in self._exporter.slots} if self._exporter is not None else {}
