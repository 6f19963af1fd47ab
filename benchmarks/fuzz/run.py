"""Runs targets on mutated inputs, and tells what raised, what took more than a second and what more than 256 MB."""

from __future__ import annotations

import gc
import resource
import signal
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import FrameType

from benchmarks.fuzz import seeds
from benchmarks.fuzz.mutation import LARGEST, mutated
from benchmarks.fuzz.targets import Checks, Normalizing, Rules, Target, extraction, learner, logs, records, urls

SLOW = 1.0  # seconds of process CPU
HUGE = 256 << 20  # bytes by which one call may raise the peak of the process's memory
_LARGE = 0.05  # share of the cases that may be as large as they become; the others are …
_SMALL = 200, 4_096  # … of so many bytes at most: they find nearly as much and cost a tenth
_HANGS = 60.0  # seconds of CPU after which a call is broken off


class HangError(Exception):
    """A call did not come to an end."""


@dataclass
class Fuzzed:
    """A target with its examples. `weight` is its part of all cases."""

    name: str
    target: Target
    examples: Sequence[bytes]
    weight: int


@dataclass(frozen=True, slots=True)
class Failure:
    """One input that a target cannot take."""

    target: str
    why: str
    data: bytes


@dataclass
class Outcome:
    """What a run came to."""

    cases: Counter[str] = field(default_factory=Counter)
    cpu: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    slowest: dict[str, float] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    peak: int = 0


def targets(data: Path | None = None) -> list[Fuzzed]:
    """All of them."""
    pages = [*seeds.PAGES, *(seeds.real_pages(data) if data is not None else ())]
    return [
        Fuzzed("extraction", extraction, pages, 200),
        Fuzzed("checks", Checks(), pages, 80),
        Fuzzed("urls", urls, seeds.URLS, 350),
        Fuzzed("normalizer", Normalizing(seeds.RULES[0]), seeds.URLS, 200),
        Fuzzed("rules", Rules(seeds.URLS), seeds.RULES, 70),
        Fuzzed("logs", logs, seeds.LOGS, 50),
        Fuzzed("records", records, [*seeds.LOGS, *seeds.PAGES], 45),
        Fuzzed("learner", learner, seeds.TO_LEARN, 5),
    ]


def fuzz(chosen: Sequence[Fuzzed], cases: int, seed: int, *, seconds: float = float("inf")) -> Iterator[Outcome]:
    """The same outcome, after every case; ends after so many cases, or so much CPU."""
    chance = Random(seed)
    outcome, weights, start = Outcome(), [one.weight for one in chosen], time.process_time()
    for one in chosen:
        for example in one.examples:  # each as it is: what is slow only at the first call is not told of a case
            one.target(example)
    outcome.peak = _peak()
    for _ in range(cases):
        (one,) = chance.choices(chosen, weights)
        largest = LARGEST if chance.random() < _LARGE else int(chance.uniform(*_SMALL))
        data = mutated(chance.choice(one.examples), one.examples, chance, largest)
        case(one, data, outcome)
        yield outcome
        if time.process_time() - start > seconds:
            return


def case(one: Fuzzed, data: bytes, outcome: Outcome) -> None:
    """One call, counted and judged."""
    begun = time.process_time()
    why = ""
    try:
        with _broken_off():
            one.target(data)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a panic of a compiled library is no Exception
        why = f"{type(error).__name__}: {str(error)[:300]}"
    taken, peak = time.process_time() - begun, _peak()
    if not why and taken > SLOW:
        begun = time.process_time()  # again, for it may have been a collection of garbage, or another's turn
        gc.collect()
        begun = time.process_time()
        one.target(data)
        taken = min(taken, time.process_time() - begun)
        why = f"took {taken:.1f} s" if taken > SLOW else ""
    if not why and peak - outcome.peak > HUGE:
        why = f"took {(peak - outcome.peak) >> 20} MB"
    outcome.peak = peak
    outcome.cases[one.name] += 1
    outcome.cpu[one.name] += taken
    outcome.slowest[one.name] = max(taken, outcome.slowest.get(one.name, 0.0))
    if why:
        outcome.failures.append(Failure(one.name, why, data))


@contextmanager
def _broken_off() -> Iterator[None]:
    def hang(number: int, frame: FrameType | None) -> None:
        raise HangError(f"not done after {_HANGS:.0f} s")

    before = signal.signal(signal.SIGVTALRM, hang)
    signal.setitimer(signal.ITIMER_VIRTUAL, _HANGS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
