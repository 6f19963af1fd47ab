"""The road that training and evaluation share: logs are parted by site on disk, and parts go to worker processes.

Rows come in the order of the log and go out site by site, with bounded memory.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import polars as pl

from dedupcrawl.crawl_logs.registry import read_log
from dedupcrawl.crawl_logs.tally import Progress, Tally
from dedupcrawl.sites import ascii_form
from dedupcrawl.training.page_rows import PAGE_ROWS, page_rows
from dedupcrawl.workers import ResultT, in_processes

_BUFFER_ROWS = 250_000  # rows held before they are written; about 50 MB
_ROWS_A_PART = 100_000  # aim for a part; few enough to be clustered in memory, enough to be worth a task
_MOST_PARTS = 128
_ROWS_WORTH_WORKERS = 150_000  # a worker starts in a second and a half; so many rows take about two


class Part(NamedTuple):
    """All rows of some sites; every site is in one part only."""

    rows: int
    files: tuple[Path, ...]

    def read(self) -> pl.DataFrame:
        """The rows, each site's in the order in which they were added; a column of one value takes no memory."""
        rows = pl.concat([pl.read_ipc(file.read_bytes()) for file in self.files], how="diagonal")
        values = {name: pl.lit(None, dtype) for name, dtype in PAGE_ROWS.items() if name not in rows.columns}
        if rows["site"].n_unique() == 1:
            values["site"] = pl.lit(rows["site"][0])
        return rows.with_columns(**values).select(*PAGE_ROWS)


def spooled(batches: Iterable[pl.DataFrame], folder: Path) -> list[Part]:
    """Rows of many sites (`page_rows.PAGE_ROWS`), parted by site into files of a folder; the largest part first.

    Which sites share a part is of no consequence: each is learned on its own.
    """
    held = list[pl.DataFrame]()
    sizes: Counter[int] = Counter()
    files: defaultdict[int, list[Path]] = defaultdict(list)

    def write() -> None:
        numbered = pl.concat(held).with_columns(part=pl.col("site").hash() % _MOST_PARTS)
        held.clear()
        for (number,), rows in numbered.partition_by("part", as_dict=True, include_key=False).items():
            assert isinstance(number, int)
            said = [name for name in rows.columns if rows[name].null_count() < rows.height]
            file = folder / f"{number:03}-{len(files[number]):05}.arrow"
            rows.select(said).write_ipc(file, compression="lz4")
            files[number].append(file)
            sizes[number] += rows.height

    for batch in batches:
        held.append(batch)
        if sum(one.height for one in held) >= _BUFFER_ROWS:
            write()
    if held:
        write()
    parts = max(1, min(_MOST_PARTS, sizes.total() // _ROWS_A_PART))
    together: defaultdict[int, list[int]] = defaultdict(list)
    for number in sorted(files):
        together[number % parts].append(number)
    found = [
        Part(sum(sizes[n] for n in some), tuple(file for n in some for file in files[n])) for some in together.values()
    ]
    return sorted(found, key=lambda part: (-part.rows, part.files))


@contextmanager
def parted(logs: Sequence[Path], tally: Tally, progress: Progress) -> Iterator[Sequence[Part]]:
    """Read logs and part their rows by site; the parts' files live as long as the context."""
    with tempfile.TemporaryDirectory(prefix="dedupcrawl-") as folder:
        yield spooled(_rows(logs, tally, progress), Path(folder))


def _rows(logs: Sequence[Path], tally: Tally, progress: Progress) -> Iterator[pl.DataFrame]:
    total = sum(log.stat().st_size for log in logs)
    for log in logs:
        for rows in read_log(log, tally):
            yield page_rows(rows)
            progress("reading", min(tally.bytes_read, total), total)


def work_on(
    parts: Sequence[Part], work: Callable[[pl.DataFrame], ResultT], stage: str, progress: Progress, workers: int | None
) -> Iterator[ResultT]:
    """Do `work`, which must be picklable, on all rows of the sites of each part; results come in their order.

    There are as many worker processes as cores if `workers` is None, or none besides this one where the rows are few.

    Raises:
        WorkFailedError: A worker did not live to the end of its work.
    """
    total, done = sum(part.rows for part in parts), 0
    if workers is None:
        workers = min(os.cpu_count() or 1, len(parts)) if total >= _ROWS_WORTH_WORKERS else 1
    progress(stage, 0, total)
    do = partial(_worked_on, work)
    results = map(do, parts) if workers == 1 else in_processes(do, parts, workers)
    for part, result in zip(parts, results, strict=True):
        yield result
        done += part.rows
        progress(stage, done, total)


def _worked_on(work: Callable[[pl.DataFrame], ResultT], part: Part) -> ResultT:
    return work(part.read())


def rows_of(site: str, logs: Sequence[Path], progress: Progress) -> pl.DataFrame:
    """All rows of a site (`page_rows.PAGE_ROWS`), in the order of the logs."""
    with parted(logs, Tally(), progress) as parts:
        rows = (part.read().filter(pl.col("site") == ascii_form(site)) for part in parts)
        return pl.concat([pl.DataFrame(schema=PAGE_ROWS), *rows])
