"""The search for a site's rules: hypotheses from pairs and from paths, contexts by trees, the best first."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from heapq import heapify, heappop, heappush
from itertools import islice

import numpy as np

from dedupcrawl.urls.compiled_rule import CompiledRule
from dedupcrawl.urls.learning.acceptance import EXPECTED, Bar, cost_of
from dedupcrawl.urls.learning.contexts import Context, Tree, common_context
from dedupcrawl.urls.learning.corpus import Corpus
from dedupcrawl.urls.learning.evidence import Meetings, MeetingTally, meetings, tally
from dedupcrawl.urls.learning.hypotheses import (
    embedded,
    exposing,
    hypotheses,
    hypothesis,
    is_encoded_url,
)
from dedupcrawl.urls.learning.identities import identities
from dedupcrawl.urls.learning.irrelevant import with_known_arguments
from dedupcrawl.urls.learning.mirrors import NO_RANKS, HostRanks
from dedupcrawl.urls.learning.pairs import select_pairs
from dedupcrawl.urls.learning.scopes import scoped
from dedupcrawl.urls.learning.token_texts import Ints
from dedupcrawl.urls.learning.transformation import Transformation
from dedupcrawl.urls.rule import Rule, RuleError

_MOST_HYPOTHESES = 30  # that are tried, those with the most clusters first
_WORTH_EXPOSING = 10  # clusters
_CLUSTERS_ASKED = 200
_NAMED = re.compile(r"/[^/?{]|\?|\{:token\}")  # in a template: a segment that is not left open, or an argument
_LOOKED_INTO = 3  # forms of a cluster that are searched for URLs in URLs
_WRONG_COSTS = 25  # forms rightly brought together that one wrong one outweighs, when rules are put in order
_UNMET_COSTS = 0.1  # ... and one that nothing is known of
_NO_ROWS = np.zeros(0, dtype=np.int64)


Known = dict[tuple[str, str], tuple[Transformation, ...]]
"""What pairs of URLs, source and target, suggest: most are met again when the next round of rules is learned."""


@lru_cache(maxsize=4096)
def compiled(rule: Rule) -> CompiledRule:
    """The rule, compiled once: hypotheses come back from round to round."""
    return CompiledRule(rule)


@dataclass(frozen=True, slots=True)
class Found:
    """A rule that was accepted.

    Attributes:
        rule: Within its context.
        origin: The hypothesis that it was made of.
        counts: What it did to the corpus at the time.
        unmet: Forms that it changed to what no other form is changed to: nothing speaks for or against these.
        seen: How many rules had been applied when the counts were taken.
    """

    rule: Rule
    origin: Rule
    counts: MeetingTally
    unmet: int = 0
    seen: int = 0


def expose(corpus: Corpus) -> list[Found]:
    """Decode what many URLs of the site carry in them, so that what follows can look into it. Applies the rules."""
    suggested: dict[Transformation, set[int]] = defaultdict(set)
    for form in corpus.with_segment(is_encoded_url):
        transformation = exposing(form.parts)
        if transformation is not None:
            suggested[transformation].add(form.label)
    found = []
    for transformation, labels in sorted(suggested.items(), key=lambda item: (-len(item[1]), item[0])):
        rule = hypothesis(*transformation)
        counts = _try(rule, corpus)[1]
        if len(labels) >= _WORTH_EXPOSING and not counts.wrong:
            corpus.apply(compiled(rule))
            found.append(Found(rule, rule, replace(counts, clusters=len(labels), collisions=0)))
    return found


def accept(likely: Sequence[Rule], corpus: Corpus, bar: Bar, expected: Sequence[Rule] = ()) -> list[Found]:
    """Put hypotheses into their contexts and apply those that reach the bar, always the one that brings most.

    What a rule brings is less once others have been applied, so only the best one is looked at again (lazy greedy).
    """
    accepted: list[Found] = []
    usual = frozenset(expected)
    found = {one.rule: one for rule in likely for one in _refined(rule, corpus, bar, usual)}
    queue = [(rank(one), one) for one in found.values()]
    heapify(queue)
    changes = 0
    while queue:
        _, one = heappop(queue)
        if one.seen < changes:
            met, counts = _try(one.rule, corpus)
            known = EXPECTED if one.origin in usual else 0.0
            if bar.accepts(counts, known):  # there may be less to do for it than when it was found
                again = replace(one, counts=counts, unmet=_unmet(met), seen=changes)
                heappush(queue, (rank(again), again))
            continue
        corpus.apply(compiled(one.rule))
        accepted.append(one)
        changes += 1
    return accepted


def rank(found: Found) -> tuple[bool, float, int, int, str]:
    """Sort key: simple rules before those that take several arguments out at once, then by what they bring.

    Of two that bring the same, a rewrite is better than a wildcard or a rule that forgets what it captures (that
    `/mobile/{p*}` is `/{p*}` says more than that it is its last segment), and a shorter rule than a longer one.
    """
    rule, counts = found.rule, found.counts
    worth = counts.right - _WRONG_COSTS * counts.wrong - _UNMET_COSTS * found.unmet
    match, to = rule.templates()
    kept = to.names() if to else set()
    forgotten = sum(one.name not in kept for one in match.captures()) if match and to and not to.whole else 0
    lost = rule.to.count("{}") + rule.drop.count("*") + forgotten
    return len(rule.drop) > 1, -worth, lost, len(rule.match) + len(rule.within), str(rule)


def suggestions(
    corpus: Corpus, parts: Sequence[Container[int]], known: Known, hosts: HostRanks = NO_RANKS
) -> dict[Transformation, set[int]]:
    """Hypotheses, and the clusters that suggest them.

    Args:
        corpus: The URLs.
        parts: Clusters; of each part as many are asked.
        known: What pairs of URLs of the site have suggested before, to be filled in.
        hosts: Which host of a page is the target.
    """
    suggested: dict[Transformation, set[int]] = defaultdict(set)
    clusters = corpus.clusters()
    asked: list[Ints] = []
    for labels in parts:
        there = [rows for label, rows in clusters.items() if label in labels]
        asked += there[:: -(-len(there) // _CLUSTERS_ASKED) or 1]
    forms = iter(corpus.forms(np.concatenate([_NO_ROWS, *asked])))
    for rows in asked:
        cluster = list(islice(forms, len(rows)))
        for source, target in select_pairs(cluster):
            pair = source.text, target.text
            made = known.get(pair)
            if made is None:
                made = known[pair] = tuple(dict.fromkeys(hypotheses(source.parts, target.parts, hosts)))
            for found in made:
                suggested[found].add(source.label)
        for form in cluster[:_LOOKED_INTO]:
            for found in embedded(form.parts):
                suggested[found].add(form.label)
    for found, clusters_of in identities(corpus):
        suggested[found] |= clusters_of
    return suggested


def likely(
    suggested: dict[Transformation, set[int]], taught: dict[Transformation, int], expected: Sequence[Rule]
) -> list[Rule]:
    """The hypotheses that are worth a try, those that most clusters teach first.

    Args:
        suggested: As from `suggestions`; one that a single cluster suggests may be chance.
        taught: How many of these clusters are of the part that teaches; the others do not count.
        expected: Hypotheses that hold on most sites.
    """
    ranked = [one for one, count in taught.items() if count and len(suggested[one]) > 1]
    ranked.sort(key=lambda one: (-taught[one], one))
    return list(dict.fromkeys([*(hypothesis(*one) for one in ranked[:_MOST_HYPOTHESES]), *expected]))


def _refined(rule: Rule, corpus: Corpus, bar: Bar, expected: Container[Rule]) -> list[Found]:
    """The rule in each context in which the evidence is good enough for it."""
    try:
        found, everywhere = _try(rule, corpus)
    except RuleError:
        return []
    known, origin = EXPECTED if rule in expected else 0.0, rule
    cost = cost_of(rule) + known
    if not everywhere.right or not bar.is_within_reach(everywhere, cost):
        return []
    if rule.drop == ("*",):
        known_rule = with_known_arguments(rule, found, corpus)
        if known_rule is None:
            return []
        if known_rule is not rule:
            rule = known_rule
            found, everywhere = _try(rule, corpus)
    joint = () if rule is not origin else tuple(name for name in rule.drop if name != "*")
    refined = []
    for context in Tree(found, corpus.labels, corpus.keys, bar, cost, joint).contexts():
        within = scoped(rule, context) if context else rule
        if within is None:
            continue
        tried = _try(within, corpus) if context else (found, everywhere)
        if not bar.accepts(tried[1], cost_of(within) + known):
            continue
        if not rule.match.startswith(("//", "http")):  # mirrors are one site, and seldom crawled as a whole
            within, tried = _narrowed(rule, context, within, tried, found, corpus)
            if _merges_anything(within):
                continue
        if tried[1].clusters:
            refined.append(Found(within, origin, tried[1], _unmet(tried[0])))
    return refined


def _narrowed(
    rule: Rule,
    context: Context,
    within: Rule,
    tried: tuple[Meetings, MeetingTally],
    everywhere: Meetings,
    corpus: Corpus,
) -> tuple[Rule, tuple[Meetings, MeetingTally]]:
    """The rule, kept to what all evidence for it has in common.

    A segment that takes any value tells pages apart nearly everywhere. So its evidence is compared with all that the
    transformation is for (`everywhere`), and exceptions do not count for a context: not `/{}/blog-{}` leaves all else.
    """
    any_segment = _takes_any_segment(within)
    covered = everywhere.covered if any_segment else tried[0].covered
    taken = {condition.key for condition in context if condition.holds or not any_segment}
    right = tried[0].sources.rows[tried[1].flags == 1]
    clusters = len(np.unique(corpus.labels.first[right]))
    common = common_context(right, covered, corpus.keys, clusters, taken, kinds=any_segment)
    if not common:
        return within, tried
    held = tuple(condition for condition in context if condition.key in taken)
    for some in dict.fromkeys([held, context]):  # exceptions stay when without them more is wrong
        narrower = scoped(rule, (*some, *common))
        if narrower is not None:
            found = _try(narrower, corpus)
            if some == context or found[1].wrong <= tried[1].wrong:
                return narrower, found
    return within, tried


def _takes_any_segment(rule: Rule) -> bool:
    return "/{}" in rule.to


def _merges_anything(rule: Rule) -> bool:
    """True when a segment takes any value, and nothing says of which pages: no path, and no segment or argument."""
    said = any(not scope.startswith("!") for scope in rule.within) or _NAMED.search(rule.match)
    return _takes_any_segment(rule) and not said


def _try(rule: Rule, corpus: Corpus) -> tuple[Meetings, MeetingTally]:
    found = meetings(compiled(rule), corpus)
    return found, tally(found.sources, found.targets, corpus.labels)


def _unmet(found: Meetings) -> int:
    return len(found.covered) - len(found.sources.rows)
