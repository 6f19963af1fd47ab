"""Passed audits: their two pages are one, but only once the crawl is idle is it known what else leads where they lead.

A rule saves the fetch of a page. If that page alone leads to a page that the crawl keeps, the rule has lost that one.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from dedupcrawl.crawl.audit import Audit
from dedupcrawl.crawl.discoveries import Discoveries
from dedupcrawl.crawl.parts import Parts
from dedupcrawl.output import PRIVATE, replacing

_FILE = "audits.json"


class _Stored(msgspec.Struct, frozen=True, array_like=True):
    """What a resumed crawl has to know of one."""

    url: str
    target: str
    rules: tuple[str, ...]
    links: list[str]  # URLs that only its page has led to


class PassedAudits:
    """Those of a crawl. With a JOBDIR they outlive a process that is stopped; one that is killed leaves none.

    Raises:
        OSError: Those of the process before cannot be read.
    """

    def __init__(self, parts: Parts, discoveries: Discoveries) -> None:
        self._parts, self._discoveries = parts, discoveries
        self._audits: list[Audit] = []
        for one in [] if parts.folder is None else _taken(parts.folder / _FILE):
            discoveries.resume(one.url, one.links)
            parts.book.count(one.url, one.rules, is_tried=True)  # as the process before did
            parts.fetched.tried.add(one.url)
            self._audits.append(Audit(one.url, one.target, one.rules))

    def add(self, audit: Audit) -> None:
        """Its pages are not needed any more, but for what may have to be learned of an error page."""
        audit.asked = None
        audit.found = audit.found if audit.suspects else None
        self._audits.append(audit)

    def take_those_that_lead_to_more(self) -> list[Audit]:
        """The crawl is idle: these have not passed after all. All others are forgotten."""
        audits, self._audits = self._audits, []
        return [audit for audit in audits if self._leads_to_more(audit)]

    def _leads_to_more(self, audit: Audit) -> bool:
        """Who asks for a target must not only see its page, but go on from there, too: to what no other page leads to.

        What is fetched in place of its target, as an earlier crawl has kept it, leads nowhere else than that.
        """
        if self._parts.rewrites.end(audit.target) == audit.url:
            return False
        links = self._discoveries.only_on(audit.url)
        return any(url in self._parts.fetched.lost for url in links) or self._parts.earlier.any_kept(links)

    def stop(self) -> None:
        """The crawl ends before it is known what else leads there.

        One that may be resumed remembers them, and what they lead to. In any other they speak for no rule.

        Raises:
            OSError: They cannot be written.
        """
        links_of, audits = self._discoveries.only_on, self._audits
        audits, self._audits = [audit for audit in audits if links_of(audit.url)], []
        if self._parts.folder is not None:
            stored = [_Stored(audit.url, audit.target, audit.rules, links_of(audit.url)) for audit in audits]
            with replacing(self._parts.folder / _FILE, PRIVATE) as new:
                new.write(msgspec.json.encode(stored))
            return
        for audit in audits:
            if audit.has_passed:
                self._parts.book.take_back(audit.url, audit.rules)


def _taken(path: Path) -> list[_Stored]:
    """What the process before has kept there; it is kept once."""
    if not path.exists():
        return []
    stored = msgspec.json.decode(path.read_bytes(), type=list[_Stored])
    path.unlink()
    return stored
