"""Summary of a crawl: lines in its log, and the report when it ends."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from scrapy.statscollectors import StatsCollector

from dedupcrawl import extras
from dedupcrawl.crawl.failures import INDEX_FAILS
from dedupcrawl.crawl.learning import FIRST_LESSON
from dedupcrawl.index.contract import Index
from dedupcrawl.index.runs import read_runs
from dedupcrawl.output import check_place
from dedupcrawl.printable import counted, megabytes
from dedupcrawl.project import RULES
from dedupcrawl.settings import DedupSettings, SettingError, unusable
from dedupcrawl.sites import host_of
from dedupcrawl.system_errors import cause
from dedupcrawl.urls.normalizer import Normalizer

logger = logging.getLogger(__name__)

_HOLD = {  # kind of a body → what pages hold that no check can compare
    "html": "HTML with very little text",
    "text": "with very little text",
    "data": "data with too little text",
    "binary": "a file that no chosen check compares",
    "empty": "an empty body",
    "item": "items with very little text",
}
_WORTHWHILE = 0.01  # share of fetches to save; set by hand: saving three of a thousand cost 73 % more CPU


def opening_line(settings: DedupSettings, normalizer: Normalizer, index: str, named: Sequence[str] = ()) -> str:
    """Which parts are on, for which sites, and where the `index` is; `named`: the spider's start URLs and domains."""
    urls = f"URLs {settings.url_mode}"
    if settings.url_mode != "off":
        software = "; known software" if settings.software else ""
        aliases = "; aliases" if settings.alias_sources else ""
        sites = counted(normalizer.site_count, "site")
        hosts = set(map(host_of, named)) if normalizer.site_count else ()
        is_none = hosts and not any(normalizer.has_rules_for(f"//{host}") for host in hosts)
        others = ", none of them this spider's" if is_none else ""
        urls += f" (rules for {sites}{others}{software}{aliases})"
    content = "content off (no check)"
    if settings.checks:
        content = f"content {settings.action} by {', '.join(settings.checks)}, scope {settings.scope}"
        content += f", index {index}"
    sites = ", ".join(sorted(settings.sites))
    return f"dedupcrawl: {urls}; {content}" + (f"; own settings for {sites}" if sites else "")


def closing_line(stats: StatsCollector) -> str:
    """What the crawl saved, by which rules and checks."""
    prefix = "dedup/content/dropped/"
    dropped = {name.removeprefix(prefix): n for name, n in stats.get_stats().items() if name.startswith(prefix)}
    by_check = ", ".join(f"{name} {count}" for name, count in sorted(dropped.items()))
    followed = sum(n for name, n in stats.get_stats().items() if name.startswith("dedup/aliases/followed/"))
    by_aliases = f"{counted(followed, 'URL')} by aliases, " if followed else ""

    def count(name: str, noun: str) -> str:
        return counted(stats.get_value(f"dedup/{name}", 0), noun)

    saved = stats.get_value("dedup/url/saved", 0)
    wrongly = stats.get_value("dedup/content/wrongly_dropped", 0)
    after_all = stats.get_value("dedup/content/duplicate_after_all", 0)
    duplicates = count("content/duplicate", "duplicate")
    size = stats.get_value("dedup/content/duplicate_bytes", 0)
    over_quota = stats.get_value("dedup/content/over_quota", 0)
    abstained = {name: stats.get_value(f"dedup/content/abstained/{name}", 0) for name in _HOLD}
    whats = ", ".join(f"{n:,} {_HOLD[name]}" for name, n in abstained.items() if n)
    later = [f"{after_all:,} of them recognized only after they had been stored"] if after_all else []
    later += [f"not counting {counted(wrongly, 'page')} dropped by mistake and fetched again"] if wrongly else []
    checked = stats.get_value("dedup/content/checked", 0)
    if checked and sum(abstained.values()) == checked:
        compared = f"none of {counted(checked, 'page')} could be compared"
    else:
        compared = f"{counted(checked, 'page')} checked, {duplicates}"
    return (
        f"dedupcrawl: {counted(abs(saved), 'fetch')} {'more than without rules' if saved < 0 else 'saved'}"
        f", {count('url/rewritten', 'link')} rewritten"
        f" ({by_aliases}{stats.get_value('dedup/url/fallback', 0):,} fell back,"
        f" {stats.get_value('dedup/url/tried', 0):,} tried, "
        f"{counted(stats.get_value('dedup/url/revoked', 0), 'rule')} revoked); "
        f"{compared}"
        + (f" of {megabytes(size)}" if size else "")
        + (f" ({', '.join(later)})" if later else "")
        + (f", items dropped: {by_check}" if by_check else "")
        + (f"; {sum(abstained.values()):,} abstained ({whats})" if whats else "")
        + (f"; {over_quota:,} not checked, because their site has used up DEDUP_SITE_QUOTA" if over_quota else "")
    )


