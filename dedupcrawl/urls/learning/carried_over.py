"""Rules that were learned before and are not learned again: which of them stay.

A crawl that uses a rule hardly fetches the duplicates that it was learned from, so that its log has little to learn the
rule from again. That is no evidence against it. Different pages that it would merge are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from dedupcrawl.urls.learning.ledger import Ledger, Price
from dedupcrawl.urls.normalizer import SiteNormalizer
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules

# Right merges of those that stay of rules that drop each argument of fifteen mirrors, seeds 3 and 4, while one form did
# not refute: 5,456; with 3 suspects 5,423, 14 5,456; with 10 trials 4,802, 40 5,456.
_MOST_SUSPECTS = 7  # rules that are done without in a trial
_OF_ONE_MERGE = 2  # URLs; of one page that may have changed in between
_MOST_TRIALS = 20  # of which of several rules is to blame; where that was not enough, all that are wrong go


@dataclass(frozen=True, slots=True)
class CarriedOver:
    """Which of a site's carried-over rules stay, and how many the pages of the log speak against."""

    stay: tuple[Rule, ...] = ()
    refuted: int = 0


def judged(  # noqa: PLR0913 - URLs, labels, and numbers with defaults that were measured
    site: str,
    urls: Sequence[str],
    labels: Sequence[int],
    learned: Sequence[Rule],
    before: Sequence[Rule],
    price: Price,
    bits: Mapping[int, int] = MappingProxyType({}),
) -> CarriedOver:
    """Use the carried-over rules of a site on the pages of a log.

    Each is used after all that were learned from this log. One that then has nothing to do any more, and would without
    them, is superfluous. Where different pages come together, more than may be chance and more than one, which may have
    changed in between, all rules that are alone to blame for it are refuted at once; where none is, the rule without
    which the others are best.

    Args:
        site: Of the rules.
        urls: Distinct.
        labels: Cluster of each URL.
        learned: From these URLs, in order.
        before: The carried-over rules.
        price: For right and wrong merges.
        bits: SimHash of each cluster, as far as known: pages that are near speak against no rule.
    """
    known = {rule.effect for rule in learned}
    rest = [rule for rule in before if rule.effect not in known]
    if not rest:
        return CarriedOver()
    ledger = Ledger(site, urls, labels, [0] * len(urls), bits)
    new = [replace(rule, id=f"new-{i}") for i, rule in enumerate(learned)]
    old = {f"old-{i}": rule for i, rule in enumerate(rest)}
    trials = 0
    while True:
        named = {name: replace(rule, id=name) for name, rule in old.items()}
        ledger.apply([*new, *named.values()])
        uses = ledger.uses
        wrong = [
            name
            for name in old
            if sum(uses[name].wrong) > _OF_ONE_MERGE and not price.allows(uses[name].merges, uses[name].blame)
        ]
        if not wrong:
            break
        refuted = [name for name in wrong if ledger.is_alone(name, set(wrong))]
        if not refuted:
            trials += 1
            refuted = wrong
            if trials <= _MOST_TRIALS:
                suspects = sorted(wrong, key=lambda name: (-uses[name].blame, name))[:_MOST_SUSPECTS]
                refuted = [min(suspects, key=lambda name: (-price.worth(*ledger.without(name)), name))]
        for name in refuted:
            del old[name]
    idle = [name for name in old if not uses[name].coverage[0]]
    gone = {name for name in idle if _does([named[name]], ledger) and not _does([*new, named[name]], ledger)}
    return CarriedOver(tuple(rule for name, rule in old.items() if name not in gone), len(rest) - len(old))


def _does(rules: Sequence[Rule], ledger: Ledger) -> bool:
    """Whether the last of the rules changes some URL."""
    normalize = SiteNormalizer(SiteRules(ledger.site, tuple(rules))).normalize
    return any(rules[-1].id in normalize(url).rules for url in ledger.urls)
