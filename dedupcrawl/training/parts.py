"""The road that training and evaluation share: logs are parted by site on disk, and parts go to worker processes.

Rows come in the order of the log and go out site by site, with bounded memory.
"""

from __future__ import annotations

import os
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

import polars as pl

from dedupcrawl.crawl_logs.registry import read_log
from dedupcrawl.crawl_logs.tally import Progress, Tally
from dedupcrawl.sites import ascii_form
from dedupcrawl.training.clusters import clusters_of
from dedupcrawl.training.page_rows import SiteNames, page_rows
from dedupcrawl.workers import LOOK_UP_SECONDS, worker_pool

_BUFFER_ROWS = 1_000_000  # rows held before they are written; about 190 MB
_ROWS_A_PART = 100_000  # aim for a part; few enough to be clustered in memory, enough to be worth a task
_MOST_PARTS = 128
_ROWS_WORTH_WORKERS = 150_000  # a worker starts in a second and a half; so many rows take about two

ResultT = TypeVar("ResultT")


def no_progress(stage: str, done: int, total: int) -> None:
    """For callers that do not care."""


class Part(NamedTuple):
    """All rows of some sites; every site is in one part only."""

    rows: int
    files: tuple[Path, ...]

    def read(self) -> pl.DataFrame:
        """The rows, in the order in which they were added."""
        return pl.scan_ipc(list(self.files)).collect()


class SiteSpool:
    """Rows of many sites (`page_rows.PAGE_ROWS`), parted by site into files of a folder.

    A log of less than a million rows is held in memory until its size tells how many parts it deserves; a larger one
    has the most parts. Which sites share a part is of no consequence: each is learned on its own.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._buffer: list[pl.DataFrame] = []
        self._buffered = 0
        self._rows: defaultdict[int, int] = defaultdict(int)
        self._files: defaultdict[int, list[Path]] = defaultdict(list)

    def add(self, rows: pl.DataFrame) -> None:
        """Take over a batch; every now and then all that is held goes to disk."""
        self._buffer.append(rows)
        self._buffered += rows.height
        if self._buffered >= _BUFFER_ROWS:
            self._flush(_MOST_PARTS)

    def parts(self) -> Sequence[Part]:
        """All parts, the largest first; nothing can be added afterwards."""
        if self._buffered:
            self._flush(_MOST_PARTS if self._files else max(1, min(_MOST_PARTS, self._buffered // _ROWS_A_PART)))
        parts = [Part(self._rows[number], tuple(files)) for number, files in self._files.items()]
        return sorted(parts, key=lambda part: (-part.rows, part.files))

    def _flush(self, parts: int) -> None:
        rows = pl.concat(self._buffer).with_columns(part=pl.col("site").hash() % parts)
        self._buffer, self._buffered = [], 0
        for (number,), group in rows.partition_by("part", as_dict=True, include_key=False).items():
            assert isinstance(number, int)
            file = self._folder / f"{number:03}-{len(self._files[number]):05}.arrow"
            group.write_ipc(file, compression="lz4")
            self._files[number].append(file)
            self._rows[number] += group.height


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
    """Do `work`, which must be picklable, on all rows of the sites of each part; results come as they are done.

    There are as many worker processes as cores if `workers` is None, or none besides this one where the rows are few.

    Raises:
        WorkerKilledError: A worker did not live to the end of its work.
    """
    total, done = sum(part.rows for part in parts), 0
    if workers is None:
        workers = min(os.cpu_count() or 1, len(parts)) if total >= _ROWS_WORTH_WORKERS else 1
    progress(stage, 0, total)
    here = ((part.rows, _worked_on(part, work)) for part in parts)
    for rows, result in here if workers == 1 else _in_processes(parts, work, workers):
        yield result
        done += rows
        progress(stage, done, total)


def _in_processes(
    parts: Sequence[Part], work: Callable[[pl.DataFrame], ResultT], workers: int
) -> Iterator[tuple[int, ResultT]]:
    """Rows and result of each part; whatever ends this early ends the workers too."""
    with worker_pool(workers) as pool:
        waiting = {pool.submit(_worked_on, part, work): part.rows for part in parts}
        pending = set(waiting)
        while pending:
            done, pending = wait(pending, LOOK_UP_SECONDS, FIRST_COMPLETED)
            for future in done:
                yield waiting[future], future.result()


def _worked_on(part: Part, work: Callable[[pl.DataFrame], ResultT]) -> ResultT:
    return work(part.read())


def urls_and_clusters(
    site: str, logs: Sequence[Path], progress: Progress
) -> tuple[list[str], list[int], dict[int, int]]:
    """The site's URLs, the number of each one's cluster, and the SimHash of each cluster as far as known.

    Raises:
        LogError: A log cannot be read.
    """
    urls: list[str] = []
    clusters: list[int] = []
    bits: dict[int, int] = {}
    with parted(logs, Tally(), progress) as parts:
        for found in work_on(parts, partial(_of_site, site=site), "reading", progress, 1):
            urls += found["url"].to_list()
            clusters += found["cluster"].to_list()
            bits |= simhashes(found)
    return urls, clusters, bits


def simhashes(pages: pl.DataFrame) -> dict[int, int]:
    """The SimHash of each cluster of one site, as far as known: the smallest of its pages'."""
    return dict(pages.drop_nulls("simhash").group_by("cluster").agg(pl.col("simhash").min()).iter_rows())


def _of_site(rows: pl.DataFrame, site: str) -> pl.DataFrame:
    return clusters_of(rows.filter(pl.col("site").is_in([site, ascii_form(site)]))).urls.select(
        "url", "cluster", "simhash"
    )
