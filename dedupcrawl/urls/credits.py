"""Credits: what crawls have found out about beliefs on the pages of one owner.

A belief is anything that makes one URL of another and may be wrong: a rule, or a source of aliases. The credit of a
rule in a file stands in its file; an index keeps all others, in one state for each owner.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol, TypeVar

import msgspec

from dedupcrawl.urls.rule import Rule

NAME = "credits"
"""Name of this state of an owner in an index."""

MOST_EXAMPLES = 26
"""Of a rule: as many as sections are tried separately (`sections`), and two more, for the log has spoken in some."""

MOST_WRONG = 64
"""Counterexamples of a rule: those of further owners are found anew."""

Known = TypeVar("Known", bound="State")


class State(msgspec.Struct, frozen=True):
    """What an index keeps of one site or owner. Each class of states says how two are joined."""

    def to_bytes(self) -> bytes:
        return msgspec.json.encode(self)

    @classmethod
    def from_bytes(cls: type[Known], content: bytes | None) -> Known:
        """Read what `to_bytes` wrote; if it cannot be read, the result is empty."""
        try:
            return msgspec.json.decode(content, type=cls) if content else cls()
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return cls()

    def joined(self: Known, news: Known) -> Known:
        """What is known when another process, or another crawl, has found out `news`."""
        raise NotImplementedError


class Credit(msgspec.Struct, frozen=True, array_like=True):
    """What trials have shown of one belief.

    Attributes:
        tried: How many trials crawls have made.
        failed: How many of them found two pages.
        examples: Pairs of a URL and what the rule made of it, one for each part of the site where trials spoke for it.
        counterexamples: The same, one for each part where the rule is not used.
    """

    tried: int = 0
    failed: int = 0
    examples: tuple[tuple[str, str], ...] = ()
    counterexamples: tuple[tuple[str, str], ...] = ()

    def joined(self, news: Credit) -> Credit:
        """With what another crawl, or worker, has found out, or taken back: all trials count."""
        failed = max(0, self.failed + news.failed)
        examples = tuple(dict.fromkeys((*self.examples, *news.examples)))[:MOST_EXAMPLES]
        wrong = tuple(dict.fromkeys((*self.counterexamples, *news.counterexamples)))[:MOST_WRONG]
        return Credit(max(failed, self.tried + news.tried), failed, examples, wrong)

    @classmethod
    def of(cls, rule: Rule) -> Credit:
        return cls(rule.tried, rule.failed, rule.examples, rule.counterexamples)

    def told_to(self, rule: Rule) -> Rule:
        """The rule, with what is known of it."""
        return replace(rule, **msgspec.structs.asdict(self))


class Credits(State, frozen=True):
    """The credits of one owner.

    Attributes:
        of: Id of a belief → what trials have shown.
        refuted: Id of a belief that trials refuted → why; it is not tried again.
        has_aliases: Whether aliases are stored beside URLs of this owner.
    """

    of: dict[str, Credit] = msgspec.field(default_factory=dict)
    refuted: dict[str, str] = msgspec.field(default_factory=dict)
    has_aliases: bool = False

    def joined(self, news: Credits) -> Credits:
        of = self.of | {name: self.of.get(name, Credit()).joined(new) for name, new in news.of.items()}
        return Credits(of, self.refuted | news.refuted, self.has_aliases or news.has_aliases)


class CreditStore(Protocol):
    """Where the credits of each owner are kept."""

    def of(self, owner: str, /) -> Credits:
        """The credits of an owner; empty if there are none."""

    def tell(self, owner: str, news: Credits, /) -> Credits:
        """Add news; returns all that is known now."""
