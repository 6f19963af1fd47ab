"""How a command fails: one sentence on stderr, and an exit status that a script can tell apart."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import click

from dedupcrawl.crawl_logs.tally import Tally
from dedupcrawl.output import check_place, results
from dedupcrawl.printable import printable


class CommandError(click.ClickException):
    """The command that is running cannot go on.

    Attributes:
        ctx: Says which command that is.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.ctx = click.get_current_context(silent=True)


class BadInputError(CommandError):
    """What was given cannot be used: exit status 2. The sentence says what, where, and what to do."""

    exit_code = 2


class FailureError(CommandError):
    """Something went wrong that was not in the input: exit status 1."""

    exit_code = 1


def check_output(output: Path | None) -> None:
    """Raise BadInputError where --output names a file that could not be written."""
    try:
        if output is not None:
            check_place(output)
    except OSError as error:
        raise BadInputError(f"--output: {output} cannot be written: {error.strerror}.") from error


@contextmanager
def rows_to(output: Path | None) -> Iterator[IO[bytes]]:
    """As `output.results`, for rows that come from an index.

    Raises:
        FailureError: The rows cannot be written, or read; the sentence says which file.
    """
    try:
        with results(output) as out:
            yield out
    except BrokenPipeError:  # of who reads what is printed
        raise
    except OSError as error:
        raise FailureError(f"{error.filename or output or 'the index'}: {error.strerror or error}") from error


def check_there_are(rules: Path) -> None:
    """Raise BadInputError where there is no file or folder of rules."""
    if not rules.exists():
        raise BadInputError(
            f"there are no rules at {rules}: name a file or folder with --rules, or learn some with 'dedupcrawl train'."
        )


def broken_rows(tally: Tally) -> Iterator[str]:
    """One line for all rows of a file that are broken in the same way, of which the first ones are named."""
    numbers: dict[tuple[str, str, str], list[str]] = {}
    for row in tally.broken:
        numbers.setdefault((row.path, row.unit, row.reason), []).append(f"{row.line:,}")
    for (path, unit, reason), lines in numbers.items():
        which = f"{unit} {lines[0]}" if len(lines) == 1 else f"{unit}s {', '.join(lines)}"
        more = ", …" if 1 < len(lines) < tally.skipped[reason] else ""
        yield f"{printable(path)}, {which}{more}: skipped, {printable(reason)}"


def tell_skipped(tally: Tally) -> None:
    """Warn of broken rows, the first ones by line, and of what else was skipped, by count."""
    for line in broken_rows(tally):
        click.echo(line, err=True)
    if tally.skipped:
        counts = ", ".join(f"{count:,} ({printable(reason)})" for reason, count in tally.skipped.most_common())
        click.echo(f"skipped rows: {counts}", err=True)
