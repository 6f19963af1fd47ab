"""Rules ready to be applied, and which of them may apply to a URL: most ask for a token or a text that it must have."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from dedupcrawl.urls.compiled_rule import CompiledRule
from dedupcrawl.urls.rule import Kind
from dedupcrawl.urls.url_parts import UrlParts

_SHARED = 1_000  # sets of rules


class RuleFinder(NamedTuple):
    """Finds those of some rules, by their numbers, that may apply to a URL.

    Attributes:
        by_token: Segments of paths, arguments, and names of arguments → rules that ask for one of them.
        texts: Texts, one of which must be in the URL, and a rule of each.
        with_args: Rules for whatever has arguments.
    """

    by_token: dict[str, tuple[int, ...]]
    texts: tuple[tuple[str, int], ...]
    with_args: tuple[int, ...]

    @classmethod
    def of(cls, rules: Iterable[tuple[int, CompiledRule]]) -> RuleFinder:
        """Of these rules, with their numbers."""
        by_token: dict[str, tuple[int, ...]] = {}
        texts: list[tuple[str, int]] = []
        with_args: list[int] = []
        for i, rule in rules:
            tokens, parts_of = rule.asks_for()
            for token in tokens:
                by_token[sys.intern(token)] = (*by_token.get(token, ()), i)
            texts += [(sys.intern(text), i) for text in parts_of]
            if rule.needs_args():
                with_args.append(i)
        return cls(by_token, tuple(texts), tuple(with_args))

    def hits(self, url: str, parts: UrlParts) -> list[int]:
        """The rules that may apply to a URL and its tokens, ascending."""
        by_token, texts, with_args = self
        hits = [i for text, i in texts if text in url]
        for token in parts.segments:
            if token in by_token:
                hits += by_token[token]
        if parts.args:
            hits += with_args
            for arg in parts.args:
                if arg in by_token:
                    hits += by_token[arg]
                name = arg.partition("=")[0]
                if name in by_token:
                    hits += by_token[name]
        return sorted(set(hits)) if len(hits) > 1 else hits


class RuleSet:
    """Rules in their order, ready to be applied: those of a site, or those for one of its hosts.

    Attributes:
        settled: Numbers of those after which no further pass is needed, unless the URL had a "+".
        keep_tokens: ... whose result needs no new tokenizing.
        idempotent: ... that are known to leave their own result alone.
    """

    __slots__ = ("finder", "idempotent", "ids", "keep_tokens", "kinds", "rules", "settled")

    def __init__(self, rules: Sequence[NamedRule]) -> None:
        self.ids = tuple(name for name, _, _ in rules)
        self.kinds = tuple(kind for _, kind, _ in rules)
        self.rules = tuple(rule for _, _, rule in rules)
        self.finder = RuleFinder.of(enumerate(self.rules))
        self.settled = frozenset(_settled(self.rules))
        self.keep_tokens = frozenset(i for i, rule in enumerate(self.rules) if rule.keeps_tokens)
        self.idempotent = frozenset(i for i, rule in enumerate(self.rules) if rule.is_idempotent())

    def named(self, used: Sequence[int]) -> list[tuple[str, Kind]]:
        """The ids and kinds of rules by their numbers."""
        return [(self.ids[i], self.kinds[i]) for i in used]


NamedRule = tuple[str, Kind, CompiledRule]
"""Id, kind, and what it does."""


@lru_cache(maxsize=_SHARED)
def rule_set(*rules: NamedRule) -> RuleSet:
    """One object for all hosts, of whatever site, with the same rules; so long as it is that, so are all answers."""
    return RuleSet(rules)


def _settled(rules: Sequence[CompiledRule]) -> Iterator[int]:
    counting = False
    for i, rule in enumerate(rules):
        if rule.is_settled_after(counting=counting):
            yield i
        counting = counting or rule.minds_more_arguments()
