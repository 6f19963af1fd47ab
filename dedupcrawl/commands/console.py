"""Console output of commands: results on stdout; progress, and errors of one sentence, on stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import click

from dedupcrawl import extras
from dedupcrawl.crawl_logs.tally import THE_LOG_OF_A_CRAWL, Progress, Tally
from dedupcrawl.output import UNPRINTED, check_place, to_json
from dedupcrawl.printable import printable
from dedupcrawl.system_errors import cause, with_file


class CommandError(click.ClickException):
    """The running command, named by `ctx`, cannot go on."""

    def __init__(self, message: str) -> None:
        super().__init__(printable(" ".join(message.split()), letters=False))  # it may quote foreign text
        self.ctx = click.get_current_context(silent=True)

    def __reduce__(self) -> tuple[type[CommandError], tuple[str]]:
        """Pickle without `ctx`: the receiving process sets its own."""
        return type(self), (self.message,)


class BadInputError(CommandError):
    """The input is unusable: exit status 2. The message says what is wrong, where, and what to do."""

    exit_code = 2


class FailureError(CommandError):
    """Something other than the input is at fault: exit status 1."""

    exit_code = 1


def not_a_url(text: str) -> BadInputError:
    return BadInputError(f"{printable(text)!r} is not a URL: give one such as https://example.com/42.")


def check_output(output: Path | None, inputs: Sequence[Path | str] = (), *, as_json: bool = False) -> None:
    """Refuse an --output that is an input or cannot be written; and stdout as output if --json prints counts there."""
    if output is None:
        if as_json:
            raise click.UsageError("--json prints the counts to stdout: say with --output where the rows go.")
        return
    if any(output.exists() and str(path) != "-" and output.samefile(path) for path in inputs):
        raise BadInputError(f"--output: {output} is one of the files to read: give it another name.")
    try:
        check_place(output)
    except OSError as error:
        raise BadInputError(f"--output: {output} cannot be written: {cause(error)}.") from error


class Command(click.Command):
    """A command that reports every error in one sentence, whichever package raises it."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except CommandError as error:
            error.ctx = error.ctx or ctx  # an error from another process has none
            raise
        except Exception as error:
            translated = _as_command_error(error)
            if translated is None:
                raise
            raise translated from error


class Group(click.Group):
    """A group of commands."""

    command_class = Command


def _as_command_error(error: Exception) -> CommandError | None:
    """Convert an exception into a command's error; None if it is reported elsewhere or is a bug of ours."""
    from dedupcrawl.crawl_logs.tally import LogError  # imported here, so that commands import only what they need
    from dedupcrawl.detection.pairs import UnknownPageError
    from dedupcrawl.index.errors import IndexDamagedError, IndexMismatchError
    from dedupcrawl.settings import SettingError
    from dedupcrawl.urls.rule import RuleError
    from dedupcrawl.workers import WorkFailedError

    if isinstance(error, ModuleNotFoundError):
        advice = extras.advice(error)
        return FailureError(f"{advice}.") if advice else None
    sentence = printable(str(error))
    if isinstance(error, (LogError, RuleError, SettingError, UnknownPageError, IndexMismatchError)):
        return BadInputError(sentence)
    if isinstance(error, (IndexDamagedError, WorkFailedError)):
        return FailureError(sentence)
    if not isinstance(error, OSError) or isinstance(error, BrokenPipeError):
        return None
    if error.filename is None and error.errno in UNPRINTED and error.strerror == os.strerror(error.errno):
        return None  # an error of stdin or stdout: `cli` reports it
    return FailureError(printable(f"{with_file(error)}."))


def check_there_are(rules: Path) -> None:
    """Raise BadInputError if there is no file or folder of rules at this path."""
    if not rules.exists():
        raise BadInputError(
            f"there are no rules at {rules}: name a file or folder with --rules, or learn some with 'dedupcrawl train'."
        )


def not_read(tally: Tally) -> Iterator[str]:
    """One line for all rows of a file that are broken in the same way, with the numbers of the first few.

    And one for each file that is empty or was not read to its end.
    """
    numbers: dict[tuple[str, str, str], list[str]] = {}
    for row in tally.broken:
        numbers.setdefault((row.path, row.unit, row.reason), []).append(f"{row.line:,}")
    for (path, unit, reason), lines in numbers.items():
        which = f"{unit} {lines[0]}" if len(lines) == 1 else f"{unit}s {', '.join(lines)}"
        more = ", …" if 1 < len(lines) < tally.skipped[reason] else ""
        yield f"{printable(path)}, {which}{more}: skipped, {printable(reason)}"
    yield from (f"{printable(path)} is empty." for path in tally.empty)
    yield from (printable(f"{unread}.") for unread in tally.unread)


def tell_skipped(tally: Tally) -> None:
    """Warn of broken rows, the first few by line, and of other skipped rows, with counts by reason."""
    if tally.empty and not tally.rows:
        return  # `no_rows` says so
    for line in not_read(tally):
        click.echo(line, err=True)
    if tally.skipped:
        counts = ", ".join(f"{count:,} ({printable(reason)})" for reason, count in tally.skipped.most_common())
        click.echo(f"skipped rows: {counts}", err=True)


def no_rows(tally: Tally) -> BadInputError:
    """The error for logs from which nothing can be learned."""
    if tally.empty and not tally.rows:
        return BadInputError(f"there is nothing in {', '.join(map(printable, tally.empty))}: {THE_LOG_OF_A_CRAWL}.")
    return BadInputError(
        f"no row has both a URL and a digest of the page's content, and a log needs both: {THE_LOG_OF_A_CRAWL}."
    )


def show(values: object, lines: Iterable[str], *, as_json: bool) -> None:
    """Print a result as one JSON object, or as `printable` lines."""
    if text := to_json(values) if as_json else "\n".join(printable(line) for line in lines):
        click.echo(text)


def table(rows: Sequence[Sequence[str]], widest: int = 80) -> Iterator[str]:
    """Lay out rows in columns, each as wide as its widest cell but at most `widest` characters."""
    widths = [min(widest, max(map(len, column))) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()


_WIDTH = 40  # characters of the line, padded with spaces that overwrite the one before
_EVERY = 0.1  # seconds between two updates


@contextmanager
def progress(*, is_shown: bool = True) -> Iterator[Progress]:
    """Show the progress last passed to the function that this yields in one line, and remove the line at the end."""
    if not (is_shown and sys.stderr.isatty()):
        yield lambda stage, done, total: None
        return
    begun: dict[str, float] = {}
    shown = 0.0

    def told(stage: str, done: int, total: int) -> None:
        nonlocal shown
        now = monotonic()
        began = begun.setdefault(stage, now)
        if now - shown >= _EVERY or done >= total:
            shown = now
            left = f", {(now - began) * (total - done) / done:,.0f} s left" if 0 < done < total else ""
            share = min(done / total, 1) if total else 1
            print(f"\r{f'{stage} {share:.0%}{left}':<{_WIDTH}}", end="", file=sys.stderr, flush=True)

    try:
        yield told
    finally:
        print(f"\r{'':<{_WIDTH}}\r", end="", file=sys.stderr, flush=True)
