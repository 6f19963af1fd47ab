"""Requests that no spider callback has made: scheduled like any other, or fetched past the spider."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK

logger = logging.getLogger(__name__)


class Sending:
    """Hands requests to the crawl's engine.

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
