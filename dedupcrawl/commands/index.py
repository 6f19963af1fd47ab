"""`dedupcrawl index`: figures, integrity and contents of an index; what was dropped, as items or as URLs to fetch."""

from __future__ import annotations

import csv
import io
import math
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

import click
import msgspec

from dedupcrawl.aliases.alias import NAME as ALIAS
from dedupcrawl.commands import options
from dedupcrawl.commands.console import BadInputError, FailureError, Group, check_output, progress, table
from dedupcrawl.commands.selection import Selection, check_known, chosen_run, needs_one, of_aliases, selection, standing
from dedupcrawl.content.checks.registry import CHECK_NAMES
from dedupcrawl.detection.attachments import items_of
from dedupcrawl.index.contract import Index
from dedupcrawl.index.limits import recount
from dedupcrawl.index.record import Recorded, Rewrite, Skip
from dedupcrawl.output import results, to_json
from dedupcrawl.printable import counted, megabytes, printable
from dedupcrawl.sites import site_of


@click.group(cls=Group)
def command() -> None:
    """Show, verify and edit the contents of an index.

    \b
    dedupcrawl index info
    dedupcrawl index verify --index lmdb:/data/dedup/index
    dedupcrawl index forget --site example.com
    dedupcrawl index restore --check simhash --refetch
    dedupcrawl index list --drops --output drops.csv
    """


_STORED = {
    "let_through": 'would have been dropped, but went on: DEDUP_ACTION was "observe" or "mark", or "check" judged them',
    "judged_again": "stored before it was known what the site repeats, and judged again once it was",
}


@command.command(short_help="Restore what was dropped or never fetched.")
@click.argument("urls", nargs=-1)
@click.option("--rule", metavar="ID", help="URLs that this rule rewrote.")
@click.option("--check", type=click.Choice(CHECK_NAMES), metavar="NAME", help="Pages that were dropped by this check.")
@click.option("--run", help="Pages of this crawl (explain shows its name).")
@click.option("--site", help="Pages of this host or registrable domain.")
@options.rows_option
@click.option("--refetch", is_flag=True, help="Have the spider that dropped them fetch them at its next start.")
@options.index_option
@options.counts_option
def restore(  # noqa: PLR0913 - the options of a command, as click passes them
    urls: Sequence[str],
    rule: str | None,
    check: str | None,
    run: str | None,
    site: str | None,
    output: Path | None,
    refetch: bool,
    index: str | None,
    as_json: bool,
) -> None:
    """Restore what was dropped as a duplicate, or never fetched because a rule sent it elsewhere.

    One JSON row per page: "url", why it is not in the output, and its "items" if DEDUP_KEEP_TEXT kept them. A restored
    page is never dropped as a duplicate again; its verdict is withdrawn. If several conditions are given, all must
    hold. Running it again gives the same rows. After --rule, switch the rule off with 'rules disable', or the next
    crawl applies it again; what pages say (rules alias.…) is switched off by DEDUP_ALIASES. The URL of a page also
    stands for the items named by their position on it (URL#1, URL#2, …). A duplicate that was only observed or marked
    (DEDUP_ACTION), or judged again once it was stored, needs no restoring: it is in the output. If none of the named
    URLs is known, the exit status is 1.

    \b
    dedupcrawl index restore https://example.com/42 --refetch
    dedupcrawl index restore --check simhash --output again.jsonl
    dedupcrawl index restore --rule r1-2 --refetch
    """
    if rule is not None and check is not None:
        raise click.UsageError(
            "--rule restores URLs that were never fetched, and --check pages that were dropped: give only one of them."
        )
    needs_one(urls, rule, check, run, site)
    check_output(output, as_json=as_json)
    wanted = selection(urls, site, run)
    with options.open_existing(index) as opened:
        check_known(opened, wanted, rule)
        dropped: dict[str, Skip] = {}
        rewritten: dict[tuple[str, str], Skip] = {}
        stored = dict.fromkeys(_STORED, 0)
        again = 0
        newest = {_key(row): row.at for row in _rows(opened, wanted, rule, check)}  # of several runs the last
        with results(output) as out:
            for row in _rows(opened, wanted, rule, check):
                if row.at < newest.get(_key(row), math.inf):
                    continue
                del newest[_key(row)]
                if isinstance(row, Recorded) and not row.was_dropped:
                    stored["judged_again" if row.verdict.was_judged_again else "let_through"] += 1
                    continue
                if isinstance(row, Rewrite):
                    rewritten[row.spider, row.url] = Skip(row.spider, row.url, b"")
                else:
                    again += opened.is_restored(row.verdict.url)
                    dropped[row.verdict.url] = Skip(row.spider, row.verdict.url, row.request)
                out.write(to_json(_row(row, opened)) + b"\n")
        # Only now, and in this order: after a crash in between the verdicts are still there, to be restored again.
        if refetch:
            opened.make_due([*rewritten.values(), *dropped.values()])
        opened.withdraw(dropped)
        for url in {*dropped, *(url for _, url in rewritten)}:
            opened.detach(url, ALIAS)
        message = "nothing given back"
        if dropped or rewritten:
            pages, urls = counted(len(dropped), "dropped page"), counted(len(rewritten), "rewritten URL")
            message = f"{pages} and {urls} given back"
        message += f" ({counted(again, 'page')} restored already)" if again else ""
        if dropped or rewritten:
            message += ", to be fetched at the next start of their spiders" if refetch else ""
        elif not any(stored.values()):
            message += _why_none(opened, wanted, check)
    message += "".join(
        f"\n{counted(count, 'duplicate')} {_STORED[name]}; there is nothing to restore of them"
        for name, count in stored.items()
        if count
    )
    counts = {"dropped": len(dropped), "rewritten": len(rewritten), "again": again, **stored, "refetch": refetch}
    click.echo(to_json(counts) if as_json else message, err=not as_json)
    if urls and not (dropped or rewritten or any(stored.values())):
        raise SystemExit(1)


