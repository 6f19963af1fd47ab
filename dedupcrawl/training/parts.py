"""What training and evaluation share: logs are divided by site on disk, and parts go to worker processes.

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

import mmh3
import msgspec

from dedupcrawl.crawl_logs.registry import read_log
from dedupcrawl.crawl_logs.tally import Progress, Tally
from dedupcrawl.sites import ascii_form
from dedupcrawl.training.page_rows import PageRow, SiteRows, page_rows
from dedupcrawl.workers import ResultT, in_processes
from dedupcrawl.zstandard import zstd

_ROWS_A_PART = 100_000  # aim for a part; few enough to be clustered in memory, enough to be worth a task
_MOST_PARTS = 128  # pieces of the work at most, each of whole sites; set by hand
_ROWS_WORTH_WORKERS = 150_000  # a worker starts in a second and a half; so many rows take about two
_DECODER = msgspec.msgpack.Decoder(dict[str, list[PageRow]])


class Part(NamedTuple):
    """All rows of some sites; every site is in one part only."""

    rows: int
    files: tuple[Path, ...]

    def read(self) -> SiteRows:
        """The rows, each site's in the order in which they were added."""
        rows: SiteRows = {}
        for file in self.files:
            for site, some in _DECODER.decode(zstd.decompress(file.read_bytes())).items():
                rows.setdefault(site, []).extend(some)
        return rows


def spooled(batches: Iterable[SiteRows], folder: Path) -> list[Part]:
    """Rows of many sites, parted by site into files of a folder; the largest part first.

    Which sites share a part is of no consequence: each is learned on its own.
    """
    sizes: Counter[int] = Counter()
    files: defaultdict[int, list[Path]] = defaultdict(list)
    for batch in batches:
        numbered: defaultdict[int, SiteRows] = defaultdict(dict)
        for site, rows in batch.items():
            numbered[mmh3.hash(site, signed=False) % _MOST_PARTS][site] = rows
        for number, some in numbered.items():
            file = folder / f"{number:03}-{len(files[number]):05}"
            file.write_bytes(zstd.compress(msgspec.msgpack.encode(some), 1))
            files[number].append(file)
            sizes[number] += sum(map(len, some.values()))
    parts = max(1, min(_MOST_PARTS, sizes.total() // _ROWS_A_PART))
    together: defaultdict[int, list[int]] = defaultdict(list)
    for number in sorted(files):
        together[number % parts].append(number)
    spools = [
        Part(sum(sizes[n] for n in some), tuple(file for n in some for file in files[n])) for some in together.values()
    ]
    return sorted(spools, key=lambda part: (-part.rows, part.files))


@contextmanager
def parted(logs: Sequence[Path], tally: Tally, progress: Progress) -> Iterator[Sequence[Part]]:
    """Read logs and part their rows by site; the parts' files live as long as the context."""
    with tempfile.TemporaryDirectory(prefix="dedupcrawl-") as folder:
        yield spooled(_rows(logs, tally, progress), Path(folder))


def _rows(logs: Sequence[Path], tally: Tally, progress: Progress) -> Iterator[SiteRows]:
    total = sum(log.stat().st_size for log in logs)
    for log in logs:
        for rows in read_log(log, tally):
            yield page_rows(rows)
            progress("reading", min(tally.bytes_read, total), total)


def work_on(
    parts: Sequence[Part], work: Callable[[SiteRows], ResultT], stage: str, progress: Progress, workers: int | None
) -> Iterator[ResultT]:
    """Do `work`, which must be picklable, on all rows of the sites of each part; results come in their order.

    There are as many worker processes as cores if `workers` is None; for few rows there is only this process.

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


def _worked_on(work: Callable[[SiteRows], ResultT], part: Part) -> ResultT:
    return work(part.read())


def rows_of(site: str, logs: Sequence[Path], tally: Tally, progress: Progress) -> list[PageRow]:
    """All rows of a site, in the order of the logs."""
    return [row for rows in _rows(logs, tally, progress) for row in rows.get(ascii_form(site), ())]
