"""Progress on stderr: share, rate and time left on a terminal, nothing anywhere else."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, ProgressColumn, Task, TaskID, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars
from rich.text import Text

from dedupcrawl.crawl_logs.tally import Progress

_EVERY = 0.05  # seconds between two looks at a bar
_IN_BYTES = ("reading", "crawl log")  # stages that are counted in bytes; others are in rows


class SpeedColumn(ProgressColumn):
    """What is done in a second: bytes or rows."""

    def render(self, task: Task) -> Text:
        """The column of one bar."""
        speed = task.finished_speed or task.speed or 0.0
        return Text(f"{speed / 1e6:.1f} MB/s" if task.description in _IN_BYTES else f"{speed:,.0f} rows/s")


@contextmanager
def progress() -> Iterator[Progress]:
    """A bar for each stage that the function given is told of."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda stage, done, total: None
        return
    columns = (
        *(TextColumn("{task.description}"), BarColumn(), TaskProgressColumn()),
        *(SpeedColumn(), TimeRemainingColumn()),
    )
    with Bars(*columns, console=console, transient=True) as bars:
        tasks: dict[str, TaskID] = {}
        looked = 0.0

        def told(stage: str, done: int, total: int) -> None:
            nonlocal looked
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            elif done < total and time.monotonic() < looked + _EVERY:
                return
            looked = time.monotonic()
            bars.update(tasks[stage], completed=done, total=total)

        yield told