def _rows(index: Index, wanted: Selection, rule: str | None, check: str | None) -> Iterator[Recorded | Rewrite]:
    if rule is None:
        yield from _dropped(index, wanted, check)
    if check is None:
        for rewrite in index.rewrites():
            if (rule is None or rule in rewrite.rules) and wanted.takes(rewrite.url, run=rewrite.run, at=rewrite.at):
                yield rewrite


def _key(row: Recorded | Rewrite) -> tuple[str, str]:
    """What is given back once: a page, or what a spider rewrote."""
    return (row.spider, row.url) if isinstance(row, Rewrite) else ("", row.verdict.url)


def _dropped(index: Index, wanted: Selection, check: str | None) -> Iterator[Recorded]:
    """Verdicts of duplicate that are meant, those withdrawn before first."""
    meant = (
        row
        for row in chain(index.restored(), index.recorded())
        if (check is None or row.verdict.check == check) and wanted.takes(row.verdict.url, run=row.run, at=row.at)
    )
    return standing(index, meant)


def _why_none(index: Index, wanted: Selection, check: str | None) -> str:
    """The end of the sentence that nothing is given back."""
    if check is not None:
        by_page = {row.verdict.url: row.verdict.check for row in _dropped(index, wanted, None) if row.was_dropped}
        counts = ", ".join(f"{name} {count:,}" for name, count in Counter(by_page.values()).most_common())
        return f": no drop by {check}; there {f'are {counts}' if counts else 'is none by any other'}"
    return ": the index has no drop and no rewrite of these URLs" if wanted.urls else ""


def _row(row: Recorded | Rewrite, index: Index) -> dict[str, Any]:
    """What is printed of a page that was dropped, or of a URL that was rewritten."""
    if isinstance(row, Rewrite):
        about = {"url": row.url, "duplicate_of": row.canonical, "check": None, "rules": list(row.rules)}
        return {**about, "site": site_of(row.url), "spider": row.spider, "run": row.run, "items": []}
    verdict = row.verdict
    items = [msgspec.Raw(item) for item in items_of(index.attachments(verdict.url))]
    about = {"url": verdict.url, "duplicate_of": verdict.duplicate_of, "check": verdict.check, "rules": []}
    return {**about, "site": row.site, "spider": row.spider, "run": row.run, "items": items}


_AT_ONCE = 1_000  # pages


