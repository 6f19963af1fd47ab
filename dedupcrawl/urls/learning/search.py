"""From suggestions to rules: values generalized, put into contexts, kept to what was seen, the best one first."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush

from dedupcrawl.urls.learning.contexts import contexts, is_valid
from dedupcrawl.urls.learning.diff import HostPages, diff, kind_of_pair, select_pairs
from dedupcrawl.urls.learning.forms import Forms, Tally
from dedupcrawl.urls.learning.generalize import MOST_WORDS
from dedupcrawl.urls.learning.ledger import Price
from dedupcrawl.urls.learning.narrowing import anonymous, narrowed, specialized
from dedupcrawl.urls.learning.written import where_of
from dedupcrawl.urls.rule import Rule

# With 160, and 200 places in the ledger, wiki.unrealengine.com .181, not .172, a quarter more time (seeds 3 to 5).
_MOST_HYPOTHESES = 80
# In clusters. Fifteen mirrors, seeds 3 and 4: recall .4811 at .9968 safe; 1: .4891 at .9939; 4: .4810 at .9970.
_COST_OF_A_CONDITION = 2.0
_LEAST_CLUSTERS = 2.0  # the same: 1: .4819 at .9966; 4: .4849 at .9941


@dataclass(frozen=True, slots=True)
class Candidate:
    """A rule that reaches the bar.

    Attributes:
        support: Clusters of the first part that suggested it.
        expected: True if it holds on most sites.
        seen: How many rules had been accepted by then.
    """

    rule: Rule
    support: int = 0
    expected: bool = False
    counts: Tally = field(default_factory=Tally)
    seen: int = 0


@dataclass(slots=True)
class _Suggested:
    labels: set[int]
    values: defaultdict[str, set[str]]


def suggestions(forms: Forms, hosts: HostPages) -> Iterator[tuple[Rule, int]]:
    """Hypotheses, those that most clusters suggest first, and how many clusters of the first part suggest each.

    What a single cluster suggests may be chance. What no cluster of the first part suggests is left for the test.
    """
    suggested: dict[Rule, _Suggested] = {}

    def add(one: Rule, label: int, values: Mapping[str, str]) -> None:
        seen = suggested.setdefault(one, _Suggested(set(), defaultdict(set)))
        seen.labels.add(label)
        for name, value in values.items():
            seen.values[name].add(value)

    kinds: Counter[tuple[object, ...]] = Counter()
    for label, rows in forms.clusters().items():
        cluster = [forms.all[row] for row in rows]
        for source, target in select_pairs(cluster):
            kind = kind_of_pair(source.parts, target.parts)
            kinds[kind] += 1
            if kinds[kind] > MOST_WORDS:
                continue
            for one, values in diff(source.parts, target.parts, hosts):
                add(one, label, values)
    ranked = [(sum(not forms.sides[label] for label in seen.labels), one, seen) for one, seen in suggested.items()]
    ranked = [item for item in ranked if item[0] and len(item[2].labels) > 1]
    ranked.sort(key=lambda item: (-item[0], str(item[1])))
    for support, one, seen in ranked[:_MOST_HYPOTHESES]:
        rule = specialized(one, seen.values, len(seen.labels))
        if rule is not None:
            yield rule, support


def cost_of(rule: Rule) -> float:
    """How many clusters must speak for a rule: two, and more for each condition, and each value that it forgets.

    Each is one more thing that can fit by chance.
    """
    exceptions = sum(scope.startswith("!") for scope in (*rule.hosts, *rule.within)) + len(rule.unless)
    match, to = rule.templates()
    args = (*(match.args if match else ()), *where_of(rule).args)
    narrow = sum(form is None or any(form.literals) or form.is_literal for _, form in args)
    replaced = sum(form is not None and form.is_literal for _, form in to.args) if to else 0
    words = sum(len(c.words) for c in match.captures()) if match and to else 0
    kept = to.names() if to else set()
    forgotten = words + (sum(not c.star and c.name not in kept for c in match.captures()) if match and to else 0)
    conditions = exceptions + narrow + replaced
    return _LEAST_CLUSTERS + _COST_OF_A_CONDITION * conditions + forgotten


_ENDS = re.compile(r"/\{p\*\}/[a-z]")


def is_local(rule: Rule) -> bool:
    """True when most sites have the rule in some part: elsewhere `/jobs/print` may be a job like any other."""
    return bool(_ENDS.match(rule.match)) and "." not in rule.match


def refined(rule: Rule, forms: Forms, price: Price, *, expected: bool) -> Iterator[Rule]:
    """The rule in each context in which it is right, kept to what was seen to make no difference."""
    if not is_valid(rule):
        return
    tried = forms.tried(rule)
    least = 1.0 if expected else cost_of(rule)
    if not tried.right or tried.clusters < least:
        return
    for within, tally in contexts(rule, tried, forms, least):
        if not price.passes(tally, least):
            continue
        if expected and not is_local(within):
            yield anonymous(within)
        else:
            yield from narrowed(within, tally, forms)


def candidates(hypotheses: Iterable[tuple[Rule, int, bool]], forms: Forms, price: Price) -> Iterable[Candidate]:
    """The hypotheses in those contexts in which they reach the bar."""
    by_rule: dict[Rule, Candidate] = {}
    for rule, support, expected in hypotheses:
        for one in refined(rule, forms, price, expected=expected):
            if one not in by_rule and is_valid(one):
                counts = forms.tried(one)
                if _passes(one, counts, price, expected=expected):
                    by_rule[one] = Candidate(one, support, expected, counts)
    return by_rule.values()


def accepted(hypotheses: Iterable[tuple[Rule, int, bool]], forms: Forms, price: Price) -> list[Candidate]:
    """Put hypotheses into contexts and apply those that reach the bar, the one that brings most first (lazy greedy)."""
    queue = [(rank(one), i, one) for i, one in enumerate(candidates(hypotheses, forms, price))]
    heapify(queue)
    taken: list[Candidate] = []
    while queue:
        _, i, best = heappop(queue)
        if best.seen < len(taken):
            again = replace(best, counts=forms.tried(best.rule), seen=len(taken))
            if _passes(best.rule, again.counts, price, expected=best.expected):
                heappush(queue, (rank(again), i, again))
            continue
        forms.apply(best.rule)
        taken.append(best)
    return taken


def _passes(rule: Rule, counts: Tally, price: Price, *, expected: bool) -> bool:
    return counts.right > 0 and price.passes(counts, 1.0 if expected else cost_of(rule))


def rank(one: Candidate) -> tuple[bool, float, int, int, int, str]:
    """Sort key: what a rule brings.

    Of equal ones what leaves those URLs alone that merge with none, a rewrite before what forgets something, the
    shorter one first.
    """
    rule, counts = one.rule, one.counts
    match, to = rule.templates()
    kept = to.names() if to else set()
    forgotten = sum(c.name not in kept for c in match.captures()) if match and to and not to.whole else 0
    return (
        len(rule.drop) > 1,
        -counts.worth,
        sum(flag < 0 for flag in counts.flags),
        rule.to.count("{}") + forgotten,
        len(rule.match) + sum(map(len, rule.within)),
        str(rule),
    )
