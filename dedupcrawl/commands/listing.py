"""`dedupcrawl index list`: what an index holds, as rows to work on."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from dedupcrawl.commands.errors import FailureError, check_output
from dedupcrawl.commands.open_existing import DEFAULT_INDEX_HELP, open_existing
from dedupcrawl.counts import counted
from dedupcrawl.index.contract import Index
from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.rows import Recorded
from dedupcrawl.output import results, to_json

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
    with open_existing(index) as opened:
        try:
            with results(output) as out:
                if as_csv:
                    out.write(_csv_line(columns))
                for row in _drops(opened) if drops else _pages(opened):
                    out.write(_csv_line([row[name] for name in columns]) if as_csv else to_json(row) + b"\n")
                    count += 1
        except BrokenPipeError:
            raise
        except OSError as error:
            raise FailureError(f"{error.filename or output or 'the index'}: {error.strerror or error}") from error
        except IndexDamagedError as error:
            raise FailureError(str(error)) from error
    if as_json:
        click.echo(to_json({"rows": count}))
        return
    click.echo(f"{counted(count, 'dropped page' if drops else 'kept page')}", err=True)


def _drops(index: Index) -> Iterator[dict[str, Any]]:
    withdrawn = {row.verdict.url for row in index.restored()}
    newest: dict[str, Recorded] = {row.verdict.url: row for row in index.recorded()}
    for row in newest.values():
        verdict = row.verdict
        if row.was_dropped and verdict.url not in withdrawn:
            probability = verdict.evidence.get("probability")
            yield dict(
                zip(_OF_DROPS, (verdict.url, verdict.duplicate_of, verdict.check, probability, row.run), strict=True)
            )


def _pages(index: Index) -> Iterator[dict[str, Any]]:
    for entry in index.entries():
        yield dict(zip(_OF_PAGES, (entry.source, entry.title, entry.run), strict=True))


def _csv_line(values: tuple[str, ...] | list[Any]) -> bytes:
    """One row; a spreadsheet takes what begins with = + - @ for a formula, so that is quoted."""
    line = io.StringIO()
    csv.writer(line).writerow([f"'{value}" if str(value)[:1] in ("=", "+", "-", "@") else value for value in values])
    return line.getvalue().encode("utf-8", "replace")
