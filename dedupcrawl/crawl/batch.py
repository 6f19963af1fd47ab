"""Batch: micro-batches of up to 32 pages, because the same step on many pages in a row costs a fraction."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from functools import partial

from dedupcrawl.crawl.failures import running_loop
from dedupcrawl.crawl.pages import FetchedPage
from dedupcrawl.detection.batch import Steps, judge_alone, judge_batch
from dedupcrawl.index.contract import Index
from dedupcrawl.verdict import Verdict

logger = logging.getLogger(__name__)

_LONGEST_WAIT = 0.1  # seconds for which a page waits for others; set by hand
# Of a batch. On a server .241 round trips a page with 16, .196 with 32, .188 with 64 (docs/measured/cost.md).
_MOST_PAGES = 32
_MOST_BYTES = 2_000_000  # of the bodies in a batch; set by hand, to bound memory

Begin = Callable[[], Steps[Verdict | None]]
Asked = tuple[asyncio.Future[Verdict | None], Begin]


class Batch:
    """Analyses the pages that have come together, runs their next steps in the order of arrival, and judges them.

    Between two pages a crawler runs so much other code that this code is no longer in the processor's caches; and one
    query to a server is enough for all pages of a batch. Without a running asyncio loop nothing waits.

    Args:
        index: Judges them, `pages_at_once` at a time.
        read: Called with the URLs of pages and requests, so that what a server knows of them is asked for at once.

    Attributes:
        reads_ahead: Whether a server is asked, so that requests are to wait for each other (`at_hand`).
    """

    def __init__(self, index: Index, read: Callable[[Collection[str]], None] = lambda urls: None) -> None:
        self._index, self._read_urls = index, read
        self.reads_ahead = index.pages_at_once > 1
        self._requested: list[tuple[str, asyncio.Future[None]]] = []
        self._pages: dict[FetchedPage, None] = {}
        self._bytes = 0  # of the bodies of these pages
        self._work: list[Callable[[], object]] = []
        self._asked: dict[FetchedPage, list[Asked]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def then(self, work: Callable[[], None], page: FetchedPage | None = None) -> None:
        """Do `work` when `page` is analysed; now, if nothing waits and there is nothing to analyse."""
        self._work.append(work)
        self._wait_for(page)

    async def verdict(self, begin: Begin, page: FetchedPage, *, needs_page: bool = True) -> Verdict | None:
        """What the steps come to that `begin` returns, in their turn. Those of one page are never under way at once.

        Args:
            begin: Called in its turn; where pages are judged together, when everything else that waits is done.
            page: What is judged, or the page of the item that is.
            needs_page: Whether `page` is to be analysed before.
        """
        if (loop := running_loop()) is None:
            self.flush()
            return judge_alone(self._index, begin())
        future: asyncio.Future[Verdict | None] = loop.create_future()
        if self._index.pages_at_once == 1:
            self._work.append(partial(judge_alone, self._index, _answered([(future, begin)])))
        else:
            self._asked.setdefault(page, []).append((future, begin))
        self._wait_for(page if needs_page else None)
        return await future

    async def at_hand(self, url: str, most: int) -> None:
        """Return when the URL of a request was read, with those of others.

        If all the requests that are being downloaded, `most`, wait here, no other will come. Nothing waits if the index
        is not on a server.
        """
        if not self.reads_ahead or (loop := running_loop()) is None:  # it is asked for alone
            return
        future: asyncio.Future[None] = loop.create_future()
        self._requested.append((url, future))
        if len(self._requested) >= min(most, _MOST_PAGES):
            self._read()
        else:
            self._start_timer()
        await future

    def _read(self, pages: Iterable[FetchedPage] = ()) -> None:
        if not self.reads_ahead:
            return
        requested, self._requested = self._requested, []
        urls = {*(url for url, _ in requested), *(page.url for page in pages)}
        if urls:
            try:
                self._read_urls(urls)
            except Exception:  # the requests go on: each is then asked about by itself
                logger.exception("The index could not be read for several URLs at once; each is read by itself.")
        for _, future in requested:
            if not future.done():
                future.set_result(None)

    def _wait_for(self, page: FetchedPage | None) -> None:
        if page is not None and page not in self._pages and not page.is_analysed:
            self._pages[page] = None
            self._bytes += page.body_length
        most = max(len(self._pages), len(self._asked))
        if not most or most >= _MOST_PAGES or self._bytes >= _MOST_BYTES:
            self.flush()
        else:
            self._start_timer()

    def _start_timer(self) -> None:
        if (loop := running_loop()) is None:
            self.flush()
        elif self._timer is None:
            self._timer = loop.call_later(_LONGEST_WAIT, self.flush)

    def flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        pages, work, questions = self._pages, self._work, list(self._asked.values())
        self._pages, self._bytes, self._work, self._asked = {}, 0, [], {}
        for page in pages:
            with suppress(Exception):  # raised again where the page is asked for
                page.analyse()
        self._read(pages)
        for one in work:
            try:
                one()
            except Exception:
                logger.exception("A page could not be processed; the crawl goes on.")
        at_once = self._index.pages_at_once
        for first in range(0, len(questions), at_once):
            judge_batch(self._index, map(_answered, questions[first : first + at_once]))


def _answered(questions: list[Asked]) -> Steps[None]:
    """One after the other, so that the verdict on a page is known when another of its items asks for it."""
    for future, begin in questions:
        if not future.cancelled():
            try:
                future.set_result((yield from begin()))
            except Exception as error:  # belongs to whoever awaits it
                future.set_exception(error)
