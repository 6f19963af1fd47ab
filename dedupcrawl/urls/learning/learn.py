"""From the duplicate clusters of one site to proven rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from dedupcrawl.urls.learning.acceptance import EXPECTED, Bar, cost_of
from dedupcrawl.urls.learning.context_keys import Patterns
from dedupcrawl.urls.learning.corpus import Corpus
from dedupcrawl.urls.learning.doubts import narrowed
from dedupcrawl.urls.learning.mirrors import HostRanks, host_ranks
from dedupcrawl.urls.learning.priors import GENERAL, Priors, is_local
from dedupcrawl.urls.learning.proof import Proof, Use
from dedupcrawl.urls.learning.sample import SitePart, part_of, sampled, sides
from dedupcrawl.urls.learning.search import Known, accept, compiled, expose, likely, suggestions
from dedupcrawl.urls.learning.seen_paths import as_found, is_of_paths, kept_to_seen_paths
from dedupcrawl.urls.learning.seen_places import is_of_arguments, kept_to_seen_places
from dedupcrawl.urls.learning.seen_sections import is_of_sections
from dedupcrawl.urls.learning.seen_values import kept_to_seen, open_arguments
from dedupcrawl.urls.learning.suspects import worst_of
from dedupcrawl.urls.learning.transformation import Transformation
from dedupcrawl.urls.rule import Evidence, Rule
from dedupcrawl.urls.rule_files import SiteRules
from dedupcrawl.urls.url_parts import split_url

_MOST_URLS = 2_000_000  # of a site: their number to the third fits 63 bits, as `UrlMeetings.of` needs
_FULL_COVERAGE = 10  # URLs that a rule is for on a large site
_URLS_FOR_FULL_COVERAGE = 200  # of the site, for each of these
_SHARE_OF_A_RULE = 400  # of the redundant URLs of a site that a rule is to bring together, one in so many
_RIGHT_GIVEN_UP = 8.0  # right URLs that a rule gives up for a wrong one, by an exception
_RIGHT_GIVEN_UP_OF_THE_WORST = 20.0  # ... where all rules together are not precise enough
_EXAMPLES = 3  # of a rule
_TAUGHT_ON = 1200  # URLs of each part that rules are learned from; more of a large part
_ROUNDS = 3  # of learning on what the rules proved so far leave to do
_REAL_TARGETS = 0.5  # share of the URLs of a rule whose target is a URL of the site
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
    min_coverage: int | None = None,
    priors: Priors = GENERAL,
) -> SiteRules:
    """Learn the rules of a site and prove them.

    The clusters are split in two. The first part teaches transformations, which the second has to prove; contexts are
    then fitted to both parts, as the narrowness of a context is a question of evidence against, which is rare.

    That is done again on what the proved rules leave, and with the URLs that should not have met in the proof.

    Args:
        site: Registrable domain of all URLs, as `sites.site_of` tells it.
        urls: Distinct URLs, pages without duplicates included: they are the evidence against. At most two million.
        labels: Cluster of each URL; equal for URLs that lead to one page. Negative ones are left out.
        importance: Of each URL, for the choice of the URLs to learn from; all equal if None.
        holdout: Share of the clusters in the second part, which proves.
        seed: Of the split.
        min_precision: Least share of right ones among the URLs that a rule brings together, of both parts; the second
            part has to have some of them.
        min_coverage: Least number of URLs of the second part that a rule applies to, whatever rule it is. If None, ten
            of both parts, proportionally less on small sites, and none for what is known of URLs in general.
        priors: What is known of URLs in general.

    Returns:
        Rules with their evidence, in the order in which they are to be applied; none when nothing could be proved.

    Raises:
        ValueError: When there are more URLs.
    """
    if len(urls) > _MOST_URLS:
        raise ValueError(
            f"{site}: rules are learned from at most {_MOST_URLS:,} URLs, not {len(urls):,}: take a sample"
        )
    bar = Bar(min_precision)
    where = sides(labels, holdout, seed)
    parts = [part_of(side, where, labels, importance) for side in (0, 1)]
    samples = [sampled(part, urls, _TAUGHT_ON) for part in parts]
    shares = [sample.share for sample in samples]
    proof = Proof(site, urls, labels, where)
    least = Least(
        min(_FULL_COVERAGE, len(urls) // _URLS_FOR_FULL_COVERAGE) if min_coverage is None else 0,
        (len(urls) - len(set(labels))) // _SHARE_OF_A_RULE,
        min_coverage or 0,
    )
    support: dict[Rule, int] = {}
    known: Known = {}
    hosts = host_ranks(proof.columns, np.array(labels, dtype=np.int64))
    proved = [Candidate(rule, 0) for rule in priors.assumed]
    for number in range(_ROUNDS):
        corpus = _corpus(site, proof, samples, proved)
        if number and not corpus.clusters():
            break
        taught = _taught(corpus, samples, priors, known, hosts)
        for rule, count in taught.items():
            support[rule] = max(count, support.get(rule, 0))
        found = _fitted(corpus, list(taught), support, bar, priors, number)
        if not found and number:
            break
        proof.next_round()
        before, proved = proved, _proved([*proved, *found], proof, urls, bar, least, corpus.patterns)
        if not found or (number and proved == before):
            break
        samples = [one + other for one, other in zip(samples, proof.collisions(shares), strict=True)]
    proved = _kept_to_seen(site, proved, proof, bar, least)
    used = proof.uses()
    return SiteRules(site, tuple(one.with_evidence(used.by_rule[one.rule.id], site, urls) for one in proved))


@dataclass(frozen=True, slots=True)
class Least:
    """How much a rule must be good for.

    Attributes:
        coverage: URLs of both parts that it changes.
        worth: ... and that it brings together: on a large site, of many small rules some hold by chance.
        asked: URLs of the second part that any rule must change, also one of general knowledge: what a user asks for.
    """

    coverage: int = 0
    worth: int = 0
    asked: int = 0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A rule before its proof.

    Attributes:
        rule: With an id.
        support: Clusters of the first part that taught its transformation.
        expected: True when it holds on most sites.
    """

    rule: Rule
    support: int
    expected: bool = False

    @property
    def is_of_hosts(self) -> bool:
        """True for a rule of schemes and hosts: mirrors are one site, and seldom crawled as a whole."""
        return self.rule.match.startswith(("//", "http"))

    def is_proved_by(self, use: Use, bar: Bar, least: Least) -> bool:
        """True when the part that it was not learned from bears it out, and both together are evidence enough.

        The precision is that of both parts: half as many meetings say less. (To refuse, besides, what the second part
        alone speaks against by more than one deviation cost recall and gained no precision on other splits.)

        What is assumed of all sites needs no evidence, but URLs that it is for; what is expected of most sites, not in
        both parts.
        """
        right, wrong = sum(use.right), sum(use.wrong)
        if use.coverage[1] < least.asked:
            return False
        if self.rule.source == "prior":
            return sum(use.coverage) > 0 and right >= bar.min_right * (right + wrong)
        if not self.expected and (not use.right[1] or sum(use.coverage) < least.coverage or right < least.worth):
            return False
        cost = cost_of(self.rule) + (EXPECTED if self.expected else 0.0)
        return bar.passes(right, wrong, use.clusters, use.collisions, cost)

    def with_evidence(self, use: Use, site: str, urls: Sequence[str]) -> Rule:
        """The rule as it goes into the file: a rewrite if most of its targets are URLs of the site."""
        tried = (example(self.rule, urls[i], site) for i in use.examples)
        kind = self.rule.kind
        if "{}" not in self.rule.to and use.met >= _REAL_TARGETS * sum(use.coverage):
            kind = "rewrite"
        return replace(
            self.rule,
            kind=kind,
            source="prior" if self.rule.source == "prior" else "learned",
            evidence=Evidence(self.support, use.coverage[1], use.right[1], ceil(use.wrong[1]), use.collisions),
            examples=tuple(pair for pair in tried if pair is not None)[:_EXAMPLES],
        )


