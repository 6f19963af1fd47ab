"""The software of sites, recognized in this crawl or in earlier ones, and its rules."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from scrapy.statscollectors import StatsCollector
from scrapy.utils.datatypes import LocalCache

from dedupcrawl.core.url_parts import DEFAULT_PORTS
from dedupcrawl.crawl.failures import INDEX_FAILS, LoggedFailures
from dedupcrawl.crawl.site_memory import SiteMemory
from dedupcrawl.index.notes import SiteStates
from dedupcrawl.sites import site_of
from dedupcrawl.software.installation import NAME, Installation, SiteSoftware, distinct, with_parts_of_others
from dedupcrawl.software.program import Program
from dedupcrawl.software.sightings import Sightings
from dedupcrawl.text.ignored import read_ignored_of
from dedupcrawl.urls.learning.likely import LIKELY
from dedupcrawl.urls.probation import as_equivalence
from dedupcrawl.urls.rule import Rule

_MOST_PLACES = 10_000  # of programs, of which the rules are ready
# The port that a scheme stands for says nothing (RFC 3986, 6.2.3); to Scrapy's duplicate filter it is another URL.
# Archives write it out, while the links in their pages do not. These are tried like any other rule.
_PORT_RULES = tuple(
    Rule(
        f"http.port-{port[1:]}",
        "rewrite",
        match=f"{scheme}://{{host}}{port}/{{p*}}",
        to=f"{scheme}://{{host}}/{{p*}}",
        source="software",
    ).on_trial()
    for scheme, port in DEFAULT_PORTS.items()
)
DONE_BY_SCRAPY = {"sort-query"}
"""Conversions that its duplicate filter does: such a rule costs memory, and saves nothing."""


class SoftwareStore:
    """What the index keeps of the software of each site, and the rules and ignored parts that follow from it.

    Args:
        all_programs: Those that are known.
        index: Where it is kept.
        stats: Counts errors.

    Attributes:
        sightings: Looks at pages.
        sites: What is known of each site.

    Raises:
        ValueError: Of what a program says to ignore something cannot be read.
    """

    def __init__(self, all_programs: Sequence[Program], index: SiteStates, stats: StatsCollector) -> None:
        read_ignored_of((f"the program {program.name}", program.ignored) for program in all_programs)
        self.sightings = Sightings(all_programs)
        self._weights = {program.name: program.weights for program in all_programs}
        what = "The index cannot be asked about known software"
        logged = LoggedFailures(stats, "dedup/software/errors", what, INDEX_FAILS)
        self.sites = SiteMemory(index, NAME, SiteSoftware, logged, self._judged)
        # By program and place.
        self._made: LocalCache[tuple[str, str], tuple[Installation, tuple[str, ...], tuple[Rule, ...]]] = LocalCache(
            _MOST_PLACES
        )

    def rules_of(self, site: str) -> tuple[Rule, ...]:
        """The rules of the software of a site."""
        return self.rules_in_use(self.sites.of(site))

    def rules_in_use(self, state: SiteSoftware) -> tuple[Rule, ...]:
        """The same of what is known of a site."""
        wanted = [rule for rule in self.all_rules(state) if rule.convert not in DONE_BY_SCRAPY]
        return tuple([as_equivalence(rule) if rule.id in state.equivalences else rule for rule in wanted])

    def all_rules(self, state: SiteSoftware) -> tuple[Rule, ...]:
        """Those that Scrapy makes needless as well."""
        there = with_parts_of_others(state.installations)
        of_software = [rule for one, others in there for rule in self._rules_at(one, others)]
        likely = (rule.on_trial() for name, rule in LIKELY.items() if name in state.likely)
        rules = distinct([*of_software, *likely])
        return (*_PORT_RULES, *rules) if of_software else rules

    def ignored_at(self, url: str) -> tuple[str, ...]:
        """What does not count of a page of the software that is recognized at its URL, as in DEDUP_IGNORE."""
        return self.sightings.ignored_at(url, self.sites.of(site_of(url)).installations)

    def _rules_at(self, installation: Installation, others: tuple[str, ...]) -> tuple[Rule, ...]:
        """Made once: each host of a site that is recognized changes the rules of the site, which has many hosts."""
        key = installation.program, installation.where
        made = self._made.get(key)
        if made is None or made[:2] != (installation, others):
            rules = tuple(rule.on_trial() for rule in installation.rules(self.sightings.programs, others))
            made = self._made[key] = installation, others, rules
        return made[2]

    def _judged(self, state: SiteSoftware) -> SiteSoftware:
        """What the index has, by what the programs' files say now."""
        weights = self._weights
        there = [one.judged_by(weights[one.program]) for one in state.seen if one.program in weights]
        return msgspec.structs.replace(state, seen=tuple(there))
