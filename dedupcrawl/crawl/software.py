"""Known software and likely rules in a crawl: found in pages and URLs, used on probation; their trials are stored."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from functools import reduce
from pathlib import Path

from scrapy.http import Response
from scrapy.statscollectors import StatsCollector

from dedupcrawl.core.hash_set import HashSet
from dedupcrawl.crawl.failures import LoggedFailures
from dedupcrawl.crawl.pages import FetchedPage, is_html
from dedupcrawl.crawl.software_store import DONE_BY_SCRAPY, SoftwareStore
from dedupcrawl.printable import counted, printable
from dedupcrawl.sites import site_of
from dedupcrawl.software.installation import SiteSoftware
from dedupcrawl.urls.credits import Credit
from dedupcrawl.urls.learning.likely import LIKELY, LikelyRules
from dedupcrawl.urls.normalizer import Normalizer
from dedupcrawl.urls.rule import Rule, RuleError
from dedupcrawl.urls.rule_book import RuleBook, Ruling
from dedupcrawl.urls.rule_files import SiteRules, path_in, read_rules, replace_rules, write_rules

logger = logging.getLogger(__name__)

_SIGNS_SHOWN = 3  # in a line of the log, the heaviest; all of them are told at the level DEBUG


class Software:
    """Looks at the first pages of each part of a host, and gives the normalizer the rules of what it recognizes.

    Args:
        store: What is known of the software of each site.
        normalizer: Has its rules.
        book: Tries them; without it none are used, for nothing would refute them.
        stats: Counts what is recognized.
    """

    def __init__(self, store: SoftwareStore, normalizer: Normalizer, book: RuleBook, stats: StatsCollector) -> None:
        self._store, self._sightings, self._sites = store, store.sightings, store.sites
        self._normalizer, self._book, self._stats = normalizer, book, stats
        self._likely, self._crawled = LikelyRules(), HashSet()  # sites of which a page has come

    def look(self, page: FetchedPage, response: Response) -> dict[str, Ruling]:
        """A page has come: what does it show, before the spider follows its links? Nothing is worth the page itself.

        Returns:
            By site the rules of a program that is not there after all, or not in all of where they were used.
        """
        url = response.url
        if self._crawled.add(site_of(url)):
            self.see_link(url)
        if response.status != 200 or not is_html(response) or not self._sightings.wants(url):
            return {}
        with LoggedFailures(self._stats, "dedup/software/errors", f"{url!r} cannot be examined for known software"):
            headers = response.headers.getlist("Set-Cookie")
            cookies = (header.partition(b"=")[0].decode("latin-1").strip() for header in headers)
            if seen := self._sightings.look(url, page.facts(response), cookies, response.encoding):
                withdrawn = self._recognize(site_of(url), SiteSoftware(seen=seen))
                page.ignored = self._store.ignored_at(url)
                return withdrawn
        return {}

    def see_link(self, url: str) -> dict[str, Ruling]:
        """A link to a URL that is new: it may be the third of its site that is spelled like another one.

        A quarter of such links lead to sites that a crawl never enters (3,000 pages of a university).

        Returns:
            As `look`, which other workers may have had: what is known of a site is told by all.
        """
        if site_of(url) not in self._crawled:
            return {}
        with LoggedFailures(
            self._stats, "dedup/software/errors", f"{url!r} cannot be compared with other URLs of its site"
        ):
            if site := self._likely.see_url(url):
                known = {rule.effect for rule in self._normalizer.rules_of(site)}
                found = [rule for rule in self._likely.rules_of(site) if rule.effect not in known]
                return self._recognize(site, SiteSoftware(likely=frozenset(LIKELY.keys() & {one.id for one in found})))
        return {}

    def close(self, folder: Path) -> None:
        """Write what held and what failed into the rule files of `folder`, once the rule book is saved."""
        written: list[Path] = []
        owners: dict[str, list[str]] = {site: [] for site in self._sites.sites}
        for owner in sorted(self._book.owners):
            owners.setdefault(site_of(owner), []).append(owner)
        for site in filter(self._sites.has, owners):
            state = self._sites.of(site)
            there = {rule.id: rule for rule in self._store.all_rules(state)}  # less what is no longer recognized
            known = list(map(self._book.credits_of, owners[site]))
            refuted: dict[str, Rule] = {}
            held: dict[str, Rule] = {}
            used = [one for owner in owners[site] for one in self._book.beliefs(owner, "software", "prior")]
            kinds = {one.rule.id: one.rule.kind for one in used if not one.has_file}
            if new := {name for name, kind in kinds.items() if name in there and there[name].kind != kind}:
                self._sites.tell(site, SiteSoftware(equivalences=frozenset(new)))
            for one in (one for one in used if not one.has_file and one.rule.id in there):
                name = one.rule.id
                credit = reduce(Credit.joined, (of.of.get(name, Credit()) for of in known))
                rule = replace(credit.told_to(there[name]), kind=one.rule.kind, learned=date.today())
                if one.revoked:
                    note = f"revoked on {date.today()}: {one.revoked}"
                    refuted[name] = replace(rule, state="disabled", note=note)
                elif one.passed and not one.is_on_probation and not one.is_refuted:
                    held[name] = replace(rule, state="active")
            self._stats.inc_value("dedup/software/held", len(held))
            self._stats.inc_value("dedup/software/failed", len({one.rule.id for one in used if one.revoked}))
            if (rules := [*(refuted | held).values()]) and _write(folder, site, rules):  # what holds for an owner stays
                written.append(path_in(folder, site))
        if written:
            more = f" and {len(written) - 1} more" if len(written) > 1 else ""
            message = "dedupcrawl: known and likely rules that held or failed are written into %s%s, for later crawls"
            logger.info(message, printable(str(written[0])), more)

    def _recognize(self, site: str, news: SiteSoftware) -> dict[str, Ruling]:
        state = self._sites.of(site)
        joined = state.joined(news)
        if (joined.seen, joined.likely) == (state.seen, state.likely):
            return {}
        now = self._sites.tell(site, news)
        before = {(one.program, one.where) for one in state.installations}
        after = {(one.program, one.where) for one in now.installations}
        for one in now.seen:
            key = one.program, one.where
            if (key in before) is (key in after):
                continue
            signs = sorted(one.signs, key=lambda sign: -abs(one.signs[sign]))
            more = f" and {len(signs) - _SIGNS_SHOWN} more" if len(signs) > _SIGNS_SHOWN else ""
            shown = printable(", ".join(signs[:_SIGNS_SHOWN])) + more
            words = printable(one.where), self._sightings.programs[one.program].title, shown
            if more:
                logger.debug("dedupcrawl: signs of %s in %s: %s", words[1], words[0], printable(", ".join(signs)))
            if key in before:
                self._stats.inc_value(f"dedup/software/dropped/{one.program}")
                logger.info("dedupcrawl: %s does not run %s after all (%s)", *words)
                continue
            count = sum(rule.convert not in DONE_BY_SCRAPY for rule in one.rules(self._sightings.programs))
            self._stats.inc_value(f"dedup/software/recognized/{one.program}")
            message = "dedupcrawl: %s runs %s (%s): %s, on probation unless settled by earlier trials"
            logger.info(message, *words, counted(count, "rule"))
        if likely := sorted(now.likely - state.likely):
            self._stats.inc_value("dedup/software/likely", len(likely))
            message = "dedupcrawl: pairs of URLs of %s speak for %s (%s), on probation unless settled by earlier trials"
            logger.info(message, printable(site), counted(len(likely), "rule"), printable(", ".join(likely)))
        if self._store.rules_in_use(state) == self._store.rules_in_use(now):
            return {}  # mostly it was one sign more
        self._normalizer.has_more(site)
        old, new = ({rule.id: replace(rule, hosts=()) for rule in self._store.all_rules(of)} for of in (state, now))
        changed = tuple(name for name, rule in old.items() if name in new and new[name] != rule)
        gone = tuple(old.keys() - new.keys())
        return {site: Ruling(gone, changed)} if gone or changed else {}


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
        logger.error("The results for the rules of known software on %s cannot be written: %s", printable(site), error)
        return False
