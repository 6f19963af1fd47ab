"""From the duplicate clusters of one site to proven rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from dedupcrawl.urls.learning.acceptance import Bar, cost_of
from dedupcrawl.urls.learning.corpus import Corpus
from dedupcrawl.urls.learning.proof import Use, uses
from dedupcrawl.urls.learning.sample import Part, part_of, sampled, sides
from dedupcrawl.urls.learning.search import accept, compiled, expose, search, suggestions
from dedupcrawl.urls.rule import Evidence, Rule
from dedupcrawl.urls.rule_files import SiteRules
from dedupcrawl.urls.url_parts import split_url

_PASSES = 8  # of the proof; each takes at least one rule out, or is the last
_URLS_FOR_FULL_COVERAGE = 200
_EXAMPLES = 3  # of a rule
_LONGEST_EXAMPLE = 300  # characters


def learn_site(
    site: str,
    urls: Sequence[str],
    labels: Sequence[int],
    *,
    importance: Sequence[float] | None = None,
    holdout: float = 0.5,
    seed: int = 0,
    min_precision: float = 0.95,
    min_coverage: int = 10,
) -> SiteRules:
    """Learn the rules of a site and prove them.

    The clusters are split in two. Each part teaches rules that the other part has to prove: so every kept rule was
    proved on clusters that it was not learned from, and no cluster is lost for learning.

    Args:
        site: Registrable domain of all URLs, as `sites.site_of` tells it.
        urls: Distinct URLs, pages without duplicates included: they are the evidence against.
        labels: Cluster of each URL; equal for URLs that lead to one page. Negative ones are left out.
        importance: Of each URL, for the choice of the URLs to learn from; all equal if None.
        holdout: Share of the clusters in the second part.
        seed: Of the split.
        min_precision: Least precision of a rule (Sect. 5 of Koppula et al.) on the clusters held out from it.
        min_coverage: Least number of URLs that a rule applies to; small sites need proportionally less.

    Returns:
        Rules with their evidence, in the order in which they are to be applied; none when nothing could be proved.
    """
    bar = Bar(min_precision)
    where = sides(labels, holdout, seed)
    candidates = _candidates(site, [sampled(part_of(side, where, urls, labels, importance)) for side in (0, 1)], bar)
    least = min(min_coverage, len(urls) // _URLS_FOR_FULL_COVERAGE)
    for _ in range(_PASSES):
        used = uses(site, [one.rule for one in candidates], urls, labels, where)
        proved = [one for one in candidates if one.is_proved_by(used.by_rule[one.rule.id], bar, least)]
        if len(proved) == len(candidates):
            if used.right >= bar.min_right_of_site * (used.right + used.wrong):
                break
            proved.remove(min(proved, key=lambda one: used.by_rule[one.rule.id].precision))
        candidates = proved
    else:
        candidates = []
    return SiteRules(site, tuple(one.with_evidence(used.by_rule[one.rule.id], site, urls) for one in candidates))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A rule before its proof.

    Attributes:
        rule: With an id.
        support: Clusters of either part that suggested its transformation; 0 for a part that did not.
    """

    rule: Rule
    support: tuple[int, int]

    @property
    def provers(self) -> list[int]:
        """The parts that prove the rule: the other ones than those that it was learned from."""
        return [1 - side for side in (0, 1) if self.support[side]]

    def is_proved_by(self, use: Use, bar: Bar, least: int) -> bool:
        """True when a part that it was not learned from bears it out, and both together are evidence enough."""
        return (
            any(use.right[side] for side in self.provers)
            and sum(use.coverage) >= least
            and bar.passes(
                sum(use.right), sum(use.wrong), sum(map(len, use.clusters)), use.collisions, cost_of(self.rule)
            )
        )

    def with_evidence(self, use: Use, site: str, urls: Sequence[str]) -> Rule:
        """The rule as it goes into the file."""
        evidence = Evidence(
            support=sum(self.support),
            coverage=sum(use.coverage[side] for side in self.provers),
            correct=sum(use.right[side] for side in self.provers),
            wrong=sum(use.wrong[side] for side in self.provers),
            collisions=use.collisions,
        )
        tried = (example(self.rule, urls[i], site) for side in self.provers for i in use.examples[side])
        examples = tuple(pair for pair in tried if pair is not None)[:_EXAMPLES]
        return replace(self.rule, source="learned", evidence=evidence, examples=examples)


def _candidates(site: str, samples: Sequence[Part], bar: Bar) -> list[Candidate]:
    """Transformations that the parts teach, each from its own sample, in contexts that fit both."""
    corpora = [Corpus(site, sample.urls, sample.labels) for sample in samples]
    hints = [suggestions(corpus).keys() for corpus in corpora]
    learned = [search(corpora[side], replace(bar, of_part=True), hints[1 - side]) for side in (0, 1)]
    support = [{found.origin: found.counts.clusters for found in part} for part in learned]
    in_turn = dict.fromkeys(found.origin for pair in zip_longest(*learned) for found in pair if found)
    both = Corpus(site, samples[0].urls + samples[1].urls, samples[0].labels + samples[1].labels)
    return [
        Candidate(replace(found.rule, id=f"r{i}"), (support[0].get(found.origin, 0), support[1].get(found.origin, 0)))
        for i, found in enumerate([*expose(both), *accept(list(in_turn), both, bar)], 1)
    ]


def example(rule: Rule, url: str, site: str) -> tuple[str, str] | None:
    """A URL and what this rule alone makes of it; None when it is no example for people or leaves the URL alone."""
    if len(url) > _LONGEST_EXAMPLE or not url.isprintable() or not (parts := split_url(url)):
        return None
    after = compiled(rule).apply(parts, site)
    return None if after is None else (url, after.join())
