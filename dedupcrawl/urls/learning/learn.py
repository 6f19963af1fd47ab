"""From the duplicate clusters of one site to proven rules."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from zlib import crc32

from dedupcrawl.urls.compiled_rule import CompiledRule, example
from dedupcrawl.urls.learning.contexts import Condition, scoped
from dedupcrawl.urls.learning.forms import Forms, atoms_of
from dedupcrawl.urls.learning.generalize import MOST_WORDS
from dedupcrawl.urls.learning.ledger import Ledger, Price, Use
from dedupcrawl.urls.learning.priors import GENERAL, Priors
from dedupcrawl.urls.learning.search import Bar, Candidate, accepted, suggestions
from dedupcrawl.urls.rule import Evidence, Rule
from dedupcrawl.urls.rule_files import SiteRules
from dedupcrawl.urls.url_parts import split_url

_FULL_COVERAGE = 10  # URLs that a rule is for on a large site; 0: a rule more on two of ten mirrors, .286 → .287
_URLS_FOR_FULL_COVERAGE = 200  # of the site, for each of these
_RIGHT_GIVEN_UP = 8.0  # right uses that an exception gives up for a wrong one; 20: the same merges on ten mirrors
_ROUNDS = 2  # six mirrors, seed 3: recall .591 at .986, with three .596 at .986 in twice the time
_REAL_TARGETS = 0.5  # share of the URLs of a rewrite whose target is a URL of the site
_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class Least:
    """How much a rule must be good for.

    Attributes:
        coverage: URLs of both parts that it changes.
        asked: URLs of the held-out part that any rule must change: what a user asks for.
    """

    coverage: int = 0
    asked: int = 0

    @classmethod
    def of(cls, ledger: Ledger, asked: int | None) -> Least:
        """Of the rules of a site of so many URLs."""
        full = min(_FULL_COVERAGE, len(ledger.urls) // _URLS_FOR_FULL_COVERAGE) if asked is None else 0
        return cls(full, asked or 0)


def learn_site(  # noqa: PLR0913 - URLs, labels, and numbers with defaults that were measured
    site: str,
    urls: Sequence[str],
    labels: Sequence[int],
    *,
    bits: Mapping[int, int] = MappingProxyType({}),
    sample: Sequence[int] | None = None,
    holdout: float = 0.5,
    seed: int = 0,
    min_precision: float = 0.95,
    min_coverage: int | None = None,
    priors: Priors = GENERAL,
) -> SiteRules:
    """Learn the rules of a site and prove them.

    The clusters are split in two. The first part teaches transformations, which the second has to bear out; contexts
    are fitted to both, as the narrowness of a context is a question of evidence against, which is rare.

    Args:
        site: Registrable domain of all URLs, as `sites.site_of` tells it.
        urls: Distinct URLs, pages without duplicates included: they are the evidence against.
        labels: Cluster of each URL; equal for URLs that lead to one page. Negative ones are left out.
        bits: SimHash of each cluster, as far as known: pages that are near speak neither for a rule nor against it.
        sample: Places of those that rules are learned from; all are what they are proved on. All if None.
        holdout: Share of the clusters in the second part, which proves.
        seed: Of the split.
        min_precision: Least share of right ones among the URLs that a rule brings together.
        min_coverage: Least number of URLs of the second part that a rule applies to, whatever rule it is. If None, ten
            of both parts, proportionally less on small sites, and none for what is known of URLs in general.
        priors: What is known of URLs in general, and of the software of the site.

    Returns:
        Rules with their evidence, in the order in which they are to be applied, and, disabled, the rules of known
        software that the log speaks against; none when nothing could be proved.
    """
    chosen = range(len(urls)) if sample is None else sample
    split = partial(_site, site, urls, labels, bits, holdout=holdout, seed=seed)
    taught = split(chosen)
    bar, price = Bar(min_precision), Price(min_precision)
    proved = _proved([Candidate(rule) for rule in priors.assumed], taught, price, Least())
    hosts = _host_pages(taught.urls, taught.labels)
    for number in range(_ROUNDS):
        forms = Forms(site, taught.forms, taught.labels, taught.sides, bits)
        if number and not forms.clusters():
            break
        hypotheses = [(rule, support, False) for rule, support in suggestions(forms, hosts)]
        if not number:
            hypotheses += [(rule, 0, True) for rule in priors.expected]
        found = accepted(hypotheses, forms, bar)
        if not found and number:
            break
        named = [replace(one, rule=replace(one.rule, id=f"r{number + 1}-{i}")) for i, one in enumerate(found, 1)]
        before = proved
        proved = _proved([*proved, *named], taught, price, Least())
        if proved == before:
            break
    ledger = taught
    if len(chosen) < len(urls):
        ledger = split(range(len(urls)))
        ledger.apply(taught.rules, taught)
        ledger.refuted = taught.refuted
    proved = _proved(proved, ledger, price, Least.of(ledger, min_coverage))
    rules = [_with_evidence(one, ledger.uses[one.rule.id], ledger) for one in proved]
    return SiteRules(site, (*rules, *ledger.refuted))


def sides(labels: Sequence[int], holdout: float, seed: int) -> list[int]:
    """The part of each URL, by its cluster: 1 for about a share of `holdout`, else 0; -1 for negative labels."""
    part = {n: -1 if n < 0 else int(crc32(f"{seed}:{n}".encode()) < holdout * (1 << 32)) for n in set(labels)}
    return [part[label] for label in labels]


def _site(  # noqa: PLR0913 - URLs, labels, and numbers with defaults that were measured
    site: str,
    urls: Sequence[str],
    labels: Sequence[int],
    bits: Mapping[int, int],
    rows: Iterable[int],
    *,
    holdout: float,
    seed: int,
) -> Ledger:
    """Those URLs of a site that can be learned from, in their order."""
    good = sorted((row for row in rows if labels[row] >= 0 and split_url(urls[row])), key=urls.__getitem__)
    own = [labels[row] for row in good]
    return Ledger(site, [urls[row] for row in good], own, sides(own, holdout, seed), bits)


def _host_pages(urls: Sequence[str], labels: Sequence[int]) -> Counter[str]:
    return Counter(host for host, _ in {(url.split("/", 3)[2], label) for url, label in zip(urls, labels, strict=True)})


def _proved(candidates: list[Candidate], ledger: Ledger, price: Price, least: Least) -> list[Candidate]:
    """Those of the candidates that hold, together, each kept from where it is wrong if that can be told.

    Each is judged by what it adds to the others; the one that costs most is narrowed, or goes, first.
    """
    excepted: set[tuple[str, str]] = set()
    while True:
        ledger.apply([one.rule for one in candidates])
        proved = [one for one in candidates if _is_proved(one, ledger.uses[one.rule.id], price, least)]
        if proved != candidates:
            ledger.refute(one.rule for one in candidates if one not in proved)
            candidates = proved
            continue
        wrong = [one for one in proved if sum(ledger.uses[one.rule.id].wrong)]
        added = {one.rule.id: ledger.adds(one.rule.id) for one in wrong}
        bad = [one for one in wrong if not price.holds(*added[one.rule.id])]
        if not bad:
            return proved
        worst = min(bad, key=lambda one: (price.worth(*added[one.rule.id]), one.rule.id))
        less = _with_exception(worst, ledger, excepted) if len(excepted) < MOST_WORDS else None
        if less is None:
            ledger.refute([worst.rule])
        rest = [one for one in proved if one is not worst]
        candidates = rest if less is None else [less if one is worst else one for one in proved]


def _is_proved(one: Candidate, use: Use, price: Price, least: Least) -> bool:
    """True when the log bears a rule out; what is assumed or expected of all sites needs less."""
    right, wrong = sum(use.right), sum(use.wrong)
    if use.coverage[1] < least.asked:
        return False
    if one.rule.source == "software":
        return sum(use.coverage) > 0
    if one.rule.source == "prior":
        return sum(use.coverage) > 0 and right >= price.min_precision * (right + wrong)
    if "|base64}" in one.rule.to:
        return right >= price.min_precision * (right + wrong)
    if not one.expected and (not use.right[1] or sum(use.coverage) < least.coverage):
        return False
    return right > 0 and right >= price.min_precision * (right + wrong)


def _with_exception(one: Candidate, ledger: Ledger, excepted: set[tuple[str, str]]) -> Candidate | None:
    """The rule, but for the URLs of the one condition that takes most wrong merges away and few right ones."""
    right, wrong = ledger.judged(one.rule.id)
    of_right: Counter[str] = Counter()
    of_wrong: Counter[str] = Counter()
    forms: defaultdict[str, set[str]] = defaultdict(set)
    for rows, counts in ((right, of_right), (wrong, of_wrong)):
        for row in rows:
            parts = split_url(ledger.urls[row])
            if parts is not None:
                atoms = atoms_of(parts)
                counts.update(atoms)
                if counts is of_wrong:
                    for atom in atoms:
                        forms[atom].add(ledger.forms[row])
    best = max(
        (
            atom
            for atom in sorted(of_wrong)
            if (one.rule.id, atom) not in excepted
            and len(forms[atom]) >= 2
            and of_right[atom] <= _RIGHT_GIVEN_UP * of_wrong[atom]
        ),
        key=lambda atom: of_wrong[atom] - of_right[atom] / _RIGHT_GIVEN_UP,
        default=None,
    )
    if best is None or of_right[best] >= len(right):
        return None
    excepted.add((one.rule.id, best))
    less = scoped(one.rule, [Condition(best, holds=False)])
    return None if less is None or less == one.rule else replace(one, rule=less)


def _with_evidence(one: Candidate, use: Use, ledger: Ledger) -> Rule:
    """The rule as it goes into the file: a rewrite if most of its targets are URLs of the site."""
    rule = one.rule
    kind = rule.kind
    if (
        rule.source not in {"prior", "software"}
        and "{}" not in rule.to
        and use.real >= _REAL_TARGETS * sum(use.coverage)
    ):
        kind = "rewrite"
    ready = CompiledRule(rule)
    tried = (example(ready, ledger.urls[row], ledger.site) for row in use.rows)
    examples = []
    for pair in tried:
        if pair is not None:
            examples.append(pair)
            if len(examples) == _EXAMPLES:
                break
    return replace(
        rule,
        kind=kind,
        source=rule.source if rule.source in {"prior", "software"} else "learned",
        evidence=Evidence(one.support, use.coverage[1], use.right[1], use.wrong[1], use.collisions),
        examples=tuple(examples),
    )
