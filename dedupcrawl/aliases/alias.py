"""Alias: a URL that leads to the same page as another URL, in the form in which an index stores it beside the URL."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from dedupcrawl.aliases.sources import DUPLICATE, REDIRECT, SOURCES
from dedupcrawl.urls.probation import FROM_A_LOG
from dedupcrawl.urls.rule import Evidence, Rule
from dedupcrawl.urls.watched_rule import SiteTrials

NAME = "alias"
"""Of what lies beside a URL in an index, and of the state of a site."""

SAID = "alias.said"
"""Of what lies beside the URL of a page that was dropped, yet not surely a duplicate: a digest of its text."""

RULE = "alias."
"""What the id under which a source is tried begins with."""

MOST_LINKS = 1_000
"""Of an alias. A page that was the first to link to more is asked for each time."""

_FOUND_OUT = (DUPLICATE, REDIRECT)  # by fetching the URL itself

# Right wherever they were looked at: permalinks 3,179 of 3,179 times on two forums, sort-links 1,116 of 1,116 on one
# archive. Of canonical links on four sites 8,523 of 9,406 were: they have to prove themselves like any new rule.
_SURE = ("permalink", "sort-link")


class Alias(msgspec.Struct, frozen=True, array_like=True):
    """What is known of one URL.

    Attributes:
        target: The URL to request instead; empty if several pages name this one as their own, so that none is believed,
            or if its page leads to too much.
        source: Which source says so, one of `sources.SOURCES` or "duplicate".
        spider: Name of the spider that found it out.
        run: The crawl; empty if the page at this URL named the target before the target was fetched.
        at: Seconds since the epoch.
        links: Requests, packed, that only the page at this URL had led to when it was fetched.
    """

    target: str
    source: str
    spider: str
    run: str
    at: float
    links: tuple[bytes, ...] = ()

    def to_bytes(self) -> bytes:
        """As MessagePack."""
        return msgspec.msgpack.encode(self)

    @classmethod
    def from_bytes(cls, content: bytes | None) -> Alias | None:
        """Read what `to_bytes` wrote; None where that cannot be read."""
        try:
            return None if content is None else msgspec.msgpack.decode(content, type=cls)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return None

    def leading_to(self, links: Iterable[bytes]) -> Alias:
        """The same with these links; void where they are too many."""
        own = tuple(dict.fromkeys(links))
        if len(own) > MOST_LINKS:
            return msgspec.structs.replace(self, target="", links=())
        return msgspec.structs.replace(self, links=own)

    @property
    def was_found_out(self) -> bool:
        """True if the URL itself was fetched, so that it need not be tested."""
        return was_found_out(self.rule)

    @property
    def rule(self) -> str:
        """The id under which its source is tried."""
        return rule_id(self.source)


class SiteAliases(SiteTrials, frozen=True):
    """What crawls have found out about the aliases of one owner's pages, by the ids of its sources' rules."""

    def rules(self) -> tuple[Rule, ...]:
        """The sources as rules, so that they are tried like any others. Their templates fit no URL, and differ."""
        return tuple(map(self._rule, (DUPLICATE, *SOURCES)))

    def _rule(self, source: str) -> Rule:
        name = rule_id(source)
        rule = Rule(
            name,
            "rewrite",
            match=name,
            state="disabled" if name in self.failed else "active" if source in (*_FOUND_OUT, *_SURE) else "probation",
            source="alias",
            evidence=Evidence(correct=FROM_A_LOG if source in _FOUND_OUT else 0),
        )
        return self.told_to(rule)


def was_found_out(rule: str) -> bool:
    """True for the id of a source that has fetched the URL itself."""
    return rule.removeprefix(RULE) in _FOUND_OUT


def said_by(rules: tuple[str, ...]) -> str:
    """The source by whose word alone a URL is sent elsewhere; empty for any other rules, and for what was found out."""
    source = rules[0].removeprefix(RULE) if len(rules) == 1 and rules[0].startswith(RULE) else ""
    return "" if source in _FOUND_OUT else source


def rule_id(source: str) -> str:
    """The id under which a source is tried."""
    return RULE + source
