"""The start and the end of a crawl, when something goes wrong."""

from __future__ import annotations

import logging
from collections.abc import Callable

from dedupcrawl.index.errors import IndexDamagedError, IndexMismatchError
from dedupcrawl.printable import printable

logger = logging.getLogger(__name__)

_SAID = (OSError, IndexDamagedError, IndexMismatchError)  # their messages are sentences


def take_all(*steps: Callable[[], object]) -> None:
    """Call each; what goes wrong is an error in the log, one line for all steps that fail for the same reason."""
    reasons = set[str]()
    for step in steps:
        try:
            step()
        except _SAID as error:
            reason = printable(str(error))
            if reason not in reasons:
                logger.error("At its end the crawl could not store everything it knows: %s", reason)
            reasons.add(reason)
        except Exception:
            logger.exception("Something went wrong at the end of the crawl; the rest is closed all the same.")


def cannot_start(error: Exception) -> Exception:
    """Log what is wrong; returned is `error` without its traceback, to be raised ``from None``.

    Scrapy has no way for an add-on or an extension to end a crawl with a message alone: what it raises is printed with
    its traceback. So the sentence comes first, on a line of its own, and the traceback is that of Scrapy only.
    """
    said = str(error)
    if isinstance(error, OSError) and error.strerror:
        said = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    logger.critical("dedupcrawl: the crawl does not start: %s", printable(said))
    return error.with_traceback(None)