def _proved(
    candidates: list[Candidate],
    proof: Proof,
    urls: Sequence[str],
    bar: Bar,
    least: Least,
    patterns: Patterns,
) -> list[Candidate]:
    """Those of the candidates that hold, together; `proof` is left with their rules applied.

    Each is kept from where it is wrong too often, if that can be told.
    """

    def narrower(one: Candidate, most_right: float) -> Candidate | None:
        judged = proof.judged(one.rule.id)
        rule = narrowed(one.rule, proof.columns, judged, most_right, patterns)
        return None if rule is None else replace(one, rule=rule)

    while True:
        proof.apply([one.rule for one in candidates])
        used = proof.uses()
        proved = [one for one in candidates if one.is_proved_by(used.by_rule[one.rule.id], bar, least)]
        if proved == candidates and bar.holds_for_site(used.counts.right, used.counts.wrong):
            doubted = [one for one in proved if used.by_rule[one.rule.id].collisions and not one.is_of_hosts]
            finer = {one.rule.id: less for one in doubted if (less := narrower(one, _RIGHT_GIVEN_UP)) is not None}
            if not finer:
                return proved
            candidates = [finer.get(one.rule.id, one) for one in proved]
        elif proved == candidates:
            ids = [one.rule.id for one in proved]
            at = ids.index(worst_of(ids, used.by_rule, proof, bar))
            less = narrower(proved[at], _RIGHT_GIVEN_UP_OF_THE_WORST)
            candidates = [*proved[:at], *([] if less is None else [less]), *proved[at + 1 :]]
        else:
            candidates = proved


