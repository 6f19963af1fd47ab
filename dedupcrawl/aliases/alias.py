"""Aliases: URLs that lead to the same page as another URL, in the form in which an index stores them beside the URL."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from dedupcrawl.aliases.sources import DUPLICATE, ELEMENT, REDIRECT, SOURCES
from dedupcrawl.urls.probation import FROM_A_LOG
from dedupcrawl.urls.rule import Evidence, Rule

NAME = "alias"
"""Name under which an index stores an alias beside its URL."""

SAID = "alias.said"
"""Name under which an index stores a digest of a page's text beside its URL, if the page was dropped in doubt."""

RULE = "alias."
"""Prefix of the rule id under which a source is tried."""

MOST_LINKS = 1_000
"""Links that one alias stores at most. Every crawl requests a page that was the first to link to more."""

_FOUND_OUT = (DUPLICATE, REDIRECT)  # by fetching the URL itself

# These sources were right wherever they were measured: permalinks 3,179 of 3,179 times on two forums, sort links 1,116
# of 1,116 times on one archive. Canonical links were right 8,523 of 9,406 times on four sites, so they have to prove
# themselves like any new rule.
_SURE = ("permalink", "sort-link")


class Alias(msgspec.Struct, frozen=True, array_like=True):
    """What is known of one URL.

    Attributes:
        target: The URL to request instead; empty if several pages name this one as their own, so that none is believed,
            or if its page was the first to link to too many URLs.
        source: The source that says so, one of `sources.SOURCES` or "duplicate".
        spider: Name of the spider whose crawl learned it.
        run: Id of the crawl; empty if the page at this URL named the target before the target was fetched.
        at: When the crawl learned it, in seconds since the epoch.
        links: Packed requests for links to which only the page at this URL had led when it was fetched.
    """

    target: str
    source: str
    spider: str
    run: str
    at: float
    links: tuple[bytes, ...] = ()

    def to_bytes(self) -> bytes:
        return msgspec.msgpack.encode(self)

    @classmethod
    def from_bytes(cls, content: bytes | None) -> Alias | None:
        """Decode what `to_bytes` wrote; None if it is missing or damaged."""
        try:
            return None if content is None else msgspec.msgpack.decode(content, type=cls)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return None

    def leading_to(self, links: Iterable[bytes]) -> Alias:
        """The same with these links; void if there are more than `MOST_LINKS`."""
        own = tuple(dict.fromkeys(links))
        if len(own) > MOST_LINKS:
            return msgspec.structs.replace(self, target="", links=())
        return msgspec.structs.replace(self, links=own)

    def contests(self, old: Alias) -> bool:
        """Whether this alias and an earlier one of the same URL say that two pages of one crawl state it as theirs."""
        is_stated = not self.was_found_out and not old.was_found_out and ELEMENT not in (self.source, old.source)
        return is_stated and self.run == old.run and bool(old.target) and self.target != old.target

    def replaces(self, old: Alias) -> bool:
        """Whether this alias is stored in place of an earlier one of the same URL.

        It replaces that of another crawl, unless only that crawl has fetched the URL itself; and in one crawl, what
        links to an element of a page say gives way to what a page states.
        """
        if self.run != old.run:
            return self.was_found_out or not old.was_found_out
        return old.source == ELEMENT != self.source

    @property
    def was_found_out(self) -> bool:
        """True if a crawl has fetched the URL itself, so that no test is needed."""
        return was_found_out(self.rule)

    @property
    def rule(self) -> str:
        return rule_id(self.source)


def was_found_out(rule: str) -> bool:
    """True for the rule id of a source that learns an alias by fetching the URL itself."""
    return rule.removeprefix(RULE) in _FOUND_OUT


def said_by(rules: tuple[str, ...]) -> str:
    """The source if `rules` is one rule, and rests on nothing but the statement of a page; else empty."""
    source = rules[0].removeprefix(RULE) if len(rules) == 1 and rules[0].startswith(RULE) else ""
    return "" if source in _FOUND_OUT else source


def rule_id(source: str) -> str:
    return RULE + source


def _rule(source: str) -> Rule:
    return Rule(
        rule_id(source),
        "rewrite",
        match=rule_id(source),
        state="active" if source in (*_FOUND_OUT, *_SURE) else "probation",
        source="alias",
        evidence=Evidence(correct=FROM_A_LOG if source in _FOUND_OUT else 0),
    )


SOURCE_RULES = tuple(map(_rule, (DUPLICATE, *SOURCES)))
"""The sources as rules, so that they are tried like any others. Their templates differ, and match no URL."""
