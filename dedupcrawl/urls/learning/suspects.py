"""Which rule is to blame for what several have done together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dedupcrawl.urls.learning.acceptance import Bar
from dedupcrawl.urls.learning.proof import Proof, Use

_MOST_SUSPECTS = 6  # rules that are tried without


def worst_of(names: Iterable[str], used: Mapping[str, Use], proof: Proof, bar: Bar) -> str:
    """The rule without which the others are best: what they bring together rightly, less what they do wrongly.

    A URL is often changed by several rules, so that the counts of a single rule do not say which of them is to blame.

    Args:
        names: Ids of rules that `proof` has applied, one at least; those with the most wrong URLs are tried.
        used: What each has done.
        proof: Of all rules.
        bar: For right and wrong meetings.
    """
    suspects = sorted(names, key=lambda name: -sum(used[name].wrong))[:_MOST_SUSPECTS]
    return max(suspects, key=lambda name: bar.worth(proof.without(name)))