def _kept_to_seen(site: str, proved: list[Candidate], proof: Proof, bar: Bar, least: Least) -> list[Candidate]:
    """The rules, kept to the paths and values that were seen to make no difference; `proof` has them applied.

    Of what is known of many sites, other values are known as well.
    """
    own = [one for one in proved if one.rule.source != "prior" and not one.expected]
    seen = proof.varied({one.rule.id: names for one in own if (names := open_arguments(one.rule))})
    kept = []
    for place, one in enumerate(proved):
        rules = kept_to_seen(one.rule, seen.get(one.rule.id, {}))
        by_paths = is_of_paths(one.rule) and (one in own or one.rule.convert or is_local(one.rule))
        if one in own and is_of_arguments(one.rule):
            met, others = list(proof.met(one.rule.id)), [other.rule for other in proved]
            rules = [kept_to_seen_places(rule, met, others, site) for rule in rules]
        elif by_paths or (one in own and is_of_sections(one.rule)):
            met = as_found(proof.met(one.rule.id), [other.rule for other in proved[:place]], site)
            rules = [finer for rule in rules for finer in kept_to_seen_paths(rule, met, site)]
        kept += [replace(one, rule=rule) for rule in rules]
    if kept != proved:
        proof.apply([one.rule for one in kept])
        used = proof.uses().by_rule
        kept = [one for one in kept if one in proved or _is_right(used[one.rule.id], bar, least)]
        proof.apply([one.rule for one in kept])
    return kept


def _is_right(use: Use, bar: Bar, least: Least) -> bool:
    """True when what is left of a rule, or a part of it, is right, and the second part has some of it."""
    return use.right[1] > 0 and use.coverage[1] >= least.asked and bar.holds(sum(use.right), sum(use.wrong))


def _taught(
    corpus: Corpus, samples: Sequence[SitePart], priors: Priors, known: Known, hosts: HostRanks
) -> dict[Rule, int]:
    """Transformations that the first part teaches beyond what is proved, and how many of its clusters do.

    One that a single cluster of it suggests counts when the second part suggests it, too.
    """
    first, second = (set(sample.labels) for sample in samples)
    suggested = suggestions(corpus, (first, second), known, hosts)
    taught = {one: len(labels & first) for one, labels in suggested.items()}
    found = likely(suggested, taught, priors.expected)
    return {rule: taught.get(Transformation(rule.match, rule.to, rule.drop, rule.convert), 0) for rule in found}


def _fitted(
    corpus: Corpus, taught: Sequence[Rule], support: dict[Rule, int], bar: Bar, priors: Priors, number: int
) -> list[Candidate]:
    """The transformations in contexts that fit both parts, on top of what is proved. Applies them to the corpus."""
    accepted = expose(corpus)
    accepted += accept(taught, corpus, bar, priors.expected)
    return [
        Candidate(
            replace(found.rule, id=f"r{number + 1}-{i}"),
            support.get(found.origin, 0),
            found.origin in priors.expected,
        )
        for i, found in enumerate(accepted, 1)
    ]


def _corpus(site: str, proof: Proof, samples: Sequence[SitePart], proved: Sequence[Candidate]) -> Corpus:
    """The URLs of both parts, under what is proved."""
    both = samples[0] + samples[1]
    corpus = Corpus(site, proof.columns.compacted(np.array(both.rows, dtype=np.int64)), both.labels)
    for one in proved:
        corpus.apply(compiled(one.rule))
    return corpus


def example(rule: Rule, url: str, site: str) -> tuple[str, str] | None:
    """A URL and what this rule alone makes of it; None when it is no example for people or leaves the URL alone."""
    if len(url) > _LONGEST_EXAMPLE or not url.isprintable() or not (parts := split_url(url)):
        return None
    after = compiled(rule).apply(parts, site)
    return None if after is None else (url, after.join())
