"""When the evidence for a rule is good enough."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from dedupcrawl.urls.learning.evidence import MeetingTally, lower_bound
from dedupcrawl.urls.learning.meeting_counts import Counts
from dedupcrawl.urls.rule import Rule

# A wrong merge loses a page for ever: for merges, the bar is so much nearer to 1 than `min_precision` for coverage.
_RULE_SHARE = 1.0  # of a single rule
_SITE_SHARE = 0.1  # of all rules of a site together
_DEVIATIONS = 1.0  # standard deviations over the share of a rule, that may be chance
_SITE_DEVIATIONS = 2.5  # ... over that of a site: more than that is chance once in a hundred sites
_SMALLEST_SHARE = 1e-6  # of wrong ones, that is weighed against right ones where none is allowed
_LEAST_CLUSTERS = 2.0
_LEAST_BOUND = 0.72  # lower confidence bound of the share of clusters without a collision


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
        return 1.0 - (1.0 - self.min_precision) * _RULE_SHARE

    @property
    def min_right_of_site(self) -> float:
        """Least share of right ones among all URLs that the rules of a site bring together."""
        return 1.0 - (1.0 - self.min_precision) * _SITE_SHARE

    def holds(self, right: int, wrong: float) -> bool:
        """True when so many wrong ones of a rule may be chance: at most one standard deviation over what is allowed."""
        return _may_be_chance(wrong, (1.0 - self.min_right) * (right + wrong), _DEVIATIONS)

    def holds_for_site(self, right: int, wrong: int) -> bool:
        """The same of all rules of a site together: at most two and a half standard deviations."""
        return _may_be_chance(wrong, (1.0 - self.min_right_of_site) * (right + wrong), _SITE_DEVIATIONS)

    def worth(self, counts: Counts) -> float:
        """What rules of a site bring together rightly, less what they do wrongly: more is better."""
        return counts.right - counts.wrong / max(1.0 - self.min_right_of_site, _SMALLEST_SHARE)

    def passes(self, right: int, wrong: float, clusters: int, collisions: int, cost: float = 0.0) -> bool:
        """True when these counts are enough for a rule of this cost. The names are those of `evidence.MeetingTally`.

        A negative cost counts as clusters that have been seen elsewhere.
        """
        return (
            clusters >= max(1.0, _LEAST_CLUSTERS + cost)
            and right >= self.min_right * (right + wrong)
            and lower_bound(clusters + max(0.0, -cost), collisions) >= _LEAST_BOUND
        )

    def accepts(self, counts: MeetingTally, cost: float = 0.0) -> bool:
        """`passes`, for a tally."""
        return self.passes(counts.right, counts.wrong, counts.clusters, counts.collisions, cost)

    def is_within_reach(self, counts: MeetingTally, cost: float = 0.0) -> bool:
        """False when no part of these meetings can pass: there are too few clusters, whatever is left out."""
        return counts.clusters + counts.collisions >= max(1.0, _LEAST_CLUSTERS + cost)


def _may_be_chance(wrong: float, allowed: float, deviations: float) -> bool:
    return wrong <= allowed + deviations * sqrt(allowed)


EXPECTED = -2.0  # cost of a rule that holds on most sites


def cost_of(rule: Rule) -> float:
    """How much freedom a rule has, in clusters that it takes to make up for it."""
    exceptions = sum(scope.startswith("!") for scope in (*rule.hosts, *rule.within))
    cost = 0.5 * (len(rule.hosts) + len(rule.within) - exceptions) + 2.0 * exceptions + len(rule.unless)
    if rule.drop == ("*",) or (rule.drop and rule.match.startswith("/")):  # an identity: each name has its evidence
        return cost + 0.5
    if rule.drop:
        return cost + 0.5 * (len(rule.drop) - 1) + rule.match.count("=")
    if rule.to:
        return cost + 2.0 * rule.to.count("/{}") + 0.5 * rule.match.count("={}")
    return cost
