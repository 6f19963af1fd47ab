"""Storing: whether the item of a kept page has reached its storage, so that the page may justify drops for ever.

Until then the index holds the page as claimed by this process. When its item is dropped or lost in a later pipeline,
the page is forgotten, and what was dropped because of it is fetched again.
"""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from weakref import WeakSet

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem
from scrapy.extensions.feedexport import FeedSlot
from scrapy.http import Response

from dedupcrawl.crawl.feed_files import FeedFiles
from dedupcrawl.crawl.packed_request import unpack_request
from dedupcrawl.crawl.pages import FetchedPage, Pages
from dedupcrawl.crawl.request_meta import GONE, MOVED, ORIGINAL_URL, ORPHAN
from dedupcrawl.detection.detector import Detector
from dedupcrawl.index.contract import Dependent, Index, IndexAwayError, IndexDamagedError
from dedupcrawl.index.open import is_redis
from dedupcrawl.printable import printable

logger = logging.getLogger(__name__)

_CONFIRMED_AT_ONCE = 64  # pages
_PAUSE = 0.2  # seconds between two attempts to reach an index that is away


class DropDuplicate(DropItem):
    """Raised by our own pipeline."""


@dataclass(slots=True)
class _Written:
    """Pages whose items lie in `files` files of feeds that are not closed yet."""

    urls: list[str]
    files: int


