"""Where a rule is wrong: the one exception that takes most of its wrong meetings away and few of its right ones.

Contexts are fitted to a sample; on a large site all URLs together show exceptions that the sample was too small for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from dedupcrawl.urls.learning.contexts import ABSENT, Condition, keys_of
from dedupcrawl.urls.learning.corpus import ContextKey, Slot
from dedupcrawl.urls.learning.deep_tokens import PatternNode
from dedupcrawl.urls.learning.scopes import scoped
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.url_parts import split_url

_LEAST_WRONG = 3  # URLs that an exception has to take away: fewer are chance
_MOST_EXCEPTIONS = 8  # of a rule
_NARROW = {"arg", "last", "path"}  # keys of which another says as much of more URLs, if it can
_KINDS = {"host", "path", "front", "last", "has", "arg", "form", "kind"}


def narrowed(
    rule: Rule,
    urls: Sequence[str],
    right: Sequence[bool],
    most_right: float,
    patterns: Mapping[Slot, PatternNode] = MappingProxyType({}),
) -> Rule | None:
    """The rule with one more exception, or None when there is none that is worth it.

    Args:
        rule: As it was tried.
        urls: Some URLs that it changed.
        right: Whether it was right about each.
        most_right: URLs that it was right about that an exception may give up for each that it was wrong about.
        patterns: Of the site's slots.
    """
    exceptions = len(rule.unless) + sum(scope.startswith("!") for scope in (*rule.hosts, *rule.within))
    if exceptions >= _MOST_EXCEPTIONS:
        return None
    counts: dict[tuple[ContextKey, str], list[int]] = defaultdict(lambda: [0, 0])
    for url, good in zip(urls, right, strict=True):
        parts = split_url(url)
        if parts is not None:
            for key, value in keys_of(parts, patterns).items():
                if key[0] in _KINDS:
                    counts[key, value][good] += 1
    total = sum(right)
    best: tuple[float, Rule] | None = None
    for (key, value), (wrong, count) in sorted(counts.items(), key=lambda item: (item[0][0][0] in _NARROW, item)):
        gain = wrong - count / most_right
        if wrong < _LEAST_WRONG or gain <= 0.0 or count * 2 > total or (best is not None and gain <= best[0]):
            continue
        narrower = scoped(rule, (_exception(key, value),))
        if narrower is not None and narrower != rule:
            best = gain, narrower
    return None if best is None else best[1]


def _exception(key: ContextKey, value: str) -> Condition:
    if key[0] == "has":
        return Condition(key, (ABSENT,))
    if key[0] == "arg":
        return Condition(("form", key[1]), (value,), holds=False)
    return Condition(key, (value,), holds=False)
