"""Compiled rules, and which of them may apply to a URL: most require a token or a text that the URL must contain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from dedupcrawl.core.url_forms import TokenIndex
from dedupcrawl.urls.compiled_rule import CompiledRule
from dedupcrawl.urls.rule import Kind

_SHARED = 100  # sets of rules, of 10,000 each at most


NamedRule = tuple[str, Kind, CompiledRule]
"""Id, kind, and what it does."""


class RuleSet:
    """Rules in their order, ready to be applied: those of a site, or those for one of its hosts.

    Attributes:
        hits: Gives the numbers of the rules that may apply to a URL and its tokens, ascending.
        next: Gives the first of these, from a place on, that applies, see `TokenIndex.next`.
        named: Id and kind of each.
        settled: Numbers of the rules after which no further pass is needed, unless the URL had a "+" or ";".
        idempotent: Numbers of the rules that are known to leave their own result alone.
    """

    __slots__ = ("hits", "idempotent", "named", "next", "rules", "settled")

    def __init__(self, *rules: NamedRule) -> None:
        self.named = tuple((name, kind) for name, kind, _ in rules)
        self.rules = tuple(rule for _, _, rule in rules)
        self.settled = frozenset(_settled(self.rules))
        self.idempotent = frozenset(i for i, rule in enumerate(self.rules) if rule.is_idempotent())
        asked = [(*rule.asks_for(), rule.needs_args()) for rule in self.rules]
        index = TokenIndex(asked, tuple(rule.conditions for rule in self.rules))
        self.hits, self.next = index.hits, index.next


rule_set = lru_cache(maxsize=_SHARED)(RuleSet)
"""One object for all hosts, of whatever site, with the same rules; so long as it is that, so are all answers."""


def _settled(rules: Sequence[CompiledRule]) -> Iterator[int]:
    counting = False
    for i, rule in enumerate(rules):
        if rule.is_settled_after(counting=counting):
            yield i
        counting = counting or rule.minds_more_arguments()
