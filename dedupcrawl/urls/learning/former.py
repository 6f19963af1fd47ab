"""Rules that were learned before and are not learned again: which of them stay.

A crawl that uses a rule hardly fetches the duplicates that it was learned from, so that its log has little to learn the
rule from again. That is no evidence against it. Different pages that it would merge are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dedupcrawl.urls.learning.acceptance import Bar
from dedupcrawl.urls.learning.proof import Proof, Use
from dedupcrawl.urls.learning.suspects import worst_of
from dedupcrawl.urls.rule import Rule

_LEAST_COLLISIONS = 2  # forms at which different pages meet: as many as clusters that a rule needs
_MOST_TRIALS = 20  # of which of several rules is to blame; where that was not enough, all that are wrong go


@dataclass(frozen=True, slots=True)
class Former:
    """What became of a site's former rules.

    Attributes:
        stay: Those that stay beside the new ones.
        refuted: How many the pages of the log speak against.
    """

    stay: tuple[Rule, ...] = ()
    refuted: int = 0


def judged(
    site: str, urls: Sequence[str], labels: Sequence[int], learned: Sequence[Rule], before: Sequence[Rule], bar: Bar
) -> Former:
    """Use the former rules of a site on the pages of a log.

    Each is used after all that were learned from this log. One that then has nothing to do any more, and would without
    them, is superfluous. Where different pages come together, more than `bar` puts down to chance, all rules that are
    alone to blame for it are refuted at once; where none is, the rule without which the others are best.

    Args:
        site: Of the rules.
        urls: Distinct.
        labels: Cluster of each URL.
        learned: From these URLs, in order.
        before: The former rules.
        bar: For right and wrong meetings.
    """
    known = {rule.effect for rule in learned}
    rest = [rule for rule in before if rule.effect not in known]
    if not rest:
        return Former()
    proof = Proof(site, urls, labels, [0] * len(urls))
    new = [replace(rule, id=f"new-{i}") for i, rule in enumerate(learned)]
    old = {f"old-{i}": rule for i, rule in enumerate(rest)}
    trials = 0
    while True:
        named = {name: replace(rule, id=name) for name, rule in old.items()}
        proof.apply([*new, *named.values()])
        used = proof.uses().by_rule
        wrong = [
            name
            for name, use in used.items()
            if name in old and use.collisions >= _LEAST_COLLISIONS and not bar.holds(use.right[0], use.wrong[0])
        ]
        if not wrong:
            break
        refuted = _surely(wrong, used, proof, bar)
        if not refuted:
            trials += 1
            refuted = [worst_of(wrong, used, proof, bar)] if trials <= _MOST_TRIALS else wrong
        for name in refuted:
            del old[name]
    idle = [name for name in old if not used[name].coverage[0]]
    gone = {name for name in idle if _does([named[name]], proof) and not _does([*new, named[name]], proof)}
    return Former(tuple(rule for name, rule in old.items() if name not in gone), len(rest) - len(old))


def _surely(wrong: Sequence[str], used: Mapping[str, Use], proof: Proof, bar: Bar) -> list[str]:
    """Those that are refuted whichever others go: by what none of the others has a part in."""
    alone = proof.wrong_alone(wrong)
    return [
        name
        for name in wrong
        if alone[name].collisions >= _LEAST_COLLISIONS and not bar.holds(used[name].right[0], alone[name].wrong[0])
    ]


def _does(rules: Sequence[Rule], proof: Proof) -> bool:
    """Whether the last of the rules changes some URL."""
    proof.apply(rules)
    return proof.uses().by_rule[rules[-1].id].coverage[0] > 0
