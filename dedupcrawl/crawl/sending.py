"""Sending: requests that this add-on makes itself, through the spider or past it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK

from dedupcrawl.crawl.failures import running_loop
from dedupcrawl.printable import printable

logger = logging.getLogger(__name__)


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
