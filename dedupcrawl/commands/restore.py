"""`dedupcrawl index restore`: what was dropped or rewritten, as items or as URLs to fetch."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import click
import msgspec

from dedupcrawl.commands.errors import Command, check_output
from dedupcrawl.commands.options import counts_option, index_option, open_existing, rows_option
from dedupcrawl.commands.selection import Selection, check_known, needs_one, selection, standing
from dedupcrawl.content.checks.registry import CHECK_NAMES
from dedupcrawl.counts import counted
from dedupcrawl.detection.attachments import AttachmentError, items_of
from dedupcrawl.index.contract import Index
from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.rows import Dependent, Recorded, Rewrite
from dedupcrawl.output import results, to_json
from dedupcrawl.sites import site_of

_LET_THROUGH = (
    'would have been dropped, but went on: DEDUP_ACTION was "observe" or "mark", or "check" judged them; '
    "there is nothing to give back of them"
)


@click.command(cls=Command, short_help="Restore what was dropped or never fetched.")
@click.argument("urls", nargs=-1)
@click.option("--rule", metavar="ID", help="URLs that this rule rewrote.")
@click.option("--check", type=click.Choice(CHECK_NAMES), metavar="NAME", help="Pages that were dropped by this check.")
@click.option("--run", help="Pages of this crawl (explain shows its name).")
@click.option("--site", help="Pages of this host or registrable domain.")
@rows_option
@click.option("--refetch", is_flag=True, help="Have the spider that dropped them fetch them at its next start.")
@index_option
@counts_option
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

    One JSON row per page: "url", why it is not in the output, and its "items" where DEDUP_KEEP_TEXT kept them. A
    restored page is never dropped as a duplicate again; its verdict is withdrawn. If several conditions are given,
    all must hold. Running it again gives the same rows. After --rule, switch the rule off with 'rules disable', or the
    next crawl applies it again. The URL of a page also stands for the items named by their position on it (URL#1,
    URL#2, …). A duplicate that was only observed or marked (DEDUP_ACTION) needs no restoring: it is in the output. If
    none of the named URLs is known, the exit status is 1.

    \b
    dedupcrawl index restore https://example.com/42 --refetch
    dedupcrawl index restore --check simhash --output again.jsonl
    dedupcrawl index restore --rule r1-2 --refetch
    """
    if rule is not None and check is not None:
        raise click.UsageError(
            "--rule gives back URLs that were never fetched, --check pages that were dropped: nothing is both."
        )
    needs_one(urls, rule, check, run, site)
    check_output(output, as_json=as_json)
    wanted = selection(urls, site, run)
    with open_existing(index) as opened:
        check_known(opened, wanted, rule)
        dropped: dict[str, Dependent] = {}
        rewritten: dict[tuple[str, str], Dependent] = {}
        let_through = 0
        newest = {_key(row): row.at for row in _rows(opened, wanted, rule, check)}  # of several runs the last
        with results(output) as out:
            for row in _rows(opened, wanted, rule, check):
                if row.at < newest.get(_key(row), math.inf):
                    continue
                del newest[_key(row)]
                if isinstance(row, Recorded) and not row.was_dropped:
                    let_through += 1
                    continue
                if isinstance(row, Rewrite):
                    rewritten[row.spider, row.url] = Dependent(row.spider, row.url, b"")
                else:
                    dropped[row.verdict.url] = Dependent(row.spider, row.verdict.url, row.request)
                out.write(to_json(_row(row, opened)) + b"\n")
        # Only now: after a crash in between nothing was given back yet.
        opened.withdraw(dropped)
        if refetch:
            opened.refetch([*rewritten.values(), *dropped.values()])
        said = f"{counted(len(dropped), 'dropped page')} and {counted(len(rewritten), 'rewritten URL')} given back"
        if dropped or rewritten:
            said += ", to be fetched at the next start of their spiders" if refetch else ""
        elif not let_through:
            said += _why_none(opened, wanted, check)
    if let_through:
        said += f"\n{counted(let_through, 'duplicate')} {_LET_THROUGH}"
    counts = {"dropped": len(dropped), "rewritten": len(rewritten), "let_through": let_through, "refetch": refetch}
    click.echo(to_json(counts) if as_json else said, err=not as_json)
    if urls and not (dropped or rewritten or let_through):
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
    return ": the index knows nothing of these URLs that was dropped or rewritten" if wanted.urls else ""


def _row(row: Recorded | Rewrite, index: Index) -> dict[str, Any]:
    """What is printed of a page that was dropped, or of a URL that was rewritten."""
    if isinstance(row, Rewrite):
        about = {"url": row.url, "duplicate_of": row.canonical, "check": None, "rules": list(row.rules)}
        return {**about, "site": site_of(row.url), "spider": row.spider, "run": row.run, "items": []}
    verdict = row.verdict
    try:
        items = [msgspec.Raw(item) for item in items_of(index.attachments(verdict.url))]
    except AttachmentError as error:
        raise IndexDamagedError(f"{verdict.url}: {error}") from error
    about = {"url": verdict.url, "duplicate_of": verdict.duplicate_of, "check": verdict.check, "rules": []}
    return {**about, "site": row.site, "spider": row.spider, "run": row.run, "items": items}
