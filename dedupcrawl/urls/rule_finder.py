"""Which rules of a site may apply to a URL: most ask for a token or a text, and are not tried without it."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import NamedTuple

from dedupcrawl.sites import ascii_form
from dedupcrawl.urls.compiled_rule import CompiledRule
from dedupcrawl.urls.url_parts import UrlParts

_HOSTS = 1_000  # of a site, that have rules of their own, ready to be searched


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


class HostFinders:
    """A finder for each host of a site some of whose rules name hosts, made when it is first asked for.

    Of 38 hosts of a university that run one program each had the rules of all to try: 25 a link.

    Args:
        rules: Those of the site.
    """

    __slots__ = ("_by_authority", "_rules")

    def __init__(self, rules: tuple[CompiledRule, ...]) -> None:
        self._rules = rules
        self._by_authority: dict[str, RuleFinder] = {}

    def of(self, authority: str) -> RuleFinder:
        """Of the rules for this host and port."""
        finder = self._by_authority.get(authority)
        if finder is None:
            if len(self._by_authority) >= _HOSTS:
                self._by_authority.clear()
            here = ((i, rule) for i, rule in enumerate(self._rules) if rule.is_for_host(authority))
            finder = self._by_authority[authority] = RuleFinder.of(here)
        return finder

    def take_over(self, old: HostFinders, changed: frozenset[str]) -> None:
        """What is known of the rules before, which are the first of these, for all hosts but the changed ones."""
        if self._rules[: len(old._rules)] == old._rules:
            known = old._by_authority.items()
            self._by_authority |= {of: finder for of, finder in known if ascii_form(of.lower()) not in changed}
