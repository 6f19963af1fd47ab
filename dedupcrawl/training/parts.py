"""The road that training and evaluation share: logs are parted by site on disk, and parts go to worker processes."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, TypeVar

import polars as pl

from dedupcrawl.crawl_logs.registry import read_log
from dedupcrawl.crawl_logs.tally import Tally
from dedupcrawl.training.page_rows import SiteNames, page_rows
from dedupcrawl.training.spool import Part, SiteSpool
from dedupcrawl.workers import LOOK_UP_SECONDS, worker_pool

_ROWS_WORTH_WORKERS = 150_000  # a worker starts in a second and a half; so many rows take about two

ResultT = TypeVar("ResultT")


class Progress(Protocol):
    """Told how far the work is: `done` of `total` bytes read, or rows worked on."""

    def __call__(self, stage: str, done: int, total: int) -> None:
        """`stage` is "reading" or "learning" and the like."""
        ...


def no_progress(stage: str, done: int, total: int) -> None:
    """For callers that do not care."""


@contextmanager
def parted(logs: Sequence[Path], tally: Tally, progress: Progress) -> Iterator[Sequence[Part]]:
    """Read logs and part their rows by site; the parts' files live as long as the context.

    Raises:
        LogError: A log cannot be read.
    """
    with tempfile.TemporaryDirectory(prefix="dedupcrawl-") as folder:
        spool, sites = SiteSpool(Path(folder)), SiteNames()
        total = sum(log.stat().st_size for log in logs)
        for log in logs:
            for rows in read_log(log, tally):
                spool.add(page_rows(rows, sites))
                progress("reading", min(tally.bytes_read, total), total)
        yield spool.parts()


def work_on(
    parts: Sequence[Part], work: Callable[[pl.DataFrame], ResultT], stage: str, progress: Progress, workers: int | None
) -> Iterator[ResultT]:
    """Do `work` on the rows of each part; results come as they are done.

    Args:
        parts: As from `parted`.
        work: Picklable; sees all rows of each site in its part.
        stage: For `progress`.
        progress: Told the rows that are done.
        workers: Processes; None: as many as there are cores, or none besides this one where the rows are few.

    Raises:
        WorkerKilledError: A worker did not live to the end of its work.
    """
    total, done = sum(part.rows for part in parts), 0
    if workers is None:
        workers = min(os.cpu_count() or 1, len(parts)) if total >= _ROWS_WORTH_WORKERS else 1
    progress(stage, 0, total)
    if workers == 1:
        for part in parts:
            yield work(part.read())
            done += part.rows
            progress(stage, done, total)
        return
    for rows, result in _in_processes(parts, work, workers):
        yield result
        done += rows
        progress(stage, done, total)


def _in_processes(
    parts: Sequence[Part], work: Callable[[pl.DataFrame], ResultT], workers: int
) -> Iterator[tuple[int, ResultT]]:
    """Rows and result of each part; whatever ends this early ends the workers too."""
    with worker_pool(workers) as pool:
        waiting = {pool.submit(_worker, part, work): part.rows for part in parts}
        pending = set(waiting)
        while pending:
            done, pending = wait(pending, LOOK_UP_SECONDS, FIRST_COMPLETED)
            for future in done:
                yield waiting[future], future.result()


def _worker(part: Part, work: Callable[[pl.DataFrame], ResultT]) -> ResultT:
    return work(part.read())
