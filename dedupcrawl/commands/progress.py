"""Progress on stderr: share and time left on a terminal, nothing anywhere else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress as Bars
from rich.progress import TaskID

from dedupcrawl.crawl_logs.tally import Progress


@contextmanager
def progress() -> Iterator[Progress]:
    """A bar for each stage that the function given is told of."""
    console = Console(stderr=True)
    with Bars(console=console, transient=True, disable=not console.is_terminal) as bars:
        tasks: dict[str, TaskID] = {}

        def told(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=done, total=total)

        yield told
