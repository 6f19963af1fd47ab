"""From the duplicate clusters of one site to proven rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dedupcrawl.urls.learning.acceptance import Bar, cost_of
from dedupcrawl.urls.learning.corpus import Corpus
from dedupcrawl.urls.learning.proof import Proof, Use
from dedupcrawl.urls.learning.sample import Part, part_of, sampled, sides
from dedupcrawl.urls.learning.search import accept, compiled, expose, search, suggestions
from dedupcrawl.urls.rule import Evidence, Rule
from dedupcrawl.urls.rule_files import SiteRules
from dedupcrawl.urls.url_parts import split_url

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

    The clusters are split in two. The first part teaches transformations, which the second has to prove; contexts are
    then fitted to both parts, as the narrowness of a context is a question of evidence against, which is rare.

    Args:
        site: Registrable domain of all URLs, as `sites.site_of` tells it.
        urls: Distinct URLs, pages without duplicates included: they are the evidence against.
        labels: Cluster of each URL; equal for URLs that lead to one page. Negative ones are left out.
        importance: Of each URL, for the choice of the URLs to learn from; all equal if None.
        holdout: Share of the clusters in the second part, which proves.
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
    proof = Proof(site, urls, labels, where)
    while candidates:
        proof.apply([one.rule for one in candidates])
        used = proof.uses()
        proved = [one for one in candidates if one.is_proved_by(used.by_rule[one.rule.id], bar, least)]
        if len(proved) == len(candidates):
            if used.right >= bar.min_right_of_site * (used.right + used.wrong):
                return SiteRules(
                    site, tuple(one.with_evidence(used.by_rule[one.rule.id], site, urls) for one in proved)
                )
            proved.remove(min(proved, key=lambda one: used.by_rule[one.rule.id].precision))
        candidates = proved
    return SiteRules(site, ())


@dataclass(frozen=True, slots=True)
class Candidate:
    """A rule before its proof.

    Attributes:
        rule: With an id.
        support: Clusters of the first part that taught its transformation.
    """

    rule: Rule
    support: int

    def is_proved_by(self, use: Use, bar: Bar, least: int) -> bool:
        """True when the part that it was not learned from bears it out, and both together are evidence enough."""
        return (
            use.right[1] > 0
            and sum(use.coverage) >= least
            and bar.passes(
                sum(use.right), sum(use.wrong), sum(map(len, use.clusters)), use.collisions, cost_of(self.rule)
            )
        )

    def with_evidence(self, use: Use, site: str, urls: Sequence[str]) -> Rule:
        """The rule as it goes into the file."""
        tried = (example(self.rule, urls[i], site) for i in use.examples)
        return replace(
            self.rule,
            source="learned",
            evidence=Evidence(self.support, use.coverage[1], use.right[1], use.wrong[1], use.collisions),
            examples=tuple(pair for pair in tried if pair is not None)[:_EXAMPLES],
        )


def _candidates(site: str, samples: Sequence[Part], bar: Bar) -> list[Candidate]:
    """Transformations that the first part teaches, in contexts that fit both parts."""
    first, second, both = (Corpus(site, sample.urls, sample.labels) for sample in (*samples, samples[0] + samples[1]))
    learned = search(first, replace(bar, of_part=True), suggestions(second).keys())
    support: dict[Rule, int] = {}
    for found in learned:
        support[found.origin] = max(found.counts.clusters, support.get(found.origin, 0))
    accepted = [*expose(both), *accept(list(support), both, bar)]
    return [Candidate(replace(f.rule, id=f"r{i}"), support.get(f.origin, 0)) for i, f in enumerate(accepted, 1)]


def example(rule: Rule, url: str, site: str) -> tuple[str, str] | None:
    """A URL and what this rule alone makes of it; None when it is no example for people or leaves the URL alone."""
    if len(url) > _LONGEST_EXAMPLE or not url.isprintable() or not (parts := split_url(url)):
        return None
    after = compiled(rule).apply(parts, site)
    return None if after is None else (url, after.join())
