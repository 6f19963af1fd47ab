"""What a crawl does when something goes wrong: at its start, at its end, and when a part of the add-on fails."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

from scrapy.statscollectors import StatsCollector

from dedupcrawl.index.errors import IndexDamagedError, IndexMismatchError
from dedupcrawl.printable import printable
from dedupcrawl.system_errors import with_file

logger = logging.getLogger(__name__)

INDEX_FAILS = (OSError, IndexDamagedError)
"""What an index raises if it cannot be read or written."""

_SAID = (*INDEX_FAILS, IndexMismatchError)  # their messages are sentences


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The running asyncio loop; None if there is none, so that waiting would block the process."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


class LoggedFailures:
    """Context manager that logs and swallows exceptions (see `log_failure`); reusable and reentrant."""

    __slots__ = ("_kinds", "_said", "_stat", "_stats")

    def __init__(
        self, stats: StatsCollector, stat: str, message: str, kinds: tuple[type[Exception], ...] = (Exception,)
    ) -> None:
        self._stats, self._stat, self._said, self._kinds = stats, stat, message, kinds

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, where: object) -> bool:
        if not isinstance(error, self._kinds):
            return False
        log_failure(error, self._stats, self._stat, self._said)
        return True


def log_failure(error: Exception, stats: StatsCollector, stat: str, message: str) -> None:
    """Count an error after which the crawl goes on by `stat`, and log `message` for the first one."""
    if not stats.get_value(stat):
        why, is_sentence = printable(in_words(error)), isinstance(error, _SAID)
        logger.error("%s. This is said once: %s", message, why, exc_info=None if is_sentence else error)
    stats.inc_value(stat)


def take_all(*steps: Callable[[], object]) -> None:
    """Call each step, and log failures: one line for all steps whose index or file fails for the same reason."""
    reasons = set[str]()
    for step in steps:
        try:
            step()
        except _SAID as error:
            reason = printable(in_words(error))
            if reason not in reasons:
                logger.error("At its end the crawl could not store everything it knows: %s", reason)
            reasons.add(reason)
        except Exception:
            logger.exception("Something went wrong at the end of the crawl; the rest is closed all the same.")


def cannot_start(error: Exception) -> Exception:
    """Log why the crawl does not start; return `error` without its traceback, to be raised ``from None``.

    An add-on or extension cannot end a crawl with a message alone: what it raises ends the crawl's task, and asyncio
    prints it with its traceback unless somebody has retrieved it from the task.
    """
    with suppress(RuntimeError):  # no task runs
        if (task := asyncio.current_task()) is not None:
            task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
    logger.critical("dedupcrawl: the crawl does not start: %s", printable(in_words(error)))
    return error.with_traceback(None)


def in_words(error: Exception) -> str:
    """The message of an error; for a system error without its number, but with the file and advice, if any."""
    return with_file(error) if isinstance(error, OSError) else str(error)
