"""`dedupcrawl report`: what crawls saved and dropped, as a web page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dedupcrawl import extras
from dedupcrawl.commands import options
from dedupcrawl.commands.console import Command, FailureError, check_output, progress
from dedupcrawl.commands.selection import chosen_run
from dedupcrawl.output import to_json
from dedupcrawl.printable import counted, megabytes, printable

if TYPE_CHECKING:
    from dedupcrawl.report.collect import Report


@click.command(cls=Command)
@options.index_option
@click.option("--output", type=options.FILE, help="Write the page here, as HTML; with --json it may be left out.")
@click.option("--log", type=options.EXISTING_FILE, help="The crawl log.  [default: crawl-log.jsonl beside the index]")
@options.rules_option
@options.run_option("last")
@options.json_option
def command(index: str | None, output: Path | None, log: Path | None, rules: Path, run: str, as_json: bool) -> None:  # noqa: PLR0913 - the options of a command, as click passes them
    """Write a page that shows what the last crawl saved, what was dropped and why, and what was let through in doubt.

    It is one file that opens offline in any browser: figures, plots, all duplicates with what differs, clusters, rules.
    The index is only read; a crawl may be writing to it.

    \b
    dedupcrawl report --output report.html
    dedupcrawl report --run all --output report.html
    dedupcrawl report --index JOBDIR/dedup/index --output report.html
    dedupcrawl report --json > figures.json
    """
    if output is None and not as_json:
        raise click.UsageError("--output: the report is not printed; name a file for it, such as report.html.")
    if lacking := extras.missing("report"):
        raise FailureError(f"the report {lacking}.")
    from dedupcrawl.report.collect import collect
    from dedupcrawl.report.page import write

    check_output(output)
    with options.open_existing(index) as opened:
        runs, name = chosen_run(opened, run)
        with progress() as advance:
            report = collect(opened, log or options.log_of(index), [rules], runs, advance, run=name)
        length = write(report, output) if output is not None else 0
    for problem in report.problems:
        click.echo(printable(problem), err=True)
    if as_json:
        written = {"output": str(output), "bytes": length} if output is not None else {}
        click.echo(to_json({**written, **_figures(report)}))
        return
    about = f"run {printable(name)}" if name is not None else counted(len(report.runs), "run")
    verdicts = report.verdicts
    stored = {
        "would have been dropped": verdicts.let_through,
        "stored before it was known what their sites repeat": verdicts.judged_again,
    }
    of_them = ", ".join(f"{count:,} {became}" for became, count in stored.items() if count)
    kept_all = f" ({of_them})" if of_them else ""
    back = f", {verdicts.given_back:,} given back" if verdicts.given_back else ""
    rules_known = counted(report.rules.count, "rule")
    message = f"{counted(verdicts.duplicates, 'duplicate')}{kept_all}{back}, {verdicts.in_doubt:,} in doubt"
    click.echo(f"{output}: {about}: {message}, {rules_known}; {megabytes(length)}, open it in a browser")
    if name is not None and len(runs) > 1:
        click.echo(f"The index knows {counted(len(runs) - 1, 'other run')}: --run all shows them together.", err=True)


_OF_VERDICTS = ("duplicates", "let_through", "judged_again", "given_back", "in_doubt")
_OF_RUN = ("kept", "duplicates", "in_doubt", "saved")


def _figures(report: Report) -> dict[str, object]:
    verdicts, rewritten = report.verdicts, report.rewritten
    return {
        "run": report.run,
        "kept": report.kept,
        "superseded": report.superseded,
        **{name: getattr(verdicts, name) for name in _OF_VERDICTS},
        "saved": report.saved,
        "fell_back": report.fell_back,
        "rules": report.rules.count,
        "rewritten": {"rules": rewritten.variants - rewritten.aliases, "aliases": rewritten.aliases},
        "aliases": report.aliases,
        "runs": [
            {"run": row.run.name, "spider": row.run.spider, "started": row.run.started}
            | {"ended": row.run.ended if row.run.is_whole else None}
            | {name: getattr(row, name) for name in _OF_RUN}
            | {"fell_back": row.run.fell_back}
            for row in report.runs
        ],
    }
