"""Audits of single URLs: the two URLs, and the pages of both once they have come; also the audits that have passed.

A passed audit has shown that its two URLs lead to one page. But the rule saves the fetch of the first URL, and if only
that URL's page links to some page that the crawl keeps, the rule would lose the latter. Whether other pages link to it
is known only when the crawl is idle.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

import msgspec

from dedupcrawl.crawl.failures import INDEX_FAILS
from dedupcrawl.crawl.first_referrers import FirstReferrers
from dedupcrawl.crawl.parts import Parts
from dedupcrawl.crawl.same_page import Look
from dedupcrawl.printable import printable

logger = logging.getLogger(__name__)


class Audit(msgspec.Struct, omit_defaults=True):
    """One comparison of a URL's page with that of the URL which rules make of it.

    Attributes:
        url: The original URL.
        target: The URL that is requested instead.
        rules: Ids of the rules that made `target` of `url`.
        asked: The page of `url`, once it has come.
        found: The page of `target`, once it has come.
        suspects: Targets that led to the same text as `target`, if the audit was begun because of that text.
        led_to: Where the target redirects, if the audit was begun because of that.
        is_early: Whether too little is known of the host's template to tell its counters from what a page says.
        is_unjudged: Whether the content half will not judge `asked`, because no item was made of it.
        has_passed: Whether both URLs were found to lead to one page.
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
        if logger.isEnabledFor(logging.DEBUG):
            rules = ", ".join(self.rules)
            logger.debug("%s: %s → %s (%s)", what, printable(self.url), printable(self.target), printable(rules))


class PassedAudits:
    """The passed audits of a process."""

    def __init__(self, parts: Parts, first_referrers: FirstReferrers) -> None:
        self._parts, self._first_referrers = parts, first_referrers
        self._audits: list[Audit] = []

    def add(self, audit: Audit) -> None:
        """Add an audit; its pages are dropped, except one that may have to be learned as an error page."""
        audit.asked = None
        audit.found = audit.found if audit.suspects else None
        self._audits.append(audit)

    def take_those_that_lead_to_more(self) -> Iterator[Audit]:
        """The audits that have not passed after all, now that the crawl is idle. All others are forgotten.

        If several original pages alone lead to one URL, the first audit fails; then its page, which is kept, leads
        there, and the other pages may be skipped.
        """
        audits, self._audits = self._audits, []
        yield from (audit for audit in audits if self._leads_to_more(audit))

    def _leads_to_more(self, audit: Audit) -> bool:
        """Whether the original page of an audit leads to a kept page to which no other page leads.

        It does not if the original URL is itself fetched in place of the target, because an earlier crawl has kept it.
        """
        if self._parts.rewrites.end(audit.target) == audit.url:
            return False
        links = self._lost_without(audit)
        try:  # the page of such a link may be kept under another URL on trial, which was rewritten to the link
            urls = [*links, *(use.url for use in self._parts.rewrites.found(links) if use.url != audit.url)]
        except INDEX_FAILS:
            return bool(links)  # when in doubt, fetch
        return any(url in self._parts.fetched.lost for url in urls) or self._parts.earlier.any_kept(urls)

    def _lost_without(self, audit: Audit) -> list[str]:
        instead = audit.target, self._parts.rewrites.end(audit.target)
        return self._first_referrers.lost_without(audit.url, instead)

    def stop(self) -> None:
        """Withdraw the passed audits that may still fail, because the crawl ends before more pages can be seen."""
        audits, self._audits = self._audits, []
        for audit in audits:
            if audit.has_passed and self._lost_without(audit):
                self._parts.book.take_back(audit.url, audit.rules)
