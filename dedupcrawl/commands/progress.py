"""Progress on stderr: rate and time left on a terminal, nothing anywhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.text import Text

_EVERY = 256  # calls between two looks at the clock

Update = Callable[[int], None]
"""Takes how much is done."""


_IN_BYTES = ("reading", "crawl log")  # stages that are counted in bytes; others are in rows


class Told(Protocol):
    """Takes a stage, how much of it is done, and how much there is."""

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Call it now and then."""
        ...


class StageSpeedColumn(ProgressColumn):
    """What is done in a second: bytes or rows."""

    def render(self, task: Task) -> Text:
        """The column of one bar."""
        speed = task.finished_speed or task.speed or 0.0
        return Text(f"{speed / 1e6:.1f} MB/s" if task.description in _IN_BYTES else f"{speed:,.0f} rows/s")


class RowsSpeedColumn(ProgressColumn):
    """Rows that are done in a second."""

    def render(self, task: Task) -> Text:
        """The column of one bar."""
        return Text(f"{task.finished_speed or task.speed or 0.0:,.0f} rows/s")


def bytes_progress(what: str, total: int) -> AbstractContextManager[Update]:
    """A bar over `total` bytes."""
    return _progress(what, total, (DownloadColumn(), TransferSpeedColumn()))


def rows_progress(what: str, total: int) -> AbstractContextManager[Update]:
    """A bar over `total` rows."""
    return _progress(what, total, (MofNCompleteColumn(), RowsSpeedColumn()))


@contextmanager
def _progress(what: str, total: int, columns: tuple[ProgressColumn, ...]) -> Iterator[Update]:
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _: None
        return
    columns = (TextColumn(what), BarColumn(), *columns, TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(what, total=total)
        calls = 0

        def update(done: int) -> None:
            nonlocal calls
            calls += 1
            if calls % _EVERY == 0:
                progress.update(task, completed=done)

        yield update


@contextmanager
def stages_progress() -> Iterator[Told]:
    """A bar a stage; the function given is told of each."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda stage, done, total: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        StageSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def told(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=done, total=total)

        yield told
