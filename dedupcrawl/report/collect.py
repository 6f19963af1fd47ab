"""Collect everything that the page shows from an index, a crawl log and rule files, in bounded memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from dedupcrawl.aliases.alias import rule_id
from dedupcrawl.aliases.sources import DUPLICATE, SOURCES
from dedupcrawl.content.differences import Stretch
from dedupcrawl.crawl_logs.tally import LogError, Progress
from dedupcrawl.index.contract import Index, standing_for
from dedupcrawl.index.runs import Run
from dedupcrawl.report import sources
from dedupcrawl.report.listing import Listing, read_texts, row_of
from dedupcrawl.sites import site_of
from dedupcrawl.software.installation import NAME, SiteSoftware
from dedupcrawl.urls.credits import NAME as CREDITS
from dedupcrawl.urls.credits import Credit, Credits

BINS = 20
"""Number of bins of every histogram over [0, 1]; 1 itself is in the last one."""

_MOST_SOFTWARE = 1_000  # most recognized programs that are shown
_MOST_SITES = 1_000  # most sites whose aliases and software are shown
_EVERY = 1_024  # verdicts between two calls of the progress function


@dataclass(slots=True)
class Verdicts:
    """Figures of all recorded verdicts, and a list of the newest."""

    duplicates: int = 0  # verdicts of duplicate
    let_through: int = 0  # of these, the ones on pages that are stored all the same, being only observed or marked
    judged_again: int = 0  # of these, the ones on pages that were stored before their site's template was known
    given_back: int = 0  # verdicts of duplicate that were withdrawn; no other figure includes them
    in_doubt: int = 0  # verdicts of unique in doubt
    by_check: Counter[str] = field(default_factory=Counter)  # check → duplicates
    by_site: Counter[str] = field(default_factory=Counter)  # registrable domain of the duplicate → duplicates
    by_run: Counter[str] = field(default_factory=Counter)  # run → duplicates
    in_doubt_by_run: Counter[str] = field(default_factory=Counter)  # run → verdicts of unique in doubt
    across_sites: int = 0  # duplicates whose keeper is on another site
    # check → shape (BINS,): duplicates by the check's similarity
    similarity: dict[str, list[int]] = field(default_factory=dict)
    # shape (BINS,): duplicates by their probability
    probability: list[int] = field(default_factory=lambda: [0] * BINS)
    # shape (BINS,): pages kept in doubt, by their probability
    doubted: list[int] = field(default_factory=lambda: [0] * BINS)
    # shape (2n,): hashes of the URLs of duplicates, with the run and without
    hashes: sources.Hashes = field(default_factory=lambda: sources.hashes_of([]))
    listing: Listing = field(default_factory=Listing)  # the newest verdicts


@dataclass(frozen=True, slots=True)
class Report:
    """The data of the page."""

    index: dict[str, int | float | str]  # figures of the index, as `dedupcrawl index info` prints them
    run: str | None  # the run that the report is about; None: all runs in the index
    runs: list[sources.RunFigures]  # the figures of that run, or of each
    verdicts: Verdicts  # the recorded verdicts
    # number of a listed row → the texts of its two pages in stretches, if the index kept both
    texts: dict[int, list[Stretch]]
    standing: dict[str, str]  # keeper of a listed row that was superseded → the last page that superseded it
    rewritten: sources.Rewritten  # figures of all rewrites
    crawled: sources.Crawled | None  # figures of the crawl log; None without one
    rules: sources.RuleRows  # the rules, and the problems of their files
    aliases: list[dict[str, Any]]  # the use of aliases by site and source, the most used ones first
    # the software that was recognized, or outweighed, on sites with verdicts or rewrites, as from `SiteSoftware.told`
    software: list[dict[str, Any]]
    problems: tuple[str, ...]  # one sentence for each source that could not be read
    kept: int  # pages that these runs kept
    superseded: int  # of these, the ones that later pages superseded, in processes that finished
    saved: int  # fetches that rules saved
    fell_back: int  # rewritten requests that fell back to their original URL

    @property
    def compared(self) -> int:
        """Number of pages that were kept, plus duplicates that were not."""
        return self.kept + self.verdicts.duplicates - self.verdicts.judged_again


def collect(  # noqa: PLR0913 - what a report is of
    index: Index,
    log: Path | None,
    rules: Sequence[Path],
    runs: Sequence[Run],
    advance: Progress = lambda *_: None,
    *,
    run: str | None = None,
) -> Report:
    """Read everything once. A log or rule file that cannot be read is listed among the problems of the report.

    Other processes may write to the index meanwhile. The log, and rule files or folders of them, may be missing. `runs`
    are all runs that the index remembers. `run` restricts the report to one of them, except for the figures of the
    index and the evidence of the rules.

    Raises:
        IndexDamagedError, OSError: The index cannot be read.
    """
    info = index.info()
    verdicts = _verdicts(index, int(info["verdicts"]), advance, run)
    crawled, problems = _crawled(log, verdicts, advance, run)
    rewritten = sources.read_rewritten(lambda: (row for row in index.rewrites() if run in (None, row.run)))
    chosen = [one for one in runs if run in (None, one.name)] or ([Run(run, "", 0.0, begun=1)] if run else [])
    kept = sources.pages_kept(index, chosen, everything=run is None)
    figures = sources.figures_of(chosen, kept, verdicts.by_run, verdicts.in_doubt_by_run, rewritten.by_run)
    paths = [path for path in rules if path.exists()]
    rows = sources.read_rule_rows(paths, rewritten.by_rule)
    texts = read_texts(index, verdicts.listing.rows())
    keepers = {row.of for row in verdicts.listing.rows()}
    standing = {url: larger for url in keepers if (larger := standing_for(index, url)) is not None}
    by_site = [verdicts.by_site, *([crawled.pages_by_site] if crawled else [])]
    most_first = (count.most_common(_MOST_SITES) for count in by_site)
    sites = list(dict.fromkeys(site for site, _ in chain(rewritten.by_rule, *most_first)))[:_MOST_SITES]
    software = [
        installation
        for site in sorted(sites)
        for installation in SiteSoftware.from_bytes(index.site_state(site, NAME)).told(partial(_credits, index))
    ][:_MOST_SOFTWARE]
    return Report(
        info,
        run,
        figures,
        verdicts,
        texts,
        standing,
        rewritten,
        crawled,
        rows,
        _aliases(index, sites, rewritten.by_rule),
        software,
        (*problems, *rows.problems),
        kept=sum(row.kept for row in figures),
        superseded=sum(row.run.superseded for row in figures),
        saved=sum(row.saved for row in figures),
        fell_back=sum(row.run.fell_back for row in figures),
    )


def _verdicts(index: Index, total: int, advance: Progress, run: str | None) -> Verdicts:
    result = Verdicts()

    def duplicates() -> Iterator[str]:
        for number, recorded in enumerate(index.recorded(), 1):
            if number % _EVERY == 0:
                advance("verdicts", number, max(total, number))
            pair = row_of(recorded.verdict) if run in (None, recorded.run) else None
            if pair is None:
                continue
            row, evidence = pair
            result.listing.add(row, evidence)
            if row.doubt:
                result.in_doubt += 1
                result.in_doubt_by_run[recorded.run] += 1
                _count(result.doubted, row.probability)
                continue
            site = site_of(row.url)
            result.duplicates += 1
            is_late = recorded.verdict.was_judged_again
            result.judged_again += is_late
            result.let_through += not (is_late or recorded.was_dropped)
            result.by_check[row.check] += 1
            result.by_site[site] += 1
            result.by_run[recorded.run] += 1
            result.across_sites += site != site_of(row.of)
            _count(result.similarity.setdefault(row.check, [0] * BINS), row.similarity)
            _count(result.probability, row.probability)
            yield recorded.verdict.url
            yield sources.of_run(recorded.run, recorded.verdict.url)

    result.hashes = sources.hashes_of(duplicates())
    result.given_back = sum(row.verdict.is_duplicate and run in (None, row.run) for row in index.restored())
    advance("verdicts", total, total)
    return result


def _count(bins: list[int], share: float | None) -> None:
    if share is not None:
        bins[min(BINS - 1, max(0, int(share * BINS)))] += 1


def _crawled(
    log: Path | None, verdicts: Verdicts, advance: Progress, run: str | None
) -> tuple[sources.Crawled | None, list[str]]:
    if log is None or not log.is_file():
        return None, []
    titled = {url for row in verdicts.listing.rows() for url in (row.url, row.of)}
    try:
        size = log.stat().st_size
        crawled, tally = sources.read_crawled(
            log, verdicts.hashes, titled, lambda done: advance("crawl log", done, max(size, done)), run
        )
    except (LogError, OSError) as error:
        return None, [str(error)]
    if run is not None and not crawled.responses:
        return None, [f"The crawl log {log} has no row of this run: its figures are left out."]
    skipped = [f"{count:,} rows of the crawl log were skipped: {why}" for why, count in tally.skipped.most_common(5)]
    return crawled, [*skipped, *map(str, tally.unread)]


def _credits(index: Index, owner: str) -> Credits:
    return Credits.from_bytes(index.site_state(owner, CREDITS))


def _aliases(index: Index, sites: Iterable[str], rewrote: Mapping[tuple[str, str], int]) -> list[dict[str, Any]]:
    """The use of aliases, which pages name or earlier crawls found, as JSON values.

    Each row is about a source of aliases that was used or tried on a site: how many "urls" it helped to rewrite, its
    trials in all runs, why it is no longer used ("refuted"), and a URL from each section of the site where it is not
    used ("not_at").
    """
    rows = []
    for site in sites:
        state = _credits(index, site)
        for source in (DUPLICATE, *SOURCES):
            name = rule_id(source)
            trials = state.of.get(name, Credit())
            urls, refuted = rewrote.get((site, name), 0), state.refuted.get(name)
            if urls or trials.tried or refuted:
                row = {"site": site, "source": source, "urls": urls, "tried": trials.tried, "failed": trials.failed}
                rows.append({**row, "refuted": refuted, "not_at": [url for url, _ in trials.counterexamples]})
    return sorted(rows, key=lambda row: -row["urls"])
