"""One audit: a URL, what is asked for instead of it, and the pages of both, as far as they have come."""

from __future__ import annotations

import logging

import msgspec

from dedupcrawl.crawl.same_page import Look
from dedupcrawl.printable import printable

logger = logging.getLogger(__name__)


class Audit(msgspec.Struct):
    """One comparison that is under way.

    Attributes:
        url: As it was asked for.
        target: What is asked for instead.
        rules: Ids of those that say so.
        asked: The page of `url`, once it is there.
        found: The page of `target`, once it is there.
        suspects: Targets that led to the same text, when it was this text that gave rise to the audit.
        led_to: Where the target redirects, when that gave rise to it.
        is_early: Whether too little is known of the host to tell its counters from what a page says.
        is_unjudged: Whether the content half will say nothing of `asked`: no item was made of it.
        has_passed: Whether both were found to be one page.
    """

    url: str
    target: str
    rules: tuple[str, ...]
    asked: Look | None = None
    found: Look | None = None
    suspects: tuple[str, ...] = ()
    led_to: str = ""
    is_early: bool = False
    is_unjudged: bool = False
    has_passed: bool = False

    def say(self, what: str) -> None:
        """Tell people what has come of it."""
        if logger.isEnabledFor(logging.DEBUG):
            rules = ", ".join(self.rules)
            logger.debug("%s: %s → %s (%s)", what, printable(self.url), printable(self.target), printable(rules))
