"""Crawls that are killed at random moments and started over on the same index."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.crash_safety.crawling import ON, Process, Project
from benchmarks.crash_safety.reopening import reopen
from benchmarks.crash_safety.texts import Texts
from dedupcrawl.index.open import open_index

_KILLS_A_JOB = 5  # of a crawl that is resumed: more would leave nothing of it to kill


@dataclass(frozen=True, slots=True)
class Site:
    """What is crawled: the list of its URLs, the port of its loopback server, and its texts."""

    urls: Path
    port: int
    texts: Texts

    def project(self, folder: Path, settings: Mapping[str, Any], batch: int = 0) -> Project:
        """A folder to crawl it in."""
        return Project(folder, self.urls, self.port, settings, folder / "index", batch)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a crawl that was killed.

    Attributes:
        kills: How often.
        crawls: Processes that were started.
        lost: Texts in no feed in the end.
        blamed: Of these, those of which a page was dropped: what a crawl without dedup would not have lost.
        twice: Items whose text stands in the same crawl's feed before.
        undone: Median number of kept pages that the next crawl forgot, because nobody knew them to be stored.
        reopen_ms: CPU milliseconds to open the index after each kill.
        problems: What `verify` found in the index, after each kill and in the end.
    """

    kills: int
    crawls: int
    lost: int
    blamed: int
    twice: int = 0
    undone: float = 0
    reopen_ms: Sequence[float] = ()
    problems: Sequence[str] = field(default=())

    def __add__(self, other: Outcome) -> Outcome:
        return replace(
            self,
            kills=self.kills + other.kills,
            crawls=self.crawls + other.crawls,
            lost=self.lost + other.lost,
            blamed=self.blamed + other.blamed,
            twice=self.twice + other.twice,
            problems=[*self.problems, *other.problems],
        )


def whole(site: Site, folder: Path, settings: Mapping[str, Any]) -> tuple[float, Outcome]:
    """Seconds that a crawl takes which nobody disturbs, from its spider's opening on, and what becomes of it."""
    project = site.project(folder, settings)
    project.finish()
    return project.stats()["elapsed_time_seconds"], outcome(site, project, 0)


def start_over(  # noqa: PLR0913 - one trial and all that is varied
    site: Site, folder: Path, kills: int, seconds: float, *, processes: int, batch: int, rng: random.Random
) -> Outcome:
    """Kill one of `processes` crawls that share an index, start it over, and so on; in the end let all finish.

    `seconds`: that a crawl takes which nobody disturbs.
    """
    project = site.project(folder, ON, batch)
    running = [project.start() for _ in range(processes)]
    crawls, killed = processes, 0
    undone: list[int] = []
    reopen_ms: list[float] = []
    problems: list[str] = []
    while killed < kills:
        place = rng.randrange(processes)
        delay = rng.uniform(0, seconds)
        done = _kill(running[place], delay)
        killed += done
        seconds *= 1.05 if done else 0.9  # the machine may be busy now and idle then
        if done and processes == 1 and project.index.exists():
            found = reopen(project.index)
            undone.append(found.abandoned)
            reopen_ms.append(found.cpu_ms)
            problems += found.problems
        running[place] = project.start()
        crawls += 1
    for process in running:
        process.join()
        if process.exitcode:
            problems.append(f"a crawl that nobody disturbed ended with {process.exitcode}: see {project.log}")
    total = outcome(site, project, killed)
    return replace(
        total,
        crawls=crawls,
        undone=median(undone or [0]),
        reopen_ms=reopen_ms,
        problems=[*problems, *total.problems],
    )


def resume(site: Site, folder: Path, kills: int, *, dedup: bool, softly: bool, rng: random.Random) -> Outcome:  # noqa: PLR0913 - one trial and all that is varied
    """Kill crawls with a JOBDIR, each some times, and resume them; softly: with SIGTERM, once."""
    settings = ON if dedup else {}
    seconds, _ = whole(site, folder / "undisturbed", settings)
    done = [
        _resumed(site, folder / f"job-{job}", settings, rng, seconds, softly)
        for job in range(-(-kills // _KILLS_A_JOB))
    ]
    total = done[0]
    for one in done[1:]:
        total += one
    return total


def _resumed(  # noqa: PLR0913 - one trial and all that is varied
    site: Site, folder: Path, settings: Mapping[str, Any], rng: random.Random, seconds: float, softly: bool
) -> Outcome:
    project = site.project(folder, settings)
    jobdir = folder / "job"
    killed = 0
    for _ in range(_KILLS_A_JOB):
        process = project.start(JOBDIR=jobdir)
        killed += kill_opened(project, process, rng.uniform(0, 1.5 / _KILLS_A_JOB) * seconds, softly=softly)
    project.finish(JOBDIR=jobdir)
    return replace(outcome(site, project, killed), crawls=_KILLS_A_JOB + 1)


def kill_opened(project: Project, process: Process, seconds: float, *, softly: bool = False) -> bool:
    """Kill the crawl that was started last so many seconds after its spider is opened; False when it ends before."""
    while process.is_alive() and (not project.log.exists() or b"Spider opened" not in project.log.read_bytes()):
        time.sleep(0.01)
    return _kill(process, seconds, softly=softly)


def _kill(process: Process, seconds: float, *, softly: bool = False) -> bool:
    """Kill a process so many seconds from now; False when it has ended before."""
    process.join(seconds)
    if process.exitcode is not None:
        return False
    if softly:
        process.terminate()
    else:
        process.kill()
    process.join()
    return True


def outcome(site: Site, project: Project, killed: int) -> Outcome:
    """What has become of the crawls of a project, of which so many were killed."""
    feeds = list(project.feed_urls())
    lost = site.texts.lost(chain.from_iterable(feeds))
    dropped = set(_dropped(project.index)) if project.index.exists() else set()
    return Outcome(
        kills=killed,
        crawls=1,
        lost=len(lost),
        blamed=sum(not dropped.isdisjoint(text.urls) for text in lost),
        twice=sum(map(site.texts.duplicates, feeds)),
        problems=reopen(project.index).problems if project.index.exists() else (),
    )


def _dropped(index: Path) -> Iterator[str]:
    opened = open_index(f"lmdb:{index}", [])
    try:
        yield from (row.verdict.url for row in opened.recorded() if row.verdict.is_duplicate)
    finally:
        opened.close()