@command.command(short_help="Remove pages, so that nothing counts as their duplicate.")
@click.argument("urls", nargs=-1)
@click.option("--site", help="Pages of this host or registrable domain.")
@click.option("--run", help="Pages of this crawl (explain shows its name).")
@click.option("--older-than", metavar="AGE", help="Pages that were kept longer ago, as in 30d, 12h or 3600.")
@options.index_option
@options.json_option
def forget(  # noqa: PLR0913 - the options of a command, as click passes them
    urls: Sequence[str], site: str | None, run: str | None, older_than: str | None, index: str | None, as_json: bool
) -> None:
    """Remove pages, with the texts and items kept beside them, so that nothing counts as their duplicate any more.

    This also removes what crawls have found out about their URLs: verdicts, rewrites, requests to be sent again, and
    which other URLs lead to them (aliases); later crawls fetch these again. If several conditions are given, all must
    hold; an alias is also removed if the URL to which it leads fulfils them. The URL of a page also stands for the
    items named by their position on it (URL#1, URL#2, …). A page of another URL that was dropped because of a forgotten
    one stays dropped and keeps its verdict; see 'index restore'. New pages reuse the space; 'index compact' returns it
    to the disk, and from then on the files contain nothing of what was forgotten.

    If the index has none of the named URLs, the exit status is 1.

    \b
    dedupcrawl index forget https://example.com/42
    dedupcrawl index forget --site example.com --older-than 90d
    """
    needs_one(urls, site, run, older_than)
    wanted = selection(urls, site, run, older_than, now=time.time())
    with options.open_existing(index) as opened:
        forgotten, sites = _forget(opened, wanted)
        recount(opened, sites)
    pages, aliases = forgotten["page"], forgotten["alias"]
    unknown = ": the index has none of these URLs" if urls and not forgotten.total() else ""
    and_aliases = f" and {counted(aliases, 'alias')}" if aliases else ""
    message = f"{counted(pages, 'page')}{and_aliases} forgotten{unknown}"
    click.echo(to_json({"forgotten": pages, "aliases": aliases}) if as_json else message)
    if unknown:
        raise SystemExit(1)


def _forget(index: Index, wanted: Selection) -> tuple[Counter[str], set[str]]:
    """How many of a "page", an "alias" and a "drop" are gone, and the sites that the pages were of."""
    check_known(index, wanted)
    sites: set[str] = set()
    forgotten = Counter(alias=index.detach_if(ALIAS, of_aliases(wanted), wanted.urls))
    kept = (
        entry for entry in index.entries() if wanted.takes(entry.url, entry.source, run=entry.run, at=entry.kept_at)
    )
    while some := list(islice(kept, _AT_ONCE)):
        sites |= {entry.site for entry in some}
        forgotten["page"] += index.forget(entry.url for entry in some)
        for source in {entry.source for entry in some if entry.source != entry.url}:
            if index.entry(source) is None:  # else what lies beside it is another page's
                index.detach(source, "")
    dropped = (
        row.verdict.url
        for row in chain(index.recorded(), index.restored())
        if row.verdict.is_duplicate and wanted.takes(row.verdict.url, run=row.run, at=row.at)
    )
    while named := list(islice(dropped, _AT_ONCE)):
        beside = ((url, index.attachments(url)) for url in dict.fromkeys(named) if index.entry(url) is None)
        gone = {url: attached for url, attached in beside if attached}
        forgotten.update(drop=len(gone), alias=sum(ALIAS in attached for attached in gone.values()))
        index.forget(gone)
    forgotten["drop"] += index.forget_verdicts(lambda row: wanted.takes(row.verdict.url, run=row.run, at=row.at))
    forgotten["drop"] += index.forget_rewrites(lambda row: wanted.takes(row.url, run=row.run, at=row.at))
    if wanted.run is None and wanted.before is None:  # of what is to be fetched again neither is known
        forgotten["drop"] += index.forget_skips(lambda url: wanted.takes(url, run="", at=0.0))
    return forgotten, sites


@command.command(short_help="Return the space of forgotten pages to the disk.")
@options.index_option
@options.json_option
def compact(index: str | None, as_json: bool) -> None:
    """Return the space of forgotten and replaced pages and of older verdicts to the disk.

    No other process may have the index open meanwhile.

    \b
    dedupcrawl index compact --index lmdb:/data/dedup/index
    """
    with options.open_existing(index) as opened:
        before = int(opened.info()["bytes"])
        opened.compact()
        recount(opened)
        after = int(opened.info()["bytes"])
    message = f"{megabytes(before)} before, {megabytes(after)} now"
    click.echo(to_json({"bytes_before": before, "bytes": after}) if as_json else message)


_OF_DROPS = ("url", "duplicate_of", "check", "probability", "needed", "run")
_OF_PAGES = ("url", "title", "run")
_WRITTEN = (".csv", ".jsonl", ".json", ".ndjson", "")


