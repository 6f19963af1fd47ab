"""Batch: work on pages that waits for company, because the same step on many pages in a row costs a fraction."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar

from dedupcrawl.crawl.pages import FetchedPage

logger = logging.getLogger(__name__)

_LONGEST_WAIT = 0.1
_MOST_PAGES = 32
_MOST_BYTES = 2_000_000

Result = TypeVar("Result")


class Batch:
    """Analyses the pages that have come together, then does what was to follow, in the order in which it came.

    Between two pages a crawler runs so much other code that each finds the processor's caches without ours. Without a
    running asyncio loop nothing waits.
    """

    def __init__(self) -> None:
        self._pages: dict[FetchedPage, None] = {}
        self._bytes = 0
        self._work: list[Callable[[], None]] = []
        self._timer: asyncio.TimerHandle | None = None

    def then(self, work: Callable[[], None], page: FetchedPage | None = None) -> None:
        """Do `work` when `page` is analysed; now, if nothing waits and there is nothing to analyse."""
        self._work.append(work)
        if page is not None and not page.is_analysed and page not in self._pages:
            self._pages[page] = None
            self._bytes += page.body_length
        if not self._pages or len(self._pages) >= _MOST_PAGES or self._bytes >= _MOST_BYTES:
            self.flush()
        elif self._timer is None:
            try:
                loop = asyncio.get_running_loop()
            except RuntimeError:
                self.flush()
            else:
                self._timer = loop.call_later(_LONGEST_WAIT, self.flush)

    async def result(self, work: Callable[[], Result], page: FetchedPage | None = None) -> Result:
        """What `work` returns, done in its turn."""
        try:
            future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        except RuntimeError:
            self.flush()
            return work()
        self.then(partial(_answer, future, work), page)
        return await future

    def flush(self) -> None:
        """Do everything that waits, now."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        pages, work = self._pages, self._work
        self._pages, self._work, self._bytes = {}, [], 0
        for page in pages:
            with suppress(Exception):  # raised again where the page is asked for
                page.analyse()
        for one in work:
            try:
                one()
            except Exception:
                logger.exception("A page could not be looked at; the crawl goes on.")


def _answer(future: asyncio.Future[Result], work: Callable[[], Result]) -> None:
    if future.cancelled():
        return
    try:
        future.set_result(work())
    except Exception as error:  # belongs to whoever awaits it
        future.set_exception(error)
