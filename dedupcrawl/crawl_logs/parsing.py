"""The pages of files, parsed by as many processes as there are cores where that is worth it; their order stays."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYetError  # the built-in one is another until Python 3.11
from pathlib import Path

from dedupcrawl.crawl_logs.page_files import TEXT, Markup, Wanted, page_of, stored_pages
from dedupcrawl.crawl_logs.tally import Tally
from dedupcrawl.page import Page
from dedupcrawl.workers import LOOK_UP_SECONDS, worker_pool

_BYTES_WORTH_WORKERS = 32 << 20  # of files: parsing them takes about as long as starting workers
_CHUNK_BYTES = 1 << 20  # of markup that go to a worker at a time
_CHUNKS_A_WORKER = 3  # that are on their way at most


def read_pages(
    paths: Sequence[Path],
    tally: Tally,
    *,
    wanted: Wanted = TEXT,
    workers: int | None = None,
) -> Generator[Page, None, None]:
    """All pages of some files, in order; a broken row is counted in `tally` and left out.

    Close the iterator when it is not drawn to its end: it may have started processes.

    Args:
        paths: The files, compressed or not.
        tally: Filled in while pages are drawn.
        wanted: What is read of markup.
        workers: Processes that parse; None: as many as there are cores, or none besides this one for small files.

    Raises:
        LogError: A file cannot be opened, decompressed or read to its end.
        WorkerKilledError: A worker did not live to the end of its work.
    """
    if workers is None:
        large = sum(path.stat().st_size for path in paths) >= _BYTES_WORTH_WORKERS
        workers = os.cpu_count() or 1 if large else 1
    stored = stored_pages(paths, tally)
    if workers == 1:
        yield from (page_of(one, wanted) for one in stored)
    else:
        yield from _in_processes(stored, wanted, workers)


def _in_processes(stored: Iterable[Page | Markup], wanted: Wanted, workers: int) -> Iterator[Page]:
    """The pages in their order, parsed in advance. What is no markup is sent to a process only among markup."""
    chunk: list[Page | Markup] = []
    size = 0
    waiting: deque[Future[list[Page]]] = deque()
    with worker_pool(workers) as pool:
        for one in stored:
            if isinstance(one, Page) and not chunk and not waiting:
                yield one
                continue
            chunk.append(one)
            size += len(one.body) if isinstance(one, Markup) else sum(map(len, one.paragraphs))
            if size >= _CHUNK_BYTES:
                waiting.append(pool.submit(_parsed, chunk, wanted))
                chunk, size = [], 0
                if len(waiting) > _CHUNKS_A_WORKER * workers:
                    yield from _result(waiting.popleft())
        while waiting:
            yield from _result(waiting.popleft())
        yield from _parsed(chunk, wanted)


def _parsed(chunk: Sequence[Page | Markup], wanted: Wanted) -> list[Page]:
    return [page_of(one, wanted) for one in chunk]


def _result(future: Future[list[Page]]) -> list[Page]:
    """What a worker returned, waited for in such a way that an interrupt is seen."""
    while True:
        try:
            return future.result(LOOK_UP_SECONDS)
        except NotYetError:
            if future.done():
                raise  # it is the worker's own
