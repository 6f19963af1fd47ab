"""Known software while crawling: recognized in the pages that come, its rules used on probation, the outcome kept."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

import msgspec
from scrapy.http import Response
from scrapy.statscollectors import StatsCollector

from dedupcrawl.crawl.failures import INDEX_FAILS, Survived
from dedupcrawl.crawl.pages import FetchedPage, is_html
from dedupcrawl.crawl.site_memory import SiteMemory
from dedupcrawl.index.notes import SiteStates
from dedupcrawl.printable import counted, printable
from dedupcrawl.sites import site_of
from dedupcrawl.software.installation import NAME, Installation, SiteSoftware, distinct, with_parts_of_others
from dedupcrawl.software.program import Program
from dedupcrawl.software.sightings import Sightings
from dedupcrawl.text.ignored import read_ignored_of
from dedupcrawl.urls.normalizer import Normalizer
from dedupcrawl.urls.rule import Rule, RuleError
from dedupcrawl.urls.rule_book import RuleBook, Ruling
from dedupcrawl.urls.rule_files import SiteRules, path_in, read_rules, replace_rules, write_rules
from dedupcrawl.urls.url_parts import DEFAULT_PORTS
from dedupcrawl.urls.watched_rule import TrialRecord, is_shared

logger = logging.getLogger(__name__)

_SIGNS_SHOWN = 3  # in a line of the log, the heaviest; all of them are told at the level DEBUG
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
_DONE_BY_SCRAPY = {"sort-query"}  # its duplicate filter does it: such a rule costs memory, and saves nothing


class Software:
    """Looks at the first pages of each part of a host, and gives the normalizer the rules of what it recognizes.

    Args:
        book: Tries them; without it none are used, for nothing would refute them.
        index: Keeps what was recognized, and what became of its rules.

    Raises:
        ValueError: Of what a program says to ignore something cannot be read.
    """

    def __init__(
        self, known: Sequence[Program], normalizer: Normalizer, book: RuleBook, index: SiteStates, stats: StatsCollector
    ) -> None:
        read_ignored_of((f"the program {program.name}", program.ignored) for program in known)
        self._sightings = Sightings(known)
        self._normalizer = normalizer
        self._book = book
        self._stats = stats
        self._weights = {program.name: program.weights for program in known}
        what = "The index cannot be asked about known software"
        asked = Survived(stats, "dedup/software/errors", what, INDEX_FAILS)
        self._sites = SiteMemory(index, NAME, SiteSoftware, asked, self._judged)
        self._made: dict[
            tuple[str, str], tuple[Installation, tuple[str, ...], tuple[Rule, ...]]
        ] = {}  # by program and place
        self._in_use: list[tuple[SiteSoftware, tuple[Rule, ...]]] = []  # of what was asked about last
        normalizer.more = self.rules_of

    def rules_of(self, site: str) -> tuple[Rule, ...]:
        """The rules of the software of a site, with the trials of earlier crawls, less those that failed."""
        return self._rules_in_use(self._sites.of(site))

    def _rules_in_use(self, known: SiteSoftware) -> tuple[Rule, ...]:
        for of, rules in self._in_use:
            if of is known:  # as it is asked again whenever there is news of a site
                return rules
        wanted = [rule for rule in self._all_rules(known) if rule.id not in known.failed]
        made = tuple([known.told_to(rule) for rule in wanted if rule.convert not in _DONE_BY_SCRAPY])
        self._in_use = [(known, made), *self._in_use[:3]]
        return made

    def _all_rules(self, known: SiteSoftware) -> tuple[Rule, ...]:
        there = with_parts_of_others(known.installations)
        rules = distinct([rule for one, others in there for rule in self._rules_at(one, others)])
        return (*_PORT_RULES, *rules) if rules else ()

    def _rules_at(self, installation: Installation, others: tuple[str, ...]) -> tuple[Rule, ...]:
        """Made once: each host of a site that is recognized changes the rules of the site, which has many hosts."""
        key = installation.program, installation.where
        made = self._made.get(key)
        if made is None or made[:2] != (installation, others):
            if len(self._made) >= _MOST_PLACES:
                self._made.clear()
            rules = tuple(rule.on_trial() for rule in installation.rules(self._sightings.programs, others))
            made = self._made[key] = installation, others, rules
        return made[2]

    def ignored_at(self, url: str) -> tuple[str, ...]:
        """What does not count of a page of the software that is recognized at its URL, as in DEDUP_IGNORE."""
        return self._sightings.ignored_at(url, self._sites.of(site_of(url)).seen)

    def look(self, page: FetchedPage, response: Response) -> dict[str, Ruling]:
        """A page has come: what does it show, before the spider follows its links? Nothing is worth the page itself.

        Returns:
            By site the rules of a program that is not there after all, or not in all of where they were used.
        """
        if response.status != 200 or not is_html(response) or not self._sightings.wants(url := response.url):
            return {}
        with Survived(self._stats, "dedup/software/errors", f"{url!r} cannot be looked at for known software"):
            headers = response.headers.getlist("Set-Cookie")
            cookies = (header.partition(b"=")[0].decode("latin-1").strip() for header in headers)
            if seen := self._sightings.look(url, page.facts(response), cookies, response.encoding):
                withdrawn = self._recognize(site_of(url), SiteSoftware(seen=seen))
                page.ignored = self.ignored_at(url)
                return withdrawn
        return {}

    def close(self, folder: Path) -> None:
        """Write what held and what failed into the rule files of `folder`, and both into the index."""
        written: list[Path] = []
        owners: dict[str, list[str]] = {site: [] for site in self._sites.sites}
        for owner in sorted(self._book.owners):
            owners.setdefault(site_of(owner), []).append(owner)
        for site in filter(self._sites.has, owners):
            known = self._sites.of(site)
            there = {rule.id: rule for rule in self._all_rules(known)}  # less what is no longer recognized
            tried: dict[str, TrialRecord] = {}
            held: dict[str, Rule] = {}
            refuted: dict[str, Rule] = {}
            revoked: dict[str, str] = {}
            for one in (one for owner in owners[site] for one in self._book.watched(owner, "software")):
                name, record = one.rule.id, TrialRecord.of(one)
                is_known = name not in there or there[name].kind == one.rule.kind
                if is_known and not record.tried and not one.revoked:
                    continue
                before = known.tried.get(name, TrialRecord())
                is_off_there = one.revoked and is_shared(before.told_to(one.rule), one.owner)  # it stays for others
                if is_off_there:
                    record = TrialRecord(counterexamples=record.counterexamples)
                tried[name] = tried[name].joined(record) if name in tried else record
                if one.revoked and not is_off_there:
                    revoked[name] = one.revoked
                if name not in there or is_off_there:
                    continue
                rule = replace(before.joined(tried[name]).told_to(there[name]), learned=date.today())
                if one.revoked:
                    note = f"revoked on {date.today()}: {one.revoked}"
                    refuted[name] = replace(rule, state="disabled", note=note)
                elif one.passed and not one.is_on_probation and not one.is_refuted:
                    held[name] = replace(rule, state="active")
            self._stats.inc_value("dedup/software/held", len(held))
            self._stats.inc_value("dedup/software/failed", len(known.failed | revoked))
            if tried or revoked:
                self._sites.tell(site, SiteSoftware(tried, revoked))
            if (rules := [*(held | refuted).values()]) and _write(folder, site, rules):
                written.append(path_in(folder, site))
        if written:
            more = f" and {len(written) - 1} more" if len(written) > 1 else ""
            said = "dedupcrawl: rules of known software that held or failed are written into %s%s, for later crawls"
            logger.info(said, printable(str(written[0])), more)

    def _recognize(self, site: str, news: SiteSoftware) -> dict[str, Ruling]:
        known = self._sites.of(site)
        if known.joined(news).seen == known.seen:
            return {}
        now = self._sites.tell(site, news)
        before = {(one.program, one.where) for one in known.installations}
        after = {(one.program, one.where) for one in now.installations}
        for one in now.seen:
            key = one.program, one.where
            if (key in before) is (key in after):
                continue
            signs = sorted(one.signs, key=lambda sign: -abs(one.signs[sign]))
            more = f" and {len(signs) - _SIGNS_SHOWN} more" if len(signs) > _SIGNS_SHOWN else ""
            shown = printable(", ".join(signs[:_SIGNS_SHOWN])) + more
            told = printable(one.where), self._sightings.programs[one.program].title, shown
            if more:
                logger.debug("dedupcrawl: signs of %s in %s: %s", told[1], told[0], printable(", ".join(signs)))
            if key in before:
                self._stats.inc_value(f"dedup/software/dropped/{one.program}")
                logger.info("dedupcrawl: %s does not run %s after all (%s)", *told)
                continue
            count = sum(rule.convert not in _DONE_BY_SCRAPY for rule in one.rules(self._sightings.programs))
            self._stats.inc_value(f"dedup/software/recognized/{one.program}")
            said = "dedupcrawl: %s runs %s (%s): %s, on probation unless settled by earlier trials"
            logger.info(said, *told, counted(count, "rule"))
        if _whence_rules(known) == _whence_rules(now) or self._rules_in_use(known) == self._rules_in_use(now):
            return {}  # mostly it was one sign more
        self._normalizer.has_more(site)
        self._book.extend(site)
        old, new = ({rule.id: replace(rule, hosts=()) for rule in self._all_rules(of)} for of in (known, now))
        changed = tuple(name for name, rule in old.items() if name in new and new[name] != rule)
        gone = tuple(old.keys() - new.keys())
        return {site: Ruling(gone, changed)} if gone or changed else {}

    def _judged(self, known: SiteSoftware) -> SiteSoftware:
        """What the index has, by what the programs' files say now."""
        weights = self._weights
        there = [one.judged_by(weights[one.program]) for one in known.seen if one.program in weights]
        return msgspec.structs.replace(known, seen=tuple(there))


def _whence_rules(known: SiteSoftware) -> tuple[object, ...]:
    """All that the rules of a site's software hang on: not on the signs by which it was recognized."""
    places = [msgspec.structs.replace(one, signs={}) for one in known.installations]
    return places, known.tried, known.failed


def _write(folder: Path, site: str, tried: Sequence[Rule]) -> bool:
    """Add rules to the file of a site, if there are any; those that it has are written by the rule book."""
    path = path_in(folder, site)
    try:
        if not path.exists():
            write_rules(folder, SiteRules(site, tuple(tried)))
            return True
        old = read_rules(path).rules
        there = {key for rule in old for key in (rule.id, rule.effect)}
        if more := [rule for rule in tried if rule.id not in there and rule.effect not in there]:
            replace_rules(path, [*old, *more])
        return bool(more)
    except (OSError, RuleError, ValueError) as error:
        logger.error(
            "What was found out about the rules of known software on %s cannot be written: %s", printable(site), error
        )
        return False
