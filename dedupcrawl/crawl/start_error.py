"""What keeps a crawl from starting, said in one line before Scrapy prints where it was noticed."""

from __future__ import annotations

import logging

from dedupcrawl.printable import printable

logger = logging.getLogger(__name__)


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
