"""`dedupcrawl index list`: what an index holds, as rows to work on."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from dedupcrawl.commands.drops import standing
from dedupcrawl.commands.errors import check_output, rows_to
from dedupcrawl.commands.open_existing import DEFAULT_INDEX_HELP, open_existing
from dedupcrawl.counts import counted
from dedupcrawl.index.contract import Index
from dedupcrawl.output import to_json

_OF_DROPS = ("url", "duplicate_of", "check", "probability", "run")
_OF_PAGES = ("url", "title", "run")


@click.command(name="list", short_help="The pages that were kept, or dropped, as rows.")
@click.option("--drops", is_flag=True, help="Pages that were dropped as duplicates.  [default: those that were kept]")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the rows here, as CSV if its name ends in .csv.  [default: JSON Lines to stdout]",
)
@click.option("--index", help=DEFAULT_INDEX_HELP)
@click.option("--json", "as_json", is_flag=True, help="Print the count as one JSON object (needs --output).")
def listing(drops: bool, output: Path | None, index: str | None, as_json: bool) -> None:
    """List the pages that an index keeps (url, title, run), or those that were dropped for them.

    Of a drop: url, duplicate_of, check, probability and run. Of several on one URL the last counts; one that was
    withdrawn by 'index restore' is none.

    \b
    dedupcrawl index list --drops --output drops.csv
    dedupcrawl index list | jq -r .url
    """
    if as_json and output is None:
        raise click.UsageError("--json prints the count to stdout: say with --output where the rows go.")
    check_output(output)
    columns = _OF_DROPS if drops else _OF_PAGES
    as_csv = output is not None and output.suffix == ".csv"
    count = 0
    with open_existing(index) as opened, rows_to(output) as out:
        if as_csv:
            out.write(_csv_line(columns))
        for values in _drops(opened) if drops else _pages(opened):
            row = dict(zip(columns, values, strict=True))
            out.write(_csv_line(values) if as_csv else to_json(row) + b"\n")
            count += 1
    if as_json:
        click.echo(to_json({"rows": count}))
        return
    click.echo(f"{counted(count, 'dropped page' if drops else 'kept page')}", err=True)


def _drops(index: Index) -> Iterator[tuple[Any, ...]]:
    newest = {row.verdict.url: row.at for row in standing(index, index.recorded())}  # of several crawls
    for row in standing(index, index.recorded()):
        verdict = row.verdict
        if row.was_dropped and newest.get(verdict.url) == row.at:
            yield verdict.url, verdict.duplicate_of, verdict.check, verdict.evidence.get("probability"), row.run


def _pages(index: Index) -> Iterator[tuple[Any, ...]]:
    return ((entry.source, entry.title, entry.run) for entry in index.entries())


def _csv_line(values: Iterable[Any]) -> bytes:
    """One row; a spreadsheet takes what begins with = + - @ for a formula, so that is quoted."""
    line = io.StringIO()
    csv.writer(line).writerow([f"'{value}" if str(value)[:1] in ("=", "+", "-", "@") else value for value in values])
    return line.getvalue().encode("utf-8", "replace")
