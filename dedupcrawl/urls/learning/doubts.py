"""Where a rule is wrong: the one exception that takes most of its wrong meetings away and few of its right ones.

Contexts are fitted to a sample; on a large site all URLs together show exceptions that the sample was too small for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
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
    wrong: Sequence[str],
    right: Sequence[str],
    most_right: float,
    patterns: Mapping[Slot, PatternNode] = MappingProxyType({}),
) -> Rule | None:
    """The rule with one more exception, or None when there is none that is worth it.

    Args:
        rule: As it was tried.
        wrong: Some URLs that it was wrong about.
        right: Some that it was right about.
        most_right: Of these, an exception may give up so many for each that it was wrong about.
        patterns: Of the site's slots.
    """
    exceptions = len(rule.unless) + sum(scope.startswith("!") for scope in (*rule.hosts, *rule.within))
    if exceptions >= _MOST_EXCEPTIONS:
        return None
    bad = _counted(wrong, patterns)
    places = [item for item, count in bad.items() if count >= _LEAST_WRONG and item[0][0] in _KINDS]
    if not places:
        return None
    good = _counted(right, patterns)
    best: tuple[float, Rule] | None = None
    for key, value in sorted(places, key=lambda place: (place[0][0] in _NARROW, place)):
        count = good[key, value]
        gain = bad[key, value] - count / most_right
        if gain <= 0.0 or count * 2 > len(right) or (best is not None and gain <= best[0]):
            continue
        narrower = scoped(rule, (_exception(key, value),))
        if narrower is not None and narrower != rule:
            best = gain, narrower
    return None if best is None else best[1]


def _counted(urls: Sequence[str], patterns: Mapping[Slot, PatternNode]) -> Counter[tuple[ContextKey, str]]:
    """In how many of the URLs each key has each value."""
    keys = [keys_of(parts, patterns).items() for url in urls if (parts := split_url(url)) is not None]
    return Counter(chain.from_iterable(keys))


def _exception(key: ContextKey, value: str) -> Condition:
    if key[0] == "has":
        return Condition(key, (ABSENT,))
    if key[0] == "arg":
        return Condition(("form", key[1]), (value,), holds=False)
    return Condition(key, (value,), holds=False)
