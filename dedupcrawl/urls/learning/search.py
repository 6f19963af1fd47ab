"""The search for a site's rules: hypotheses from pairs, contexts by trees, the best first, again on what is left."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from dedupcrawl.urls.compiled_rule import CompiledRule
from dedupcrawl.urls.learning.acceptance import Bar, cost_of
from dedupcrawl.urls.learning.contexts import Tree, common_context
from dedupcrawl.urls.learning.corpus import Corpus
from dedupcrawl.urls.learning.evidence import Meetings, Tally, meetings, tally
from dedupcrawl.urls.learning.hypotheses import embedded, hypotheses
from dedupcrawl.urls.learning.pairs import select_pairs
from dedupcrawl.urls.learning.scopes import scoped
from dedupcrawl.urls.rule import Rule, RuleError

_ROUNDS = 6
_MOST_HYPOTHESES = 150  # that are tried in a round, those with the most clusters first
_WRONG_COSTS = 25  # forms rightly brought together that one wrong one outweighs, when rules are put in order


@dataclass(frozen=True, slots=True)
class Found:
    """A rule and what it did to the corpus when it was accepted."""

    rule: Rule
    counts: Tally


def search(corpus: Corpus, bar: Bar) -> list[Found]:
    """Rules for the site of a corpus, in the order in which they are to be applied. Uses the corpus up.

    Each accepted rule is applied before the next is looked at, so that a rule is judged by what those before it left
    to do, and later rounds see pairs that differ in less.
    """
    accepted: list[Found] = []
    for number in range(_ROUNDS):
        found = [one for rule in _hypotheses(corpus, first=not number) for one in _refined(rule, corpus, bar)]
        chosen = choose((one.rule for one in sorted(found, key=rank)), corpus, bar)
        accepted += chosen
        if not chosen:
            break
    return accepted


def choose(rules: Iterable[Rule], corpus: Corpus, bar: Bar) -> list[Found]:
    """Apply the rules to the corpus one after the other; those that still have something to do, and do it well."""
    chosen = []
    for rule in rules:
        compiled = CompiledRule(rule)
        found = meetings(compiled, corpus)
        counts = tally(found.sources, found.targets)
        if bar.passes(counts, 0.0):
            corpus.apply(compiled)
            chosen.append(Found(rule, counts))
    return chosen


def rank(found: Found) -> tuple[bool, int, int, str]:
    """Sort key: simple rules before those that take several arguments out at once, then by what they bring."""
    rule, counts = found.rule, found.counts
    return len(rule.drop) > 1, _WRONG_COSTS * counts.wrong - counts.right, len(rule.match) + len(rule.within), str(rule)


def _hypotheses(corpus: Corpus, first: bool) -> list[Rule]:
    """Hypotheses that at least two clusters suggest, those that most suggest first."""
    suggested: dict[Rule, set[int]] = defaultdict(set)
    for cluster in corpus.clusters():
        for source, target in select_pairs(cluster):
            for rule in hypotheses(source.parts, target.parts):
                suggested[rule].add(source.label)
    if first:
        for form in corpus.forms.values():
            for rule in embedded(form.parts):
                suggested[rule].add(form.label)
    likely = [rule for rule, labels in suggested.items() if len(labels) > 1]
    likely.sort(key=lambda rule: (-len(suggested[rule]), str(rule)))
    return likely[:_MOST_HYPOTHESES]


def _refined(rule: Rule, corpus: Corpus, bar: Bar) -> list[Found]:
    """The rule in each context in which the evidence is good enough for it."""
    try:
        found = meetings(CompiledRule(rule), corpus)
    except RuleError:
        return []
    if not tally(found.sources, found.targets).right:
        return []
    cost = cost_of(rule)
    joint = tuple(name for name in rule.drop if name != "*")
    refined = []
    for context in Tree(found.targets, lambda counts, more: bar.passes(counts, cost + more), joint).contexts(
        found.sources
    ):
        within = scoped(rule, context) if context else rule
        if within is None:
            continue
        tried = _try(within, corpus) if context else (found, tally(found.sources, found.targets))
        if not bar.passes(tried[1], cost_of(within)):
            continue
        right = [form for (_, form), flag in zip(tried[0].sources, tried[1].flags, strict=True) if flag]
        common = common_context(right, tried[0].covered, {condition.key for condition in context})
        narrower = scoped(within, common) if common else None
        if narrower is not None:
            within, tried = narrower, _try(narrower, corpus)
        if tried[1].clusters:
            refined.append(Found(within, tried[1]))
    return refined


def _try(rule: Rule, corpus: Corpus) -> tuple[Meetings, Tally]:
    found = meetings(CompiledRule(rule), corpus)
    return found, tally(found.sources, found.targets)
