"""Read the sources of a report in bounded memory: the crawl log, the runs, the rewrites, the rule files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mmh3
import numpy as np
from numpy.typing import NDArray

from dedupcrawl.aliases.alias import RULE
from dedupcrawl.crawl_logs.registry import format_of
from dedupcrawl.crawl_logs.rows import LogRow
from dedupcrawl.crawl_logs.tally import Tally
from dedupcrawl.index.pages import PageStore
from dedupcrawl.index.record import Rewrite
from dedupcrawl.index.runs import Run
from dedupcrawl.sites import owner_of, site_of
from dedupcrawl.urls.rule import Rule, RuleError, rule_facts
from dedupcrawl.urls.rule_files import read_rules, rule_files

_PAUSE = 60_000  # milliseconds; a longer gap between two responses is taken for a pause between two crawls
_LONGEST_TITLE = 200  # characters
_OK = 200  # RFC 9110

Hashes = NDArray[np.uint64]


@dataclass(slots=True)
class Crawled:
    """Figures of a crawl log."""

    responses: int = 0  # rows of responses, including redirects and errors
    pages: int = 0  # of these, the ones with status 200
    bytes: int = 0  # of their bodies
    duplicate_bytes: int = 0  # of these, the bytes of duplicates
    seconds: float = 0.0  # duration of the crawl, with gaps cut to one minute; 0 if no row has a time
    pages_by_site: Counter[str] = field(default_factory=Counter)  # registrable domain → pages
    titles: dict[str, str] = field(default_factory=dict)  # URL → title, for the URLs in `titled`
    # shape (pages,): when each page came, in milliseconds since the epoch, ascending
    at: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    # shape (pages,): whether it is a duplicate
    duplicate: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))


def hashes_of(texts: Iterable[str]) -> Hashes:
    """Shape (n,): a 64-bit hash of each text, as `read_crawled` compares them."""
    return np.fromiter(map(_hash, texts), np.uint64)


def _hash(text: str) -> int:
    return mmh3.hash64(text, signed=False)[0]


def of_run(run: str, url: str) -> str:
    """A name for a URL in one run, because in another run its page may be no duplicate."""
    return f"{run}\0{url}"


def read_crawled(
    log: Path,
    duplicates: Hashes,
    titled: Collection[str],
    advance: Callable[[int], None] = lambda _: None,
    run: str | None = None,
) -> tuple[Crawled, Tally]:
    """Read a crawl log, or its rows of one run, in 9 bytes of memory per page.

    `duplicates` are `hashes_of` the URLs of duplicates and, for rows with a run, of their names `of_run`. `titled` are
    the URLs whose titles are wanted; `advance` is called with the number of bytes read.

    Raises:
        LogError: The file is not a crawl log.
    """
    result, tally = Crawled(), Tally()
    log_format = format_of(log)
    wanted, hashed = frozenset(titled), np.unique(duplicates)
    times, flags = [result.at], [result.duplicate]
    for batch in log_format.batches(log, tally) if log_format else ():
        rows = [row for row in batch if _is_response(row) and run in (None, row.run)]
        pages = [row for row in rows if row.status in (None, _OK)]
        sizes = np.array([row.bytes or 0 for row in pages], dtype=np.int64)
        urls = hashes_of((row.url or "") if row.run is None else of_run(row.run, row.url or "") for row in pages)
        flags.append(np.isin(urls, hashed))
        times.append(np.array([row.fetched_at or 0 for row in pages], dtype=np.int64))
        result.responses += len(rows)
        result.pages += len(pages)
        result.bytes += int(sizes.sum())
        result.duplicate_bytes += int(sizes[flags[-1]].sum())
        for row in pages:
            if row.title is not None and row.url in wanted:
                result.titles[row.url] = row.title[:_LONGEST_TITLE]
            result.pages_by_site[site_of(row.url or "")] += 1
        advance(tally.bytes_read)
    at = np.concatenate(times)
    order = at.argsort(kind="stable")
    result.at, result.duplicate = at[order], np.concatenate(flags)[order]
    fetch_times = result.at[result.at > 0]
    result.seconds = float(np.minimum(np.diff(fetch_times), _PAUSE).sum()) / 1000 if len(fetch_times) else 0.0
    return result, tally


def _is_response(row: LogRow) -> bool:
    """Whether a row describes a response, not a verdict on one."""
    found_out = row.duplicate_of is not None or row.alias_of is not None or row.unique is not None
    return row.url is not None and (not found_out or row.bytes is not None)


@dataclass(frozen=True, slots=True)
class RunFigures:
    """Figures of one run."""

    run: Run  # as the index remembers it
    kept: int  # pages that it kept; for a run that was cut off or goes on, those that the index holds
    duplicates: int  # verdicts of duplicate that the index holds
    in_doubt: int  # verdicts of unique in doubt
    saved: int  # fetches that rules saved: at most one per rewritten URL, even if two processes of the run saved it


def pages_kept(index: PageStore, runs: Sequence[Run], *, everything: bool) -> Counter[str]:
    """Run → number of pages that it kept, for these runs, or with `everything` for all in the index."""
    counts = {run.name: run.kept for run in runs if run.is_whole}
    kept = Counter(counts)
    if everything or len(counts) < len(runs):
        wanted = {run.name for run in runs}
        for entry in index.entries():
            if entry.run not in counts and (everything or entry.run in wanted):
                kept[entry.run] += 1
    return kept


def figures_of(
    runs: Sequence[Run],
    kept: Mapping[str, int],
    duplicates: Mapping[str, int],
    in_doubt: Mapping[str, int],
    variants: Mapping[str, int],
) -> list[RunFigures]:
    """One row per run. Runs that the index has forgotten, so that only the counts have them, come first."""
    counts = (kept, duplicates, in_doubt, variants)
    forgotten = sorted(set().union(*counts) - {run.name for run in runs})
    rows = []
    for run in (*(Run(name, "", 0.0) for name in forgotten), *runs):
        its_kept, its_duplicates, its_doubts, rewritten = (of.get(run.name, 0) for of in counts)
        saved = max(0, min(run.saved, rewritten))
        rows.append(RunFigures(run, its_kept, its_duplicates, its_doubts, saved))
    return rows


def saved_by(rows: Sequence[RunFigures], at: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number of fetches saved by each moment in `at` (milliseconds since the epoch, ascending), in the same shape.

    The last one includes the fetches that were saved later, so that the curve ends at the total.
    """
    total = sum(row.saved for row in rows)
    pairs = sorted(pair for row in rows for pair in row.run.course)
    times = np.array([time for time, _ in pairs], dtype=np.int64)
    counts = np.array([0, *(count for _, count in pairs)], dtype=np.int64).cumsum()
    saved: NDArray[np.int64] = counts[times.searchsorted(at, side="right")]
    saved[-1:] = total
    return saved.clip(0, total)


