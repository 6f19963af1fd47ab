"""From the duplicate clusters of one site to proven rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dedupcrawl.urls.learning.acceptance import Bar, cost_of
from dedupcrawl.urls.learning.corpus import Corpus
from dedupcrawl.urls.learning.evidence import Tally
from dedupcrawl.urls.learning.proof import Use, uses
from dedupcrawl.urls.learning.sample import halves, sampled
from dedupcrawl.urls.learning.search import choose, rank, search, suggestions
from dedupcrawl.urls.rule import Evidence, Rule
from dedupcrawl.urls.rule_files import SiteRules

_PASSES = 4
_URLS_FOR_FULL_COVERAGE = 200
_EXAMPLES = 3


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
    parts = halves(urls, labels, importance, holdout, seed)
    samples = [sampled(part) for part in parts]
    corpora = [Corpus(site, sample.urls, sample.labels) for sample in samples]
    hints = [suggestions(corpus).keys() for corpus in corpora]
    learned = [search(corpora[i], replace(bar, of_part=True), hints[1 - i]) for i in (0, 1)]
    everything = Corpus(site, samples[0].urls + samples[1].urls, samples[0].labels + samples[1].labels)
    candidates = [found.rule for found in sorted((*learned[0], *learned[1]), key=rank)]
    rules = [replace(found.rule, id=f"r{i}") for i, found in enumerate(choose(candidates, everything, bar), 1)]
    least = min(min_coverage, len(urls) // _URLS_FOR_FULL_COVERAGE)
    teachers = [{_what_it_does(found.rule): found.counts for found in part} for part in learned]
    for _ in range(_PASSES):
        used = [uses(site, rules, part.urls, part.labels) for part in parts]
        kept = [rule for rule in rules if _is_proved(rule, teachers, used, bar, least)]
        if len(kept) == len(rules):
            break
        rules = kept
    return SiteRules(site, tuple(_with_evidence(rule, teachers, used) for rule in rules))


def _what_it_does(rule: Rule) -> Rule:
    return replace(rule, id="")


def _held_out(rule: Rule, teachers: list[dict[Rule, Tally]], used: list[dict[str, Use]]) -> list[Use]:
    """The uses of a rule in the parts that prove it: the other part than the one it was learned from."""
    key = _what_it_does(rule)
    return [used[1 - part].get(rule.id, Use()) for part in (0, 1) if key in teachers[part]]


def _is_proved(rule: Rule, teachers: list[dict[Rule, Tally]], used: list[dict[str, Use]], bar: Bar, least: int) -> bool:
    """True when the part that the rule was not learned from bears it out, and both together are evidence enough."""
    both = [part.get(rule.id, Use()) for part in used]
    return (
        any(use.right for use in _held_out(rule, teachers, used))
        and sum(use.coverage for use in both) >= least
        and bar.passes(
            sum(use.right for use in both),
            sum(use.wrong for use in both),
            sum(len(use.clusters) for use in both),
            sum(use.collisions for use in both),
            cost_of(rule),
        )
    )


def _with_evidence(rule: Rule, teachers: list[dict[Rule, Tally]], used: list[dict[str, Use]]) -> Rule:
    key = _what_it_does(rule)
    held_out = _held_out(rule, teachers, used)
    evidence = Evidence(
        support=sum(part[key].clusters for part in teachers if key in part),
        coverage=sum(use.coverage for use in held_out),
        correct=sum(use.right for use in held_out),
        wrong=sum(use.wrong for use in held_out),
        collisions=sum(use.collisions for use in held_out),
    )
    examples = tuple(pair for use in held_out for pair in use.examples)[:_EXAMPLES]
    return replace(rule, source="learned", evidence=evidence, examples=examples)
