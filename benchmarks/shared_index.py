"""Several workers on one Redis, pages and their copies sent to all at once: what is kept, and what a page costs.

    python -m benchmarks.shared_index [--pages 20000] [--duplicates 5000] [--workers 4] [--runs 3] [--checks a,b]
        [--at-once 32]

Starts a redis-server of its own. Texts are made up of words by Zipf's law, a copy has another URL. The workers first
make all signatures, then offer their pages as fast as they can, a page and its copy at about the same moment, to
different workers, each with a claim and a request to fall back on as in a crawl. Commands and their time are those of
the server's own statistics (INFO commandstats), so heartbeats and everything else are among them.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import redis

from benchmarks.redis_process import redis_process
from dedupcrawl.content.checks.registry import DEFAULT_CHECKS, make_checks
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.detection.comparison import Asked
from dedupcrawl.detection.detector import Detector
from dedupcrawl.detection.together import together
from dedupcrawl.index.redis import RedisIndex
from dedupcrawl.page import Page

_VOCABULARY = 20_000
_SYLLABLES = ("ka", "lo", "mi", "ter", "van", "so", "pre", "du", "ran", "el", "bo", "stig", "nur", "fa", "wen", "ix")


@dataclass(frozen=True, slots=True)
class Run:
    """What one run came to."""

    kept: int
    listed: int
    problems: int
    round_trips: float
    server_ms: float
    worker_ms: float
    seconds: float
    joining_ms: float
    page_bytes: float


def made_up(pages: int, duplicates: int, seed: int) -> list[Page]:
    """`pages` pages, of which `duplicates` are copies; a copy stands beside its original."""
    rng = np.random.default_rng(seed)
    words = np.array(["".join(rng.choice(_SYLLABLES, 1 + rng.integers(1, 4))) for _ in range(_VOCABULARY)])
    chances = 1 / np.arange(1, _VOCABULARY + 1) ** 0.8
    heights = np.cumsum(chances / chances.sum())
    copied = set(rng.choice(pages - duplicates, duplicates, replace=False).tolist())
    found = []
    for number in range(pages - duplicates):
        drawn = words[np.minimum(heights.searchsorted(rng.random(int(rng.integers(150, 500)))), _VOCABULARY - 1)]
        paragraphs = tuple(" ".join(part) + "." for part in np.array_split(drawn, 5))
        for copy in range(2 if number in copied else 1):
            url = f"http://site{number % 50}.example/{number}/{copy}"
            found.append(Page(url, title=str(number), paragraphs=paragraphs))
    return found


def work(url: str, pages: Sequence[Page], names: Sequence[str], at_once: int, pipe: Connection) -> None:
    """One worker: ready, wait for the start, offer all pages, tell what was kept and what it took."""
    checks = make_checks(names, make_parameters())
    index = RedisIndex(url, checks, wait=60)
    analyses = [Analysis(page, index.secret) for page in pages]
    for analysis in analyses:
        for check in checks:
            analysis.signature(check)
    index.start_leasing()
    detector = Detector(index, spider="bench", run="bench")
    pipe.send("ready")
    pipe.recv()
    before, cpu = index.link.round_trips, time.process_time()
    kept = []
    for first in range(0, len(analyses), at_once):
        batch = analyses[first : first + at_once]
        steps = (detector.steps(analysis, Asked(checks, request=lambda: b"a request")) for analysis in batch)
        kept += [verdict.url for verdict in together(index, steps) if not verdict.is_duplicate]
    cpu = time.process_time() - cpu
    pipe.send((kept, index.link.round_trips - before, cpu))
    pipe.recv()
    index.hold(analysis.kept for analysis in analyses if analysis.kept is not None)
    index.close()


def make_parameters() -> dict[str, Any]:
    """The checks' own settings, as they are by default."""
    from dedupcrawl.settings import DedupSettings

    return dict(DedupSettings.read({"DEDUP_RULES": []}).parameters)


def measure(  # noqa: PLR0913 - what a run is made of
    port: int, pages: Sequence[Page], workers: int, names: Sequence[str], at_once: int, name: str
) -> Run:
    """One run of all workers on a new index."""
    url = f"redis://127.0.0.1:{port}/0?prefix={name}"
    server = redis.Redis(port=port)
    pipes = []
    for number in range(workers):
        mine, theirs = multiprocessing.Pipe()
        process = multiprocessing.Process(target=work, args=(url, pages[number::workers], names, at_once, theirs))
        process.start()
        pipes.append((mine, process))
    for pipe, _ in pipes:
        pipe.recv()
    server.config_resetstat()
    start = time.perf_counter()
    for pipe, _ in pipes:
        pipe.send("go")
    told = [pipe.recv() for pipe, _ in pipes]
    seconds = time.perf_counter() - start
    stats: Any = server.info("commandstats")
    spent = sum(row["usec"] for command, row in stats.items() if command != "cmdstat_config|resetstat")
    for pipe, process in pipes:
        pipe.send("end")
        process.join()
    cpu = time.process_time()
    index = RedisIndex(url, make_checks(names, make_parameters()))
    cpu = time.process_time() - cpu
    info = index.info()
    run = Run(
        kept=sum(len(kept) for kept, _, _ in told),
        listed=len({entry.url.rsplit("/", 1)[0] for entry in index.entries()}),
        problems=len(index.verify()),
        round_trips=sum(trips for _, trips, _ in told) / len(pages),
        server_ms=spent / len(pages) / 1000,
        worker_ms=sum(cpu for _, _, cpu in told) / len(pages) * 1000,
        seconds=seconds,
        joining_ms=cpu / int(info["pages"]) * 1000,
        page_bytes=int(info["bytes"]) / int(info["pages"]),
    )
    index.close()
    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--duplicates", type=int, default=5_000)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--checks", default=",".join(DEFAULT_CHECKS))
    parser.add_argument("--at-once", type=int, default=RedisIndex.pages_at_once)
    given = parser.parse_args()
    names = given.checks.split(",")
    print(
        f"{given.pages} pages, {given.duplicates} of them copies, {given.workers} workers, checks {given.checks},",
        end=" ",
    )
    print(f"{given.at_once} pages at once")
    print(
        "| run | kept | should be | problems | round trips a page | server ms a page | worker CPU ms a page |", end=""
    )
    print(" pages/s | bytes a page in Redis | CPU ms a page to join |\n|" + " ---: |" * 10)
    runs = []
    with redis_process() as port:
        for number in range(given.runs):
            pages = made_up(given.pages, given.duplicates, number)
            run = measure(port, pages, given.workers, names, given.at_once, f"run{number}")
            runs.append(run)
            cells = (
                *(number + 1, run.kept, given.pages - given.duplicates, run.problems),
                *(f"{run.round_trips:.3f}", f"{run.server_ms:.3f}", f"{run.worker_ms:.2f}"),
                *(f"{given.pages / run.seconds:.0f}", f"{run.page_bytes:.0f}", f"{run.joining_ms:.3f}"),
            )
            print("|", " | ".join(map(str, cells)), "|", flush=True)
    exact = all(run.kept == run.listed == given.pages - given.duplicates and not run.problems for run in runs)
    print(f"\nexactly the right number kept in every run: {exact}")
    print(f"median round trips {statistics.median(run.round_trips for run in runs):.3f}, ", end="")
    print(f"server {statistics.median(run.server_ms for run in runs):.3f} ms a page")
    sys.exit(0 if exact else 1)


if __name__ == "__main__":
    main()