@dataclass(frozen=True, slots=True)
class Rewritten:
    """Figures of all rewrites; a URL that two crawls rewrote counts twice."""

    variants: int = 0  # URLs that were rewritten
    aliases: int = 0  # of these, the ones that an alias rewrote, not a rule
    pages: int = 0  # canonical URLs that they were rewritten to
    # site and id of a rule → URLs that it helped to rewrite
    by_rule: Counter[tuple[str, str]] = field(default_factory=Counter)
    by_run: Counter[str] = field(default_factory=Counter)  # run → URLs that were rewritten


def read_rewritten(rewrites: Callable[[], Iterable[Rewrite]]) -> Rewritten:
    """Read the rewrites twice, in some tens of bytes of memory each; other processes may record more meanwhile.

    If a rule rewrote a URL to one that an alias then rewrote, the alias does not count: no spider asked for that URL.
    """
    by_rule: Counter[tuple[str, str]] = Counter()
    by_run: Counter[str] = Counter()
    ends = ((one, end) for one in rewrites() for end in (one.url, one.canonical))
    urls, pages = hashes_of(f"{one.spider}\0{one.run}\0{end}" for one, end in ends).reshape(-1, 2).T
    counting = np.ones(len(urls), dtype=np.bool_)
    aliases = 0
    for number, (rewrite, is_led_to) in enumerate(
        zip(rewrites(), np.isin(urls, pages, kind="sort").tolist(), strict=False)
    ):
        is_alias = any(rule.startswith(RULE) for rule in rewrite.rules)
        counting[number] = not (is_alias and is_led_to)
        if counting[number]:
            aliases += is_alias
            by_rule.update((_believed_of(rewrite.url, rule), rule) for rule in rewrite.rules)
            by_run[rewrite.run] += 1
    return Rewritten(int(counting.sum()), aliases, len(np.unique(pages[counting])), by_rule, by_run)


def _believed_of(url: str, rule: str) -> str:
    """The site or owner that a rule belongs to: rules belong to sites, aliases to owners."""
    return owner_of(url) if rule.startswith(RULE) else site_of(url)


_MOST = 20_000  # most rules that are shown: those that rewrote or cover most
_EXAMPLES = 3  # most examples of a rule
_PROBLEMS = 5  # most problems that are named


@dataclass(frozen=True, slots=True)
class RuleRows:
    """Rules as rows."""

    rows: list[dict[str, Any]]  # JSON values; rules that rewrote most come first, then those that cover most
    count: int  # number of all rules; there are at most `_MOST` rows
    sites: int  # number of sites with rules
    problems: tuple[str, ...]  # one sentence for each rule file that cannot be read


def read_rule_rows(paths: Sequence[Path], rewritten: Mapping[tuple[str, str], int]) -> RuleRows:
    """Read the rules at `paths`, existing files and folders; `rewritten` counts URLs by site and id of a rule."""
    rows: list[dict[str, Any]] = []
    problems = []
    count = sites = 0
    for path in sorted(rule_files(paths).values()):
        try:
            site_rules = read_rules(path)
        except RuleError as error:
            problems.append(str(error))
            continue
        sites += 1
        count += len(site_rules.rules)
        rows += [_row(site_rules.site, rule, rewritten) for rule in site_rules.rules]
        if len(rows) > 2 * _MOST:
            rows = _foremost(rows)
    more = [f"… and {len(problems) - _PROBLEMS} more rule files cannot be read"] if len(problems) > _PROBLEMS else []
    return RuleRows(_foremost(rows), count, sites, (*problems[:_PROBLEMS], *more))


def _foremost(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: (-row["rewrote"], -row["coverage"], row["site"], row["id"]))[:_MOST]


def _row(site: str, rule: Rule, rewritten: Mapping[tuple[str, str], int]) -> dict[str, Any]:
    rewrote = rewritten.get((site, rule.id), 0)
    return {**rule_facts(site, rule), "rewrote": rewrote, "examples": rule.examples[:_EXAMPLES]}
