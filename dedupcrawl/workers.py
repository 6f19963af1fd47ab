"""Worker processes that end when their work is done, fails or is interrupted."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import parent_process
from typing import TypeVar

_LOOK_UP_SECONDS = 0.5  # timeout of a wait for a worker: on some systems a wait without one cannot be interrupted

TaskT = TypeVar("TaskT")
ResultT = TypeVar("ResultT")


class WorkFailedError(RuntimeError):
    """Other processes or machines could not do their work; the message says why and what to do."""


def in_processes(work: Callable[[TaskT], ResultT], tasks: Iterable[TaskT], workers: int) -> Iterator[ResultT]:
    """The results of `work` for all tasks, in their order, from this number of processes, which end if this ends early.

    `work`, tasks and results must be picklable.

    Raises:
        WorkFailedError: A worker died before its work was done.
    """
    with _worker_pool(workers) as pool:
        waiting = deque(pool.submit(work, task) for task in tasks)
        while waiting:
            while not wait([waiting[0]], _LOOK_UP_SECONDS).done:
                pass
            yield waiting.popleft().result()


@contextmanager
def _worker_pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """A pool of spawned processes, which import their modules anew."""
    context = multiprocessing.get_context("spawn")  # threads do not survive a fork
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(workers, context, _be_a_worker)
    try:
        yield pool
    except BrokenProcessPool as error:
        raise WorkFailedError(
            "a worker process was killed, probably for want of memory: free some, or give it fewer files at a time."
        ) from error
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - before:
            process.terminate()
        raise
    pool.shutdown()


def _be_a_worker() -> None:
    """Leave interrupts to the parent, and exit if the parent is killed: a worker would wait for work forever."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    assert parent is not None

    def end_with_parent() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
