"""Rules ready to be applied, and which of them may apply to a URL: most ask for a token or a text that it must have."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache

from dedupcrawl.urls.compiled_rule import CompiledRule
from dedupcrawl.urls.rule import Kind
from dedupcrawl.urls.url_parts import UrlParts

_SHARED = 100  # sets of rules, of 10,000 each at most


NamedRule = tuple[str, Kind, CompiledRule]
"""Id, kind, and what it does."""


class RuleSet:
    """Rules in their order, ready to be applied: those of a site, or those for one of its hosts.

    Attributes:
        named: Id and kind of each.
        settled: Numbers of the rules after which no further pass is needed, unless the URL had a "+" or ";".
        idempotent: Numbers of the rules that are known to leave their own result alone.
    """

    __slots__ = ("_by_token", "_texts", "_with_args", "idempotent", "named", "rules", "settled")

    def __init__(self, *rules: NamedRule) -> None:
        self.named = tuple((name, kind) for name, kind, _ in rules)
        self.rules = tuple(rule for _, _, rule in rules)
        self.settled = frozenset(_settled(self.rules))
        self.idempotent = frozenset(i for i, rule in enumerate(self.rules) if rule.is_idempotent())
        self._by_token: dict[str, tuple[int, ...]] = {}  # segment, argument, or name of one → rules that ask for it
        texts: list[tuple[str, int]] = []  # texts, one of which must be in the URL, and a rule of each
        for i, rule in enumerate(self.rules):
            tokens, parts_of = rule.asks_for()
            for token in tokens:
                self._by_token[sys.intern(token)] = (*self._by_token.get(token, ()), i)
            texts += [(sys.intern(text), i) for text in parts_of]
        self._texts = tuple(texts)
        self._with_args = tuple(i for i, rule in enumerate(self.rules) if rule.needs_args())

    def hits(self, url: str, parts: UrlParts) -> list[int]:
        """Numbers of the rules that may apply to a URL and its tokens, ascending."""
        by_token, hits = self._by_token, list[int]()
        for text, i in self._texts:  # no comprehension, which would be a call: it is hot
            if text in url:
                hits.append(i)
        for token in parts.segments:
            if token in by_token:
                hits += by_token[token]
        if parts.args:
            hits += self._with_args
            for arg in parts.args:
                if arg in by_token:
                    hits += by_token[arg]
                name = arg.partition("=")[0]
                if name in by_token:
                    hits += by_token[name]
        return sorted(set(hits)) if len(hits) > 1 else hits


rule_set = lru_cache(maxsize=_SHARED)(RuleSet)
"""One object for all hosts, of whatever site, with the same rules; so long as it is that, so are all answers."""


def _settled(rules: Sequence[CompiledRule]) -> Iterator[int]:
    counting = False
    for i, rule in enumerate(rules):
        if rule.is_settled_after(counting=counting):
            yield i
        counting = counting or rule.minds_more_arguments()
