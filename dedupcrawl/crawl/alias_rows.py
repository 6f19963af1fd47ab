"""AliasRows: which URLs lead to one page, as trials have found out or borne out, into the crawl log."""

from __future__ import annotations

import time
from collections import defaultdict

from scrapy.statscollectors import StatsCollector

from dedupcrawl.aliases.alias import said_by
from dedupcrawl.crawl.log_file import LogFile, LogRow
from dedupcrawl.sites import site_of
from dedupcrawl.urls.rule_book import RuleBook

_RULE = "rule"  # a source besides what pages say
_MOST_WAITING = 100_000  # aliases; of further ones nothing is learned


class AliasRows:
    """Writes a row for each URL that was tried, and for each alias that was asked for because a page named it.

    While too few trials of its source have passed in its part of the site an alias waits. So what a site makes up is
    not in the log as a fact, however the crawl ends. What rules save is not told of: a rule is no evidence for itself.

    Args:
        log: The crawl's, or None.
        run: Identifies the crawl.
        book: Knows of the trials; None: there are none, and what pages say is not used.
        stats: Counts how the trials of each source end.
    """

    def __init__(self, log: LogFile | None, run: str, book: RuleBook | None, stats: StatsCollector) -> None:
        self._log = log
        self._run = run
        self._book = book
        self._stats = stats
        self._waiting: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)  # by site and rule: URL, target
        self._count = 0

    def used(self, url: str, target: str, rules: tuple[str, ...]) -> None:
        """`target` is asked for instead of `url`, by these rules; not told of a URL that is fetched, too."""
        if self._log is None or self._book is None or not said_by(rules):
            return
        if self._book.holds(url, rules):
            self._add(url, target, rules, held=None)
        elif self._count < _MOST_WAITING:
            self._waiting[site_of(url), rules[0]].append((url, target))
            self._count += 1

    def tried(self, url: str, target: str, rules: tuple[str, ...], *, held: bool) -> None:
        """Both were fetched, and are one page, or not; the book knows of it already."""
        if source := said_by(rules):
            self._stats.inc_value(f"dedup/aliases/{'held' if held else 'failed'}/{source}")
        if self._log is None:
            return
        self._add(url, target, rules, held=held)
        if not source:
            return
        waiting = self._waiting.pop((site_of(url), rules[0]), [])
        self._count -= len(waiting)
        for other, other_target in waiting:
            self.used(other, other_target, rules)

    def _add(self, url: str, target: str, rules: tuple[str, ...], *, held: bool | None) -> None:
        assert self._log is not None
        now = round(time.time(), 3)
        source = said_by(rules) or _RULE
        row = LogRow(url, alias_of=target, alias_source=source, alias_held=held, fetched_at=now, run=self._run)
        self._log.write(row)