def lesson_line(stats: StatsCollector, normalizer: Normalizer, log: Path | None) -> str | None:
    """How to learn rules for the next crawl; None if there are rules, no log, or too few duplicates to learn from."""
    duplicates = stats.get_value("dedup/content/duplicate", 0)
    if log is None or not log.exists() or normalizer.site_count or duplicates < FIRST_LESSON:
        return None
    return (
        f"dedupcrawl: to fetch fewer duplicates in the next crawl, learn rules from this one's log: 'dedupcrawl train "
        f"{log} --rules {RULES}'. DEDUP_LEARN = True learns them during the crawl."
    )


def advice_line(stats: StatsCollector) -> str | None:
    """What to do if rules cost more than they have saved; None if none were used, or they have saved enough.

    Fetches for trials count as saved, because most of them are not made again.
    """
    rewritten, saved = stats.get_value("dedup/url/rewritten", 0), stats.get_value("dedup/url/saved", 0)
    fetched, tried = stats.get_value("downloader/response_count", 0), stats.get_value("dedup/url/tried", 0)
    if not rewritten or saved + tried >= _WORTHWHILE * fetched:
        return None
    return (
        f"dedupcrawl: rules have saved {max(0, saved):,} of {counted(fetched, 'fetch')} here, less than their trials "
        "and look-ups cost in CPU. If that stays so, DEDUP_URL_MODE = 'off' is cheaper, for all sites or, "
        "in DEDUP_SITES, for one."
    )


def due_line(due: int, *, lasts: bool) -> str | None:
    """What becomes of the pages that are still due; `lasts`: the index outlives the crawl. None if no page is due."""
    if not due:
        return None
    pages, why = counted(due, "page"), "their items, or those of the pages that they duplicate, were lost"
    if not lasts:
        return f"dedupcrawl: {pages} could not be fetched again: {why}. An index in a folder would remember them."
    return f"dedupcrawl: {pages} still to be fetched again, by the next crawl with this index: {why}."


def check_report(path: Path) -> None:
    """Check, before the crawl, whether its report can be written.

    Raises:
        SettingError: Packages that the report needs are not installed, or its file cannot be written.
    """
    if missing := extras.missing("report"):
        raise SettingError(f"DEDUP_REPORT {missing}.")
    try:
        check_place(path)
    except OSError as error:
        raise unusable("DEDUP_REPORT", str(path), cause(error)) from error


def write_report(settings: DedupSettings, index: Index, log: Path | None, run: str) -> None:
    """Write the report of this run to the file that DEDUP_REPORT names.

    If the index cannot be read, that is logged, and the crawl ends as it would have without a report.
    """
    if settings.report is None:
        return
    from dedupcrawl.report.collect import collect
    from dedupcrawl.report.page import write

    try:
        write(collect(index, log, settings.rules, read_runs(index), run=run), settings.report)
    except INDEX_FAILS as error:
        logger.error("The report %s cannot be written: %s", settings.report, error)
    else:
        logger.info("dedupcrawl: the report is in %s", settings.report)
