"""The runs of an index: when each was, how many pages it kept and how many fetches its rules saved.

How much a run kept cannot be told from the pages later, because another run that meets the same URL takes the page
over. So each process reports its counts to the index at its end. A process that never came to its end has reported
nothing; its run is then described by the pages that the index still holds.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from typing import TypeVar

import msgspec

from dedupcrawl.index.errors import UNREADABLE, IndexDamagedError
from dedupcrawl.index.notes import SiteStates
from dedupcrawl.index.record import plain

MOST_RUNS = 1_000
"""The newest, that are remembered."""

_POINTS = 256  # of the course of a run
_SAVED_AT_ONCE = 64  # fetches: a process that is killed forgets to tell of at most so many
_NAMES, _RUN = "runs", "run"  # names of states: of the index as a whole ("" is no site), and of each run

_encode = msgspec.msgpack.Encoder().encode

Course = tuple[tuple[int, int], ...]
State = TypeVar("State")


class Run(msgspec.Struct, frozen=True, array_like=True):
    """What is remembered of a run."""

    name: str
    spider: str  # the last that took part; empty outside a crawl
    started: float  # when its first process did, in seconds since the epoch
    ended: float = 0.0  # when its last process did that came to its end; 0 when none has
    begun: int = 0  # processes that took part: workers, or parts of a crawl that was paused
    closed: int = 0  # of these, the ones that came to their end
    kept: int = 0  # pages that these kept, and that were not lost by a later pipeline
    # Milliseconds since the epoch, and fetches that rules had saved since the pair before, less those that had to be
    # made after all; ascending.
    course: Course = ()
    fell_back: int = 0  # requests that rules had sent elsewhere, and that were sent as they were asked for after all
    superseded: int = 0  # pages for which one stands that these processes kept after them

    @property
    def is_whole(self) -> bool:
        """True when all of its processes came to their end, so that `kept` is the figure."""
        return self.closed >= self.begun

    @property
    def saved(self) -> int:
        """Fetches that rules saved; what two of its processes saved counts in each."""
        return sum(count for _, count in self.course)


def read_runs(index: SiteStates) -> list[Run]:
    """The newest `MOST_RUNS` runs, in the order in which they began, or began again."""
    names = _decoded(index.site_state("", _NAMES), list[str]) or ()
    runs = (_decoded(index.site_state(name, _RUN), Run) for name in names)
    return [run for run in runs if run is not None]


class RunTally:
    """Counts what one process does for a run, and reports it to the index. If the index refuses, the crawl goes on.

    Raises:
        OSError, IndexDamagedError: The index cannot be told that the run has begun.
    """

    def __init__(self, index: SiteStates, name: str, spider: str) -> None:
        self._index, self._name, self._spider = index, plain(name), plain(spider)
        self.kept = self.superseded = 0
        self._news = Counter({"begun": 1})  # what the index does not know yet, by fields of Run
        self._saved: list[tuple[int, int]] = []  # of its course
        self._ended = 0.0
        gone: list[str] = []

        def with_name(raw: bytes | None) -> bytes:
            """With this run as the newest, and without those that there is no room for any more."""
            names = [*(other for other in _decoded(raw, list[str]) or () if other != self._name), self._name]
            gone[:] = names[:-MOST_RUNS]
            return _encode(names[-MOST_RUNS:])

        index.update_site_state("", _NAMES, with_name)
        for old in gone:
            index.update_site_state(old, _RUN, lambda _: b"")
        self._tell()

    def keep(self, superseded: int) -> None:
        """One more page is kept, and stands for so many that were kept before."""
        self.kept += 1
        self.superseded += superseded

    def save(self, fetches: int = 1) -> None:
        """So many more fetches are saved; or fewer, where it is less than 0."""
        self._saved.append((int(time.time() * 1000), int(fetches)))  # True is no number to MessagePack
        if len(self._saved) >= _SAVED_AT_ONCE:
            with suppress(OSError, IndexDamagedError):
                self._tell()

    def fall_back(self, requests: int) -> None:
        """So many rewritten requests are sent as they were asked for."""
        self._news["fell_back"] += requests

    def close(self, lost: int = 0) -> None:
        """This process comes to its end; of what it kept `lost` pages were not stored. A second time is none."""
        if not self._ended:
            self._ended = time.time()
            self._news.update(closed=1, kept=self.kept - lost, superseded=self.superseded)
            with suppress(OSError, IndexDamagedError):
                self._tell()

    def _tell(self) -> None:
        now = time.time()

        def changed(raw: bytes | None) -> bytes:
            run = _decoded(raw, Run) or Run(self._name, "", now)
            figures = {name: max(0, getattr(run, name) + more) for name, more in self._news.items()}
            ended, course = max(run.ended, self._ended), _thinned([*run.course, *self._saved])
            return _encode(msgspec.structs.replace(run, spider=self._spider, ended=ended, course=course, **figures))

        self._index.update_site_state(self._name, _RUN, changed)
        self._news.clear()
        self._saved.clear()


def _decoded(raw: bytes | None, kind: type[State]) -> State | None:
    try:
        return msgspec.msgpack.decode(raw, type=kind) if raw else None
    except UNREADABLE:  # the figures of a report are not worth a crawl
        return None


def _thinned(course: Iterable[tuple[int, int]]) -> Course:
    """At most `_POINTS` pairs with the same sum, in order of time; of two that become one the later time stays."""
    pairs = sorted(course)
    while len(pairs) > _POINTS:
        rest = pairs[len(pairs) & ~1 :]
        pairs = [(later, one + two) for (_, one), (later, two) in zip(pairs[::2], pairs[1::2], strict=False)] + rest
    return tuple(pairs)
