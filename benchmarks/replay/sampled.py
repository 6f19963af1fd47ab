"""Runs Scrapy under a sampling profiler: ``python -m benchmarks.replay.sampled FILE crawl …``.

A timer that counts the process's CPU time interrupts it every few milliseconds and notes where dedupcrawl is at work.
Unlike cProfile this weighs Python calls and library calls alike and costs next to nothing. Time that a thread spends is
put down to what the main thread does meanwhile, and what the spider and other middlewares do, which run inside
dedupcrawl's spider middleware, is not dedupcrawl's. Garbage collection, which comes in the midst of anything, and
threads beside the main one are measured apart.
"""

from __future__ import annotations

import gc
import json
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from types import FrameType

from scrapy.cmdline import execute

import dedupcrawl

_INTERVAL = 0.002  # seconds of CPU
_PACKAGE = f"{Path(dedupcrawl.__file__).parent}/"
_BEYOND = ("/benchmarks/replay/spider.py", "/scrapy/core/spidermw.py")

Sample = tuple[str, str, int]
"""The outermost and the innermost function of dedupcrawl on the stack, as FILE:NAME, and the innermost's line."""


class Sampler:
    """Counts samples between `start` and `write`."""

    def __init__(self) -> None:
        self._inside: Counter[Sample] = Counter()
        self._outside = 0
        self._collecting = 0.0  # seconds of CPU
        self._since = 0.0

    def start(self) -> None:
        gc.callbacks.append(self._collect)
        signal.signal(signal.SIGPROF, self._sample)
        signal.setitimer(signal.ITIMER_PROF, _INTERVAL, _INTERVAL)

    def write(self, path: Path) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, signal.SIG_IGN)  # one that is under way would end Python while it shuts down
        rows = [[*sample, count] for sample, count in self._inside.items()]
        cpu = time.process_time()
        found = {"outside": self._outside, "inside": rows, "gc_s": self._collecting, "cpu_s": cpu}
        found["threads_s"] = cpu - time.thread_time()  # of this one, in which the reactor runs
        path.write_text(json.dumps(found), encoding="utf-8")

    def _collect(self, phase: str, _: dict[str, int]) -> None:
        if phase == "start":
            self._since = time.process_time()
        else:
            self._collecting += time.process_time() - self._since

    def _sample(self, _: int, frame: FrameType | None) -> None:
        innermost = outermost = None
        while frame is not None:
            if innermost is None and frame.f_code.co_filename.endswith(_BEYOND):
                break
            if frame.f_code.co_filename.startswith(_PACKAGE):
                innermost = innermost or frame
                outermost = frame
            frame = frame.f_back
        if innermost is None or outermost is None:
            self._outside += 1
        else:
            self._inside[_named(outermost), _named(innermost), innermost.f_lineno or 0] += 1


def _named(frame: FrameType) -> str:
    return f"{frame.f_code.co_filename.removeprefix(_PACKAGE)}:{frame.f_code.co_name}"


def main() -> None:
    path, *arguments = sys.argv[1:]
    sampler = Sampler()
    sampler.start()
    try:
        execute(["scrapy", *arguments])
    finally:
        sampler.write(Path(path))


if __name__ == "__main__":
    main()
