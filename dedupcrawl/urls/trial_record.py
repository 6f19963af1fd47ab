"""What crawls have found out about a rule that has no file of its own, as an index keeps it from crawl to crawl."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.watched_rule import WatchedRule


class TrialRecord(msgspec.Struct, frozen=True, array_like=True):
    """Of one rule.

    Attributes:
        tried: How many trials crawls have made.
        failed: How many of them found two pages.
        examples: Pairs of a URL and what the rule made of it, one for each part of the site where trials spoke for it.
        names_at: Positions in URLs that tell no parts of the site, see `urls.rule`.
        led_nowhere: What it makes of URLs often has no page: it is an equivalence.
    """

    tried: int = 0
    failed: int = 0
    examples: tuple[tuple[str, str], ...] = ()
    names_at: tuple[str, ...] = ()
    led_nowhere: bool = False

    @classmethod
    def of(cls, watched: WatchedRule) -> TrialRecord:
        """What was known, and what this crawl has found out."""
        rule = watched.rule
        failed = rule.failed + watched.failed
        tried = rule.tried + watched.passed + watched.failed
        return cls(tried, failed, watched.examples_with(rule), watched.places.names_at, rule.kind == "equivalence")

    def told_to(self, rule: Rule) -> Rule:
        """The rule, with what is known of it."""
        known = replace(rule, tried=self.tried, failed=self.failed, examples=self.examples, names_at=self.names_at)
        return replace(known, kind="equivalence") if self.led_nowhere else known