class Storing:
    """Follows the items that our pipeline let through to the end of their way.

    Args:
        crawler: Whose signals tell what becomes of an item.
        index: Where the claims are.
        pages: Which page an item belongs to.
        confirm: "feed": an item is stored when every file of a feed that holds it is closed; "item": after the last
            pipeline.
        expected: Told about each page that is fetched again.
    """

    def __init__(self, crawler: Crawler, index: Index, pages: Pages, confirm: str, expected: Detector) -> None:
        assert crawler.stats is not None
        assert crawler.spider is not None
        self._crawler = crawler
        self._index = index
        self._pages = pages
        self._expected = expected
        self._stats = crawler.stats
        self._shares = is_redis(crawler.settings.get("DEDUP_INDEX") or "")
        self._spider = crawler.spider
        self._feeds = confirm == "feed"
        self._files: FeedFiles | None = None
        self._held_by: defaultdict[FeedSlot, list[_Written]] = defaultdict(list)
        self._closed: WeakSet[FeedSlot] = WeakSet()
        self._stored: list[str] = []
        self._lost: list[tuple[list[str], str]] = []  # of these the index could not be told yet
        connect = crawler.signals.connect
        connect(self._engine_started, signal=signals.engine_started)
        connect(self._item_dropped, signal=signals.item_dropped)
        connect(self._item_error, signal=signals.item_error)

    def close(self, wait: float) -> None:
        """Confirm what is stored; an index that is away is waited for up to `wait` seconds."""
        end = time.monotonic() + wait
        while True:
            self._confirm()
            if not self._stored or time.monotonic() >= end:
                break
            time.sleep(_PAUSE)
        if self._stored:
            logger.error(
                "The index was not told that %d pages are stored; they will be fetched again.", len(self._stored)
            )

    def settle(self, page: FetchedPage) -> None:
        """All items of a page are at their end: what it is kept under is stored, lost, or waits for files to close."""
        urls, page.kept_under = page.kept_under, []
        if not urls:
            return
        if page.unwritten and (page.items or not page.stored):
            return  # stays claimed: the next run fetches it again
        # Items that were judged one by one are kept one by one; which of them was lost cannot be told.
        if not page.stored or (page.lost and page.items):
            self._abandon(urls, page.url)
        elif files := [file for file in page.files if file not in self._closed]:
            written = _Written(urls, len(files))
            for file in files:
                self._held_by[file].append(written)
        else:
            self._stored += urls
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
        self._arrived(response, stored=files is not None)

    def _item_dropped(self, item: object, response: Response | None, exception: BaseException) -> None:
        if not isinstance(exception, DropDuplicate) and not self._pages.is_linked(item):
            self._arrived(response, lost=True)

    def _item_error(self, item: object, response: Response | None) -> None:
        if not self._pages.is_linked(item):
            self._arrived(response, lost=True)

    def _arrived(self, response: Response | None, *, stored: bool = False, lost: bool = False) -> None:
        """One item of a page is at its end: stored, lost, or neither, when its feed could not take it."""
        page = self._pages.known(response)
        if page is None or not page.on_their_way:
            return  # no item of ours
        page.on_their_way -= 1
        page.stored += stored
        page.lost += lost
        page.unwritten += not (stored or lost)
        if not page.on_their_way:
            self.settle(page)

    def _feed_slot_closed(self, slot: FeedSlot) -> None:
        if any(name.startswith("feedexport/failed_count/") for name in self._stats.get_stats()):
            return  # some file has not been stored; which one cannot be told
        self._closed.add(slot)
        for written in self._held_by.pop(slot, ()):
            written.files -= 1
            if not written.files:
                self._stored += written.urls
        self._confirm()

    def _confirm(self) -> None:
        stored, self._stored = self._stored, []
        try:
            if stored:
                self._index.confirm(stored)
            if self._lost:
                lost, self._lost = self._lost, []
                for urls, own in lost:
                    self._abandon(urls, own)
        except IndexAwayError:
            self._stored = stored + self._stored
        except (OSError, IndexDamagedError):
            logger.exception("The index cannot be told that pages are stored; the next run will fetch them again.")

    def _abandon(self, urls: list[str], own: str = "") -> None:
        try:
            orphans = self._index.abandon(urls)
        except IndexAwayError:
            self._lost.append((urls, own))
            return
        except (OSError, IndexDamagedError):
            logger.exception("The index cannot be told that the items of a page were lost.")
            return
        self._stats.inc_value("dedup/content/abandoned", len(urls))
        for orphan in orphans:
            if orphan.url == own:  # it was fetched again already, and lost in the same way
                self._index.adopt(orphan, None)
            elif (request := self._request_for(orphan)) and self._crawler.engine is not None:
                self._crawler.engine.crawl(request.replace(dont_filter=True))

    def orphans_of_the_dead(self) -> list[Request]:
        """What was dropped for pages of workers that have died since; empty where no other machine can have any."""
        try:
            if not self._shares or not self._index.start_claiming():
                return []
            return [request.replace(dont_filter=True) for request in self.orphans()]
        except (OSError, IndexDamagedError):
            return []

    def orphans(self) -> Iterator[Request]:
        """Requests for the pages that were dropped because of one that a run which was cut off never stored."""
        # Where a duplicate filter outlives the process, it takes them for done.
        resumes = self._shares or bool(self._crawler.settings.get("JOBDIR"))
        for orphan in self._index.orphans(self._spider.name):
            if request := self._request_for(orphan):
                yield request.replace(dont_filter=resumes)

    def answered(self, request: Request, response: Response) -> None:
        """A final response, after redirects: an orphan that its site has taken down or moved is one no more.

        By any other failure, or a redirect that may be for now (a login, say), nothing is settled.
        """
        url = request.meta.pop(ORPHAN, None)
        if url is None:
            return
        if response.status not in GONE or request.meta.get(ORIGINAL_URL, request.url) != request.url:
            reasons = request.meta.get("redirect_reasons", ())
            if 200 <= response.status < 300 and MOVED.issuperset(reasons):
                self._expected.moved(url, response.url)
            return
        try:
            self._index.adopt(Dependent(self._spider.name, url, b""), None)
        except (OSError, IndexDamagedError):
            return  # it will be asked for at the next start, too
        self._stats.inc_value("dedup/content/orphans_gone")
        logger.info(
            "%s was dropped for a page that was never stored, and is gone now (%d).", printable(url), response.status
        )

    def _request_for(self, orphan: Dependent) -> Request | None:
        """None for an orphan of another spider, which will ask for it at its next start."""
        if orphan.spider != self._spider.name:
            return None
        try:
            request = unpack_request(orphan.request, self._spider) if orphan.request else _as_it_is(orphan.url)
        except ValueError as error:
            logger.error("The request for %r cannot be read (%s): its URL is fetched instead.", orphan.url, error)
            request = _as_it_is(orphan.url)
        self._stats.inc_value("dedup/content/refetched")
        self._expected.expect(orphan)
        return request.replace(meta={**request.meta, ORPHAN: orphan.url})


def _as_it_is(url: str) -> Request:
    """A request for a URL of which nothing else is known: no rule may send it elsewhere again."""
    return Request(url, meta={"dedup_url": False})
