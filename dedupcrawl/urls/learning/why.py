"""Why two URLs are not merged: which rule would take them together, and what speaks against it or is missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from dedupcrawl.counts import counted
from dedupcrawl.urls.learning.diff import diff
from dedupcrawl.urls.learning.forms import Forms, Tally, is_near
from dedupcrawl.urls.learning.search import cost_of
from dedupcrawl.urls.normalizer import SiteNormalizer
from dedupcrawl.urls.rule import Rule, RuleError, described
from dedupcrawl.urls.rule_files import SiteRules
from dedupcrawl.urls.url_parts import split_url

_NAMED = 2  # pairs of URLs that speak against a hypothesis


@dataclass(frozen=True, slots=True)
class Reason:
    """What became of one way to bring the two together.

    Attributes:
        rule: What it would do, in one line.
        pairs: URLs of different pages that it would bring together.
    """

    rule: str
    why: str
    pairs: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Why:
    """Whether two URLs are merged, and why not.

    Attributes:
        log: "one page", "different pages", "near pages, which count neither way", or "not both in the log".
        reasons: Those of the ways to bring them together that are not taken; empty when they are merged.
    """

    canonical: tuple[str, str]
    rules: tuple[str, ...]
    log: str
    reasons: tuple[Reason, ...] = ()

    @property
    def is_met(self) -> bool:
        """True when they are one as far as the rules can tell."""
        return self.canonical[0] == self.canonical[1]


def why(  # noqa: PLR0913 - two URLs, and a log of the site
    one: str,
    other: str,
    rules: SiteRules,
    urls: Sequence[str],
    labels: Sequence[int],
    bits: Mapping[int, int] = MappingProxyType({}),
) -> Why:
    """What keeps two URLs of a site apart, as they are under its rules.

    `urls` are those of a log of the site, with the page of each as its label, and `bits` the SimHash of each page, as
    far as known.
    """
    normalize = SiteNormalizer(rules).normalize
    done = normalize(one), normalize(other)
    pages = dict(zip(urls, labels, strict=True))
    log = "not both in the log"
    if one in pages and other in pages:
        mine, its = pages[one], pages[other]
        log = "one page" if mine == its else "different pages"
        if mine != its and is_near(bits.get(mine), bits.get(its)):
            log = "near pages, which count neither way"
    canonical = done[0].canonical, done[1].canonical
    used = tuple(dict.fromkeys((*done[0].rules, *done[1].rules)))
    if canonical[0] == canonical[1]:
        return Why(canonical, used, log)
    left: dict[str, int] = {}
    for url, label in zip(urls, labels, strict=True):
        left.setdefault(normalize(url).canonical, label)
    forms = Forms(rules.site, list(left), list(left.values()), [0] * len(left), bits)
    return Why(canonical, used, log, tuple(_reasons(*canonical, rules, forms)))


def _reasons(one: str, other: str, rules: SiteRules, forms: Forms) -> Iterator[Reason]:
    parts = split_url(one), split_url(other)
    if parts[0] is None or parts[1] is None:
        return
    longer, shorter = sorted((parts[0], parts[1]), key=lambda own: (len(own.args), len(own.join())), reverse=True)
    seen = dict.fromkeys(rule for rule, _ in diff(longer, shorter, {}))
    for rule in seen:
        try:
            tried = forms.tried(rule)
        except RuleError:
            continue
        known = next((known for known in rules.rules if _does_the_same(known, rule)), None)
        if known is not None:
            state = f"is {known.state}" if known.is_off else "is for other URLs"
            yield Reason(described(rule), f"rule {known.id} {state}: {described(known)}")
        else:
            yield _judged(rule, tried, forms)


def _does_the_same(known: Rule, rule: Rule) -> bool:
    if rule.drop:
        return set(rule.drop) <= set(known.drop)
    return bool((rule.convert and rule.convert == known.convert) or (rule.to and rule.to == known.to))


def _judged(rule: Rule, tried: Tally, forms: Forms) -> Reason:
    least = cost_of(rule)
    pairs: list[tuple[str, str]] = []
    near = 0
    first: dict[str, int] = {}
    for row, after in zip(tried.rows, tried.after, strict=True):
        one, other = forms.all[first.setdefault(after, row)], forms.all[row]
        if one.label == other.label:
            continue
        if forms.are_near(one.label, other.label):
            near += 1
        elif len(pairs) < _NAMED:
            pairs.append((one.text, other.text))
    if near and not tried.right and not tried.wrong:
        told = f"only similar pages support it ({counted(near, 'pair')}), which count neither way"
        return Reason(described(rule), told)
    if not tried.right and not tried.wrong:
        return Reason(described(rule), "no cluster of the log supports it, and nothing contradicts it")
    if tried.wrong:
        told = f"{tried.wrong} of {tried.right + tried.wrong} merges would be wrong, however its context is narrowed"
        return Reason(described(rule), told, tuple(pairs))
    if tried.clusters < least:
        return Reason(described(rule), f"{tried.clusters} clusters of the log support it, and it takes {least:g}")
    return Reason(described(rule), "it would be right, but no held-out cluster confirms it")
