"""Progress on stderr: share, rate and time left on a terminal, nothing anywhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

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

_EVERY = 256  # calls between two looks at the clock
_IN_BYTES = ("reading", "crawl log")  # stages that are counted in bytes; others are in rows


class Told(Protocol):
    """Takes a stage, how much of it is done, and how much there is."""

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Call it now and then."""


class SpeedColumn(ProgressColumn):
    """What is done in a second: bytes or rows."""

    def render(self, task: Task) -> Text:
        """The column of one bar."""
        speed = task.finished_speed or task.speed or 0.0
        return Text(f"{speed / 1e6:.1f} MB/s" if task.description in _IN_BYTES else f"{speed:,.0f} rows/s")


@contextmanager
def stages_progress() -> Iterator[Told]:
    """A bar a stage; the function given is told of each."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda stage, done, total: None
        return
    columns = (
        *(TextColumn("{task.description}"), BarColumn(), TaskProgressColumn()),
        *(SpeedColumn(), TimeRemainingColumn()),
    )
    with Progress(*columns, console=console, transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def told(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=done, total=total)

        yield told


@contextmanager
def progress(stage: str, total: int) -> Iterator[Callable[[int], None]]:
    """One bar; the function given takes how much is done, at each row if need be."""
    calls = 0
    with stages_progress() as told:

        def update(done: int) -> None:
            nonlocal calls
            calls += 1
            if calls % _EVERY == 1:
                told(stage, done, total)

        yield update