@command.command("list", short_help="List the pages that were kept, or dropped, as rows.")
@click.option("--drops", is_flag=True, help="Pages that were dropped as duplicates.  [default: those that were kept]")
@click.option(
    "--output",
    type=options.FILE,
    help="Write the rows here: CSV if its name ends in .csv, JSON Lines in .jsonl.  [default: JSON Lines to stdout]",
)
@options.run_option("all")
@options.index_option
@options.counts_option
def listing(drops: bool, output: Path | None, run: str, index: str | None, as_json: bool) -> None:
    """List the pages that an index keeps (url, title, run), or those that were dropped for them.

    For a drop: url, duplicate_of, check, probability, the one that was needed, and run. If a URL was dropped several
    times, the last one counts; drops that 'index restore' has undone are left out. In CSV, which is for people,
    percent-encoded letters of URLs are decoded.

    \b
    dedupcrawl index list --drops --output drops.csv
    dedupcrawl index list --run last | jq -r .url
    """
    check_output(output, as_json=as_json)
    columns = _OF_DROPS if drops else _OF_PAGES
    kind = output.suffix.lower() if output is not None and (output.is_file() or not output.exists()) else ""
    if kind not in _WRITTEN:
        raise BadInputError(f"--output: {output} is neither .csv nor .jsonl, and the rows are written as one of these.")
    as_csv = kind == ".csv"
    count = 0
    with options.open_existing(index) as opened, results(output) as out:
        if as_csv:
            out.write(_csv_line(columns))
        _, name = chosen_run(opened, run)
        for values in _drops(opened, name) if drops else _pages(opened, name):
            row = dict(zip(columns, values, strict=True))
            out.write(_csv_line(values) if as_csv else to_json(row) + b"\n")
            count += 1
    message = counted(count, "dropped page" if drops else "kept page")
    click.echo(to_json({"rows": count}) if as_json else message, err=not as_json)


def _pages(index: Index, run: str | None) -> Iterator[tuple[Any, ...]]:
    return ((one.source, one.title, one.run) for one in index.entries() if run in (None, one.run))


def _drops(index: Index, run: str | None) -> Iterator[tuple[Any, ...]]:
    newest = {row.verdict.url: row.at for row in _standing_of(index, run)}  # of several crawls
    for row in _standing_of(index, run):
        verdict = row.verdict
        if row.was_dropped and newest.get(verdict.url) == row.at:
            probability, needed = (verdict.evidence.get(name) for name in ("probability", "needed"))
            yield verdict.url, verdict.duplicate_of, verdict.check, probability, needed, row.run


def _standing_of(index: Index, run: str | None) -> Iterator[Recorded]:
    return (row for row in standing(index, index.recorded()) if run in (None, row.run))


# What spreadsheets take for a formula at the beginning of a cell, which for some of them begins behind ";", too.
_FORMULA = re.compile(r"(^|;)(?=\s*[=+@＝＋－＠-])")


def _csv_line(values: Iterable[Any]) -> bytes:
    """One row, `printable`; an apostrophe stands before what a spreadsheet would take for a formula."""
    line = io.StringIO()
    shown = (_FORMULA.sub(r"\1'", printable(value)) if isinstance(value, str) else value for value in values)
    csv.writer(line).writerow(shown)
    return line.getvalue().encode("utf-8", "replace")


_PROBLEMS_NAMED = 5  # in one sentence; the others are counted


@command.command()
@options.index_option
@options.json_option
def info(index: str | None, as_json: bool) -> None:
    """Pages, checks, postings, verdicts, bytes on disk.

    The counts of postings by check are missing while pages (up to 4,096) wait to be merged into a segment, because only
    a crawl has their postings in memory. The stats at the end of its log contain these counts.

    \b
    dedupcrawl index info
    dedupcrawl index info --index JOBDIR/dedup/index --json | jq .pages
    """
    with options.open_existing(index) as opened:
        figures = opened.info()
    texts = (f"{value:,}" if isinstance(value, int) else printable(str(value)) for value in figures.values())
    click.echo(to_json(figures) if as_json else "\n".join(table(list(zip(figures, texts, strict=True)))))


@command.command(short_help="Read everything, check every invariant.")
@options.index_option
@options.json_option
def verify(index: str | None, as_json: bool) -> None:
    """Read everything and check every invariant; the exit status is 1 if something is wrong.

    \b
    dedupcrawl index verify
    dedupcrawl index verify --index lmdb:/data/dedup/index || echo "delete it and crawl again"
    """
    pages, problems = options.apart(_read, index, index or str(options.index_folder(index)))
    if as_json:
        click.echo(to_json({"pages": pages, "problems": problems}))
    if problems:
        more = f" … and {len(problems) - _PROBLEMS_NAMED} more" if len(problems) > _PROBLEMS_NAMED else ""
        raise FailureError("; ".join(problems[:_PROBLEMS_NAMED]) + more)
    if not as_json:
        click.echo(f"{counted(pages, 'page')}, all sound")


def _read(index: str | None) -> tuple[int, list[str]]:
    """How many pages an index has, and what is wrong with them."""
    with options.open_existing(index, is_looked_at=True) as opened:
        pages = int(opened.info()["pages"])
        with progress() as advance:
            return pages, opened.verify(lambda done, _: advance("verifying", done, pages))
