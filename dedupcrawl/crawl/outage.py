"""Outages of the index: pages wait or are let through unchecked, and work on the index is done later."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from scrapy.statscollectors import StatsCollector

from dedupcrawl.crawl.failures import INDEX_FAILS, in_words, running_loop
from dedupcrawl.index.errors import IndexAwayError
from dedupcrawl.printable import printable

logger = logging.getLogger(__name__)

LATE_LIMIT = 1000
"""Pages that are remembered to be checked later, at most; further ones stay unchecked."""

_PAUSE = 0.2  # seconds between two attempts
_MOST_REFUSALS = 20  # failed retries, made when nothing else is left to do, until a crawl gives up; some minutes

Result = TypeVar("Result")


class Owed:
    """Work that failed because of the index, and is done in its original order once the index answers.

    Such work checks pages that were let through, records that premises hold or fall, or sends skips whose premise fell.

    Attributes:
        is_away: Whether work is left because the index's server was away at the last attempt.
    """

    def __init__(self) -> None:
        self._work: list[Callable[[], object]] = []
        self._refusals = 0
        self.is_away = False

    def __len__(self) -> int:
        return len(self._work)

    @property
    def is_waiting(self) -> bool:
        """Whether an idle crawl should stay open for work that is left; False after too many failed retries."""
        return bool(self._work) and self._refusals <= _MOST_REFUSALS

    def do(self, work: Callable[[], object]) -> bool:
        """Do `work` now; if the index fails, start it again later. True if it is done."""
        try:
            work()
        except INDEX_FAILS as error:
            if not self._work:
                logger.error(
                    "The index cannot be used: what has to be fetched again waits. %s", printable(in_words(error))
                )
            self.put_off(work, error)
            return False
        return True

    def put_off(self, work: Callable[[], object], error: Exception) -> None:
        self._work.append(work)
        self.is_away = isinstance(error, IndexAwayError)

    def retry(self) -> None:
        left, self._work, self.is_away = self._work, [], False
        for number, work in enumerate(left, 1):
            try:
                work()
            except INDEX_FAILS as error:
                self.put_off(work, error)
                if self.is_away:
                    self._work += left[number:]
                    break
            except Exception:
                logger.exception("What had to wait for the index went wrong.")
        self._refusals += bool(self._work)


class Outage:
    """Handles pages while the index's server is away: they wait, then go on unchecked, and are checked later.

    Args:
        wait: How long pages wait, in seconds since the beginning of an outage; 0: they never wait.
        owed: Takes the checks that are put off.
    """

    def __init__(self, wait: float, stats: StatsCollector, owed: Owed) -> None:
        self._wait, self._stats, self._owed = wait, stats, owed
        self._began: float | None = None

    async def bridged(self, ask: Callable[[], Awaitable[Result]], later: Callable[[], None]) -> Result | None:
        """What `ask` returns, once the index answers; None when that takes too long.

        Args:
            ask: Asks the index; called again while it raises IndexAwayError.
            later: Called once the index is back, if `ask` got no answer; may raise IndexAwayError, too.
        """
        while True:
            try:
                answer = await ask()
            except IndexAwayError as error:
                if not self._waits(error):
                    self._let_through(later, error)
                    return None
            else:
                if self._began is not None:
                    logger.info("The index is back after %.1f s.", time.monotonic() - self._began)
                    self._began = None
                if self._owed.is_away:
                    self._owed.retry()
                return answer
            await asyncio.sleep(_PAUSE)

    def _waits(self, error: IndexAwayError) -> bool:
        """Whether pages wait at this time of the outage; the first call of an outage counts and logs it."""
        if self._began is None:
            self._began = time.monotonic()
            self._stats.inc_value("dedup/index/outages")
            logger.warning(
                "%s; pages wait for it up to %g s (DEDUP_INDEX_WAIT), then they go on and are checked later.",
                error.strerror,
                self._wait,
            )
        return running_loop() is not None and time.monotonic() - self._began < self._wait

    def _let_through(self, later: Callable[[], None], error: IndexAwayError) -> None:
        def check() -> None:
            later()
            self._stats.inc_value("dedup/index/checked_later")

        if len(self._owed) < LATE_LIMIT:
            self._owed.put_off(check, error)
            self._stats.inc_value("dedup/index/let_through")
        else:
            self._stats.inc_value("dedup/index/unchecked")
