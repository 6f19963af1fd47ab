"""The end of a crawl: every step is taken, whatever became of those before it."""

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
                logger.error("The crawl could not store all that it knows at its end: %s", reason)
            reasons.add(reason)
        except Exception:
            logger.exception("Something went wrong at the end of the crawl; the rest is closed all the same.")
