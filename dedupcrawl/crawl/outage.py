"""What a crawl does while its index cannot be used: pages wait or are let through, and the rest is done later."""

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
"""Pages that are remembered to be checked later; what is beyond stays unchecked."""

_PAUSE = 0.2  # seconds between two attempts
_MOST_REFUSALS = 20  # of an index, at times when nothing else is left to do; some minutes

Result = TypeVar("Result")


class Owed:
    """What the index could not be asked, or told, when it was to be: it is done once the index answers, in this order.

    That is: pages that were let through are checked, premises hold or fall, and skips whose premise fell are sent.

    Attributes:
        is_away: Whether anything is left because the server of the index was away when it was tried last.
    """

    def __init__(self) -> None:
        self._work: list[Callable[[], object]] = []
        self._refusals = 0
        self.is_away = False

    def __len__(self) -> int:
        """How much is left."""
        return len(self._work)

    @property
    def is_waiting(self) -> bool:
        """Whether anything is left for which a crawl waits that has nothing else to do: not for ever."""
        return bool(self._work) and self._refusals <= _MOST_REFUSALS

    def do(self, work: Callable[[], object]) -> bool:
        """Do this, now or later, in which case it is begun anew; whether it is done."""
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
        """The index has failed so that this cannot be done; it is done later."""
        self._work.append(work)
        self.is_away = isinstance(error, IndexAwayError)

    def retry(self) -> None:
        """Do what is left, as far as the index can be used."""
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
    """Handles pages while the server of the index is away: they wait, then go on, and are checked later.

    Args:
        wait: Seconds from the beginning of an outage for which pages wait; 0: they never do.
        owed: Where what cannot wait is put off.
    """

    def __init__(self, wait: float, stats: StatsCollector, owed: Owed) -> None:
        self._wait, self._stats, self._owed = wait, stats, owed
        self._began: float | None = None

    async def bridged(self, ask: Callable[[], Awaitable[Result]], later: Callable[[], None]) -> Result | None:
        """What `ask` returns, once the index answers; None when that takes too long.

        Args:
            ask: Asks the index; called again while it raises IndexAwayError.
            later: What to do once the index is back, when nothing was found out now; raises the same error.
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
        """Whether pages wait now."""
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
