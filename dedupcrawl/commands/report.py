"""`dedupcrawl report`: a page to look at."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from dedupcrawl.commands.errors import BadInputError, FailureError
from dedupcrawl.commands.open_existing import DEFAULT_INDEX_HELP, index_folder, open_existing
from dedupcrawl.commands.options import rules_option
from dedupcrawl.commands.progress import stages_progress
from dedupcrawl.counts import counted, megabytes
from dedupcrawl.index.contract import UNREADABLE, IndexDamagedError
from dedupcrawl.printable import printable

_LAST_ROWS = 1 << 16  # bytes: a row is some hundred


class _Row(msgspec.Struct):
    run: str = ""


@click.command()
@click.option("--index", help=DEFAULT_INDEX_HELP)
@click.option(
    "--output", required=True, type=click.Path(dir_okay=False, path_type=Path), help="Write the page here, as HTML."
)
@click.option(
    "--log",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The crawl log.  [default: crawl-log.jsonl beside the index]",
)
@rules_option
@click.option("--run", help="Only what this crawl did (explain names it), or 'last': the last in the crawl log.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as one JSON object.")
def command(index: str | None, output: Path, log: Path | None, rules: Path, run: str | None, as_json: bool) -> None:
    """Write a page that shows what a crawl saved, what was dropped and why, and what was let through in doubt.

    It is one file that opens offline in any browser: figures, plots, all duplicates with what differs, clusters, rules.
    The index is only read; a crawl may be writing to it.

    \b
    dedupcrawl report --output report.html
    dedupcrawl report --run last --output report.html
    dedupcrawl report --index JOBDIR/dedup/index --output report.html
    dedupcrawl report --output report.html --json | jq .duplicates
    """
    try:
        from dedupcrawl.report.page import write
    except ModuleNotFoundError as error:
        raise FailureError(f"the report needs {error.name}: pip install 'dedupcrawl[report]'") from error
    from dedupcrawl.report.collect import collect

    beside = index_folder(index).parent / "crawl-log.jsonl"
    if run == "last":
        run = _last_run(log or beside)
    with open_existing(index) as opened:
        try:
            with stages_progress() as told:
                report = collect(opened, log or beside, [rules], told, run)
            length = write(report, output)
        except IndexDamagedError as error:
            raise FailureError(str(error)) from error
        except OSError as error:
            raise FailureError(f"{error.filename or output}: {error.strerror or error}") from error
    duplicates, in_doubt = report.verdicts.duplicates, report.verdicts.in_doubt
    for problem in report.problems:
        click.echo(printable(problem), err=True)
    if as_json:
        figures = {"output": str(output), "bytes": length, "duplicates": duplicates, "in_doubt": in_doubt}
        click.echo(msgspec.json.encode(figures | {"kept": report.kept, "rules": report.rules.count}))
        return
    found = f"{counted(duplicates, 'duplicate')}, {in_doubt:,} in doubt, {counted(report.rules.count, 'rule')}"
    click.echo(f"{output}: {found}; {megabytes(length)}, open it in a browser")


def _last_run(log: Path) -> str:
    """The crawl that wrote the last row of our own crawl log.

    Raises:
        BadInputError: There is none that says so.
    """
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - _LAST_ROWS))
            rows = file.read().splitlines()
        run = msgspec.json.decode(rows[-1] if rows else b"", type=_Row).run
    except (OSError, *UNREADABLE):
        run = ""
    if not run:
        raise BadInputError(f"{log} does not say which crawl was the last: name one with --run (explain does).")
    return run
