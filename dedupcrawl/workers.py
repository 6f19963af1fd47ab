"""Worker processes that end whenever their work does: when it is done, when it fails, when it is interrupted."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import parent_process

LOOK_UP_SECONDS = 0.5
"""Timeout of a wait for a worker. Polars' handler of SIGINT restarts system calls: one without a timeout would never be
interrupted."""


class WorkerKilledError(RuntimeError):
    """A worker process died from outside; the message is one sentence."""


@contextmanager
def worker_pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that see what they import anew; whatever ends the context early ends them too.

    Raises:
        WorkerKilledError: A worker did not live to the end of its work.
    """
    context = multiprocessing.get_context("spawn")  # Polars' threads do not survive a fork
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(workers, context, _be_a_worker)
    try:
        yield pool
    except BrokenProcessPool as error:
        raise WorkerKilledError(
            "a worker process was killed, probably for want of memory: free some, or give it fewer files at a time."
        ) from error
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - before:
            process.terminate()
        raise
    pool.shutdown()


def _be_a_worker() -> None:
    """Leave an interrupt to the parent, and end when it is killed: a worker would wait for work forever."""
    os.environ["POLARS_MAX_THREADS"] = "1"  # processes are the parallelism; Polars reads it when it is imported
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    assert parent is not None

    def end_with_parent() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
