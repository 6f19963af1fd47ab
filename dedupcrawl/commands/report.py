"""`dedupcrawl report`: a page to look at."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from dedupcrawl.commands.errors import FailureError
from dedupcrawl.commands.open_existing import DEFAULT_INDEX_HELP, index_folder, open_existing
from dedupcrawl.commands.options import rules_option
from dedupcrawl.commands.progress import stages_progress
from dedupcrawl.counts import counted, megabytes
from dedupcrawl.index.contract import IndexDamagedError
from dedupcrawl.printable import printable


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
@click.option("--json", "as_json", is_flag=True, help="Print the figures as one JSON object.")
def command(index: str | None, output: Path, log: Path | None, rules: Path, as_json: bool) -> None:
    """Write a page that shows what a crawl saved, what was dropped and why, and what was let through in doubt.

    It is one file that opens offline in any browser: figures, plots, all duplicates with what differs, clusters, rules.
    The index is only read; a crawl may be writing to it.

    \b
    dedupcrawl report --output report.html
    dedupcrawl report --index JOBDIR/dedup/index --output report.html
    dedupcrawl report --output report.html --json | jq .duplicates
    """
    try:
        from dedupcrawl.report.page import write
    except ModuleNotFoundError as error:
        raise FailureError(f"the report needs {error.name}: pip install 'dedupcrawl[report]'") from error
    from dedupcrawl.report.collect import collect

    beside = index_folder(index).parent / "crawl-log.jsonl"
    with open_existing(index) as opened:
        try:
            with stages_progress() as told:
                report = collect(opened, log or beside, [rules], told)
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
        click.echo(msgspec.json.encode(figures | {"kept": report.index["pages"], "rules": report.rules.count}))
        return
    found = f"{counted(duplicates, 'duplicate')}, {in_doubt:,} in doubt, {counted(report.rules.count, 'rule')}"
    click.echo(f"{output}: {found}; {megabytes(length)}, open it in a browser")
