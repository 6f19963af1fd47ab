"""The project's own rules, as `dedupcrawl train` learns them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from benchmarks.url_rules.method import Learned, Row
from dedupcrawl.crawl_logs.rows import LogRow
from dedupcrawl.sites import site_of
from dedupcrawl.training.learning_part import learn_sites
from dedupcrawl.training.options import LearningOptions
from dedupcrawl.training.page_rows import page_rows
from dedupcrawl.urls.normalizer import Normalizer
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules


@dataclass(frozen=True, slots=True)
class OwnRule:
    """A rule, its site and its place among the rules of all sites: in a rule file, order matters."""

    place: int
    site: str
    rule: Rule

    @property
    def kind(self) -> Literal["rewrite", "equivalence"]:
        return self.rule.kind


def learn(rows: Sequence[Row], precision: float) -> Learned[OwnRule]:
    """The rules of this precision; all that were proved count as valid."""
    log = (LogRow(url=url, text_digest=label, status=200) for url, label in rows)
    learned = learn_sites(page_rows(log), LearningOptions(min_precision=precision))
    pairs = [(site_rules.site, rule) for site_rules in learned.rules for rule in site_rules.rules]
    rules = [OwnRule(place, site, rule) for place, (site, rule) in enumerate(pairs)]
    return Learned(rules, OwnMatcher, lambda _: range(len(rules)))


class OwnMatcher:
    """The rules in the order of their files.

    A rule applies to what those before it have made of a URL: some do nothing alone, such as one that takes the URL
    which another one decodes. So the image of a URL by a rule is that by all rules, if it has a part in it.
    """

    def __init__(self, rules: Iterable[OwnRule]) -> None:
        rules = list(rules)
        self._positions = {(own.site, own.rule.id): i for i, own in enumerate(rules)}
        by_site = groupby(sorted(rules, key=lambda own: own.place), key=lambda own: own.site)
        self._together = Normalizer([SiteRules(site, tuple(own.rule for own in group)) for site, group in by_site])

    def form(self, url: str) -> str:
        return url

    def images(self, url: str) -> Iterator[tuple[int, str]]:
        normalized, site = self._together.normalize(url), site_of(url)
        for name in normalized.rules:
            yield self._positions[site, name], normalized.canonical

    def canonical(self, url: str) -> str:
        return self._together.normalize(url).canonical
