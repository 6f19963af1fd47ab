"""One audit: a URL, what is asked for instead of it, and the pages of both, as far as they have come; passed ones.

A passed audit has shown that its two pages are one, but only once the crawl is idle is it known what else leads where
they lead. A rule saves the fetch of a page. If that page alone leads to a page that the crawl keeps, the rule has lost
that one.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import msgspec

from dedupcrawl.crawl.failures import INDEX_FAILS
from dedupcrawl.crawl.first_referrers import FirstReferrers, OpenLinks
from dedupcrawl.crawl.parts import Parts
from dedupcrawl.crawl.same_page import Look
from dedupcrawl.output import PRIVATE, replacing
from dedupcrawl.printable import printable

logger = logging.getLogger(__name__)

_FILE = "audits.json"


class Audit(msgspec.Struct, omit_defaults=True):
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


class _Undecided(msgspec.Struct, frozen=True):
    """What a crawl that is stopped has yet to decide: its passed audits, and the links by which they may fail."""

    audits: list[Audit]
    links: OpenLinks


_NOTHING = _Undecided([], OpenLinks({}, [], []))


class PassedAudits:
    """Those of a crawl. With a JOBDIR they outlive a process that is stopped.

    A process that is killed leaves those of the process before. What it has found out of them since is forgotten: that
    another page leads to a link, too, so that a right rule may be blamed; this costs fetches and no page.

    Raises:
        OSError: Those of the process before cannot be read.
    """

    def __init__(self, parts: Parts, first_referrers: FirstReferrers) -> None:
        self._parts, self._first_referrers = parts, first_referrers
        self._audits: list[Audit] = []
        before = _NOTHING if parts.folder is None else _read(parts.folder / _FILE)
        first_referrers.resume(before.links)
        for one in before.audits:
            parts.book.count(one.url, one.rules, is_tried=True)  # as the process before did
            if one.has_passed:
                parts.book.passed(one.url, one.rules)
            parts.fetched.tried.add(one.url)
            self._audits.append(one)

    def add(self, audit: Audit) -> None:
        """Its pages are not needed any more, but for what may have to be learned of an error page."""
        audit.asked = None
        audit.found = audit.found if audit.suspects else None
        self._audits.append(audit)

    def take_those_that_lead_to_more(self) -> Iterator[Audit]:
        """The crawl is idle: these have not passed after all. All others are forgotten.

        Of several that lead to one URL the first fails; then its page leads there, and the others may be left out.
        """
        audits, self._audits = self._audits, []
        yield from (audit for audit in audits if self._leads_to_more(audit))

    def _leads_to_more(self, audit: Audit) -> bool:
        """Who asks for a target must not only see its page, but go on from there, too: to what no other page leads to.

        What is fetched in place of its target, as an earlier crawl has kept it, leads nowhere else than that.
        """
        if self._parts.rewrites.end(audit.target) == audit.url:
            return False
        links = self._lost_without(audit)
        try:  # a page may be kept as that of a URL on trial that was sent there: nothing else leads to that either
            urls = [*links, *(use.url for use in self._parts.rewrites.found(links) if use.url != audit.url)]
        except INDEX_FAILS:
            return bool(links)  # an error should fetch a page
        return any(url in self._parts.fetched.lost for url in urls) or self._parts.earlier.any_kept(urls)

    def _lost_without(self, audit: Audit) -> list[str]:
        instead = audit.target, self._parts.rewrites.end(audit.target)
        return self._first_referrers.lost_without(audit.url, instead)

    def stop(self) -> None:
        """The crawl ends before it is known what else leads there: in this process they speak for no rule.

        One that may be resumed remembers them, and what they lead to.

        Raises:
            OSError: They cannot be written.
        """
        audits, self._audits = [audit for audit in self._audits if self._lost_without(audit)], []
        for audit in audits:
            if audit.has_passed:
                self._parts.book.take_back(audit.url, audit.rules)
        if self._parts.folder is not None:
            passed = [msgspec.structs.replace(audit, found=None) for audit in audits]
            undecided = _Undecided(passed, self._first_referrers.open_links) if passed else _NOTHING
            with replacing(self._parts.folder / _FILE, PRIVATE) as new:
                new.write(msgspec.json.encode(undecided))


def _read(path: Path) -> _Undecided:
    """What the process before has left; nothing where that cannot be understood."""
    if not path.exists():
        return _NOTHING
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Undecided)
    except ValueError as error:
        logger.warning(
            "%s cannot be read (%s): the crawl goes on without it. If a rule that was tried before leaves out the only "
            "page that leads to another, that may go unnoticed.",
            printable(str(path)),
            printable(str(error)),
        )
        return _NOTHING
