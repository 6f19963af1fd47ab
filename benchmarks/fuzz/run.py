"""Runs targets in processes of their own, so that no input can end the fuzzer."""

from __future__ import annotations

import gc
import mmap
import os
import resource
import signal
import struct
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from benchmarks.fuzz import core_targets, seeds
from benchmarks.fuzz.inputs import LARGEST, mutations, pieces
from benchmarks.fuzz.targets import Checks, Normalizing, Rules, extraction, learner, logs, records, urls

CORPUS = Path(__file__).resolve().parents[2] / "tests" / "core" / "corpus"
SLOW = 1.0  # seconds of process CPU
HUGE = 256 << 20  # bytes by which one call may raise the peak of the process's memory
_HANGS = 20.0  # seconds of CPU after which a call is broken off
_BATCH = 100_000  # inputs of a process
_FAILURES = 20  # then a target is given up


@dataclass(frozen=True, slots=True)
class Fuzzed:
    """A target, and what its inputs are made of.

    Attributes:
        call: Takes any bytes, raises nothing, and checks what must hold of the answer.
        examples: Inputs to begin with.
        inputs: Makes more of a seed and the examples, without end.
        is_limited: Whether a call must keep to `SLOW` and `HUGE`, as sanitizers do not.
    """

    call: Callable[[bytes], None]
    examples: Sequence[bytes]
    inputs: Callable[[int, Sequence[bytes]], Iterator[bytes]]
    is_limited: bool


def targets(data: Path | None = None) -> dict[str, Fuzzed]:
    """All of them, by name: entry points of the compiled core, and readers of what strangers write."""
    corpus = [path.read_bytes() for path in sorted(CORPUS.iterdir())]
    pages = [*seeds.PAGES, *(seeds.real_pages(data) if data is not None else ())]
    readers: dict[str, tuple[Callable[[bytes], None], Sequence[bytes]]] = {
        "extraction": (extraction, pages),
        "checks": (Checks(), pages),
        "urls": (urls, seeds.URLS),
        "normalizer": (Normalizing(seeds.RULES[0]), seeds.URLS),
        "rules": (Rules(seeds.URLS), seeds.RULES),
        "logs": (logs, seeds.LOGS),
        "records": (records, [*seeds.LOGS, *seeds.PAGES]),
        "learner": (learner, seeds.TO_LEARN),
    }
    return {
        **{f"core.{name}": Fuzzed(call, corpus, pieces, False) for name, call in core_targets.TARGETS.items()},
        **{name: Fuzzed(call, examples, mutations, True) for name, (call, examples) in readers.items()},
    }


def fuzz(target: Fuzzed, count: int, seed: int) -> Iterator[tuple[int, bytes | None]]:
    """The number of inputs that a process has run, and the input at which it ended; None if it ran all.

    The examples come first, then batches of inputs, each in a process of its own.
    """
    shared, done, failures = _Shared(), 0, 0
    batch: Iterable[bytes] = target.examples
    while True:
        shared.put(b"", 0)
        survived = _survives(partial(_run, target, batch, shared))
        data, ran = shared.get()
        done, failures = done + ran, failures + (not survived)
        yield ran, None if survived else data
        if done >= count or failures == _FAILURES:
            return
        seed += 1
        batch = islice(target.inputs(seed, target.examples), min(_BATCH, count - done))


class _Shared:
    """The latest input of a process and how many it has run, which its parent can read when it has died."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, LARGEST + 16)

    def put(self, data: bytes, done: int) -> None:
        self._memory[: 16 + len(data)] = struct.pack("<2Q", len(data), done) + data

    def get(self) -> tuple[bytes, int]:
        size, done = struct.unpack("<2Q", self._memory[:16])
        return self._memory[16 : 16 + size], done


def _run(target: Fuzzed, batch: Iterable[bytes], shared: _Shared) -> None:
    done = 0
    for done, data in enumerate(batch, 1):
        shared.put(data, done)
        signal.setitimer(signal.ITIMER_VIRTUAL, _HANGS)  # which ends the process
        if target.is_limited:
            call_within_limits(target.call, data)
        else:
            target.call(data)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    shared.put(b"", done)


def call_within_limits(call: Callable[[bytes], None], data: bytes) -> None:
    """Call it, and fail when that takes too long or too much memory."""
    peak, begun = _peak(), time.process_time()
    call(data)
    taken = time.process_time() - begun
    if taken > SLOW:  # again, for it may have been a collection of garbage, or the first use of a table
        gc.collect()
        begun = time.process_time()
        call(data)
        taken = time.process_time() - begun
    assert taken <= SLOW, f"took {taken:.1f} s"
    assert _peak() - peak <= HUGE, f"took {(_peak() - peak) >> 20} MB"


def _survives(work: Callable[[], None]) -> bool:
    """Whether work comes to its end, in a process of its own."""
    process = os.fork()
    if not process:
        try:
            work()
        except BaseException:  # a panic of a compiled library is no Exception
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(process, 0)
    if status:
        print(f"ended with {os.waitstatus_to_exitcode(status)}", file=sys.stderr, flush=True)
    return not status


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
