"""What `train` and `evaluate` tell on stderr: bars on a terminal, and in the end what was left out and why."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from dedupcrawl.commands.terminal import printable
from dedupcrawl.crawl_logs.tally import Tally
from dedupcrawl.training import parts


class _Rate(ProgressColumn):
    """What is done in a second: bytes while reading, rows afterwards."""

    def render(self, task: Task) -> Text:
        """The column of one bar."""
        speed = task.finished_speed or task.speed or 0.0
        return Text(f"{speed / 1e6:.1f} MB/s" if task.description == "reading" else f"{speed:,.0f} rows/s")


@contextmanager
def stages_progress() -> Iterator[parts.Progress]:
    """A bar a stage; the function given is told of each."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield parts.no_progress
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), _Rate(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def told(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=done, total=total)

        yield told


def tell_skipped(tally: Tally) -> None:
    """Warn of broken rows, the first ones by line, and of what else was skipped, by count."""
    for row in tally.broken:
        click.echo(f"{printable(row.path)}, {row.unit} {row.line}: skipped, {row.reason}", err=True)
    if tally.skipped:
        counts = ", ".join(f"{count:,} {reason}" for reason, count in tally.skipped.most_common())
        click.echo(f"skipped rows: {counts}", err=True)
