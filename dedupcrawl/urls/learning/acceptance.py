"""When the evidence for a rule is good enough."""

from __future__ import annotations

from dataclasses import dataclass

from dedupcrawl.urls.learning.evidence import Tally, lower_bound
from dedupcrawl.urls.rule import Rule

_MERGE_SHARE = 0.3  # a wrong merge loses a page for ever: the bar for merges is so much nearer to 1 than for coverage
_LEAST_BOUND = 0.72  # lower confidence bound of the share of clusters without a collision
_LEAST_CLUSTERS = 2.0


@dataclass(frozen=True, slots=True)
class Bar:
    """What a rule must reach.

    A rule with more freedom needs more clusters to speak for it: each condition of its context and each value that it
    declares irrelevant is one more thing that can fit by chance.

    Attributes:
        min_precision: Precision of a rule as in Sect. 5 of Koppula et al.
    """

    min_precision: float

    @property
    def min_right(self) -> float:
        """Least share of right ones among the forms that a rule brings together."""
        return 1.0 - (1.0 - self.min_precision) * _MERGE_SHARE

    def passes(self, counts: Tally, cost: float) -> bool:
        """True when these counts are enough for a rule of this cost."""
        return (
            counts.clusters >= _LEAST_CLUSTERS + cost
            and counts.precision >= self.min_right
            and lower_bound(counts.clusters, counts.collisions) >= _LEAST_BOUND
        )


def cost_of(rule: Rule) -> float:
    """How much freedom a rule has, in clusters that it takes to make up for it."""
    cost = 0.5 * len(rule.hosts) + 0.5 * len(rule.within) + len(rule.unless)
    if rule.drop:
        return cost + 0.5 * (len(rule.drop) - 1) + rule.match.count("=")
    if rule.to:
        return cost + 2.0 * rule.to.count("/{}") + 0.5 * rule.match.count("={}")
    return cost
