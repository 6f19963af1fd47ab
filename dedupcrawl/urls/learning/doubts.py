"""Where a rule is wrong: the one exception that takes most of its wrong meetings away and few of its right ones.

Contexts are fitted to a sample; on a large site all URLs together show exceptions that the sample was too small for.
"""

from __future__ import annotations

import numpy as np

from dedupcrawl.urls.learning.context_keys import NO_PATTERNS, NO_VALUE, ContextKey, ContextKeys, Patterns
from dedupcrawl.urls.learning.contexts import SEVERAL, Condition
from dedupcrawl.urls.learning.groups import grouped_pairs
from dedupcrawl.urls.learning.proof import Judged
from dedupcrawl.urls.learning.scopes import scoped
from dedupcrawl.urls.learning.url_columns import UrlColumns
from dedupcrawl.urls.rule import Rule

_LEAST_WRONG = 3  # URLs of those that are looked at that an exception has to take away: fewer are chance
_MOST_EXCEPTIONS = 8  # of a rule
_NARROW = {"arg", "last", "path"}  # keys of which another says as much of more URLs, if it can
_KINDS = {"host", "path", "front", "last", "has", "arg", "form", "kind"}


def narrowed(
    rule: Rule, columns: UrlColumns, judged: Judged, most_right: float, patterns: Patterns = NO_PATTERNS
) -> Rule | None:
    """The rule with one more exception, or None when there is none that is worth it.

    Args:
        rule: As it was tried.
        columns: The URLs of the site.
        judged: Some URLs that it was wrong and right about.
        most_right: Of the right ones, an exception may give up so many for each that it was wrong about.
        patterns: Of the site's slots.
    """
    exceptions = len(rule.unless) + sum(scope.startswith("!") for scope in (*rule.hosts, *rule.within))
    if exceptions >= _MOST_EXCEPTIONS:
        return None
    rows = np.concatenate([judged.wrong, judged.right])
    there = columns.split[rows]
    is_wrong, forms = np.arange(len(rows)) < len(judged.wrong), np.concatenate([judged.forms, judged.right])
    rows, is_wrong, forms = rows[there], is_wrong[there], forms[there]
    keys = ContextKeys.of(columns.taken(rows), patterns)
    owner, codes = keys.flat(np.arange(len(rows)))
    bad = np.bincount(codes[is_wrong[owner]], minlength=len(keys.key_of))
    good = np.bincount(codes[~is_wrong[owner]], minlength=len(keys.key_of))
    owner, codes = owner[is_wrong[owner]], codes[is_wrong[owner]]
    meetings = np.bincount(codes[grouped_pairs(codes, forms[owner])[1]], minlength=len(keys.key_of))
    places = []
    for code in np.flatnonzero((bad >= _LEAST_WRONG) & (meetings >= SEVERAL)).tolist():
        key = keys.keys[keys.key_of[code]]
        if key[0] in _KINDS:
            places.append((key[0] in _NARROW, key, keys.value(code), int(bad[code]), int(good[code])))
    best: tuple[float, Rule] | None = None
    for _, key, value, against, count in sorted(places):
        gain = against * judged.wrong_step - count * judged.right_step / most_right
        if gain <= 0.0 or count * 2 > len(judged.right) or (best is not None and gain <= best[0]):
            continue
        narrower = scoped(rule, (_exception(key, value),))
        if narrower is not None and narrower != rule:
            best = gain, narrower
    return None if best is None else best[1]


def _exception(key: ContextKey, value: str) -> Condition:
    if key[0] == "has":
        return Condition(key, (NO_VALUE,))
    if key[0] == "arg":
        return Condition(("form", key[1]), (value,), holds=False)
    return Condition(key, (value,), holds=False)
