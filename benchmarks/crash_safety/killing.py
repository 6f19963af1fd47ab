"""The tables of killed crawls."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from statistics import median

from benchmarks.crash_safety.crawling import ON
from benchmarks.crash_safety.kills import Outcome, Site, resume, start_over, whole
from benchmarks.markdown import table

_BATCH = 20  # items in a file of a feed: what is in a closed one counts as stored


def started_over(site: Site, folder: Path, kills: int, seed: int) -> str:
    """Killed and started over, with a new feed."""
    rng = random.Random(seed)
    _, off = whole(site, folder / "undisturbed-off", {})
    seconds, on = whole(site, folder / "undisturbed-on", ON)
    rows = [_row("undisturbed, dedup off", off), _row("undisturbed", on)]
    for name, share, processes, batch in (
        ("one process, one file a feed", 2, 1, 0),
        (f"one process, files of {_BATCH} items", 2, 1, _BATCH),
        (f"two processes on one index, files of {_BATCH} items", 1, 2, _BATCH),
    ):
        done = start_over(site, folder / name, kills // share, seconds, processes=processes, batch=batch, rng=rng)
        rows.append(_row(f"SIGKILL, {name}", done))
        print("; ".join(map(str, rows[-1])), file=sys.stderr, flush=True)
    head = "", "kills", "crawls", "texts lost", "again in a feed", "forgotten a kill", "reopened in, CPU ms", "problems"
    return "Killed at random moments, started over on the same index:\n\n" + table(head, rows)


def resumed(site: Site, folder: Path, kills: int, seed: int) -> str:
    """Killed and resumed, beside Scrapy alone, which is killed at the same parts of its way."""
    rows: list[tuple[object, ...]] = []
    for name, share, softly in (("SIGKILL", 2, False), ("SIGTERM", 4, True)):
        for dedup in (False, True):
            which = "dedup on" if dedup else "Scrapy alone"
            rng = random.Random(seed)
            done = resume(site, folder / f"{name} {which}", kills // share, dedup=dedup, softly=softly, rng=rng)
            rows.append((f"{name}, {which}", done.kills, done.crawls, done.lost, done.blamed, len(done.problems)))
    columns = "", "kills", "crawls", "texts lost", "of them dropped before", "problems"
    return "Killed at random moments, resumed with the same JOBDIR:\n\n" + table(columns, rows)


def _row(name: str, outcome: Outcome) -> tuple[object, ...]:
    times = (
        [f"{value:.0f}" for value in (median(outcome.reopen_ms), max(outcome.reopen_ms))] if outcome.reopen_ms else ()
    )
    undone = f"{outcome.undone:g}" if outcome.reopen_ms else ""
    return (
        *(name, outcome.kills, outcome.crawls, outcome.lost, outcome.twice, undone),
        *(" / ".join(times), len(outcome.problems)),
    )
