"""When a crawl had better learn: crawl logs played with rules that come into use while the log grows.

    python -m benchmarks.learning_schedule [--lag ROWS] [--schedules rows:200:1.5 pairs:10:3 …] LOG…

LOG is what a crawl without learned rules has written. Its rows are taken one after the other. Rules are trained on the
rows so far whenever so many rows, or redundant URLs (pairs), are there, and again when these have grown by a factor. A
run's rules come into use some rows later (the lag), for a training run takes its time. A fetch is saved when its
canonical URL was fetched before; what is saved is in no later training. Trials, which a crawl makes besides, are left
out.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from dedupcrawl.crawl.log_file import Evidence, LogRow
from dedupcrawl.training.options import LearningOptions
from dedupcrawl.training.train import train
from dedupcrawl.urls.normalizer import Normalizer

SCHEDULES = ("rows:200:1.5", "pairs:5:3", "pairs:10:1.5", "pairs:10:2", "pairs:10:3", "pairs:10:4", "pairs:20:3")


@dataclass(slots=True)
class Played:
    """What came of a schedule on one log.

    Attributes:
        saved: Fetches.
        other: Of them, those whose page had another text digest than the one that was fetched.
        begun: Rows of the log at the beginning of each training run.
        seconds: CPU time of the training runs, without starting a process for each.
    """

    saved: int = 0
    other: int = 0
    begun: list[int] = field(default_factory=list)
    seconds: float = 0.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("logs", nargs="+", type=Path, metavar="LOG")
    parser.add_argument("--lag", type=int, default=50, help="rows between a run and its rules [%(default)s]")
    parser.add_argument("--schedules", nargs="*", default=SCHEDULES, help="what:first:growth")
    arguments = parser.parse_args()
    print("| schedule | log | saved | of these another digest | runs | first at row | CPU s |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for log in arguments.logs:
        rows = [msgspec.json.decode(line, type=LogRow) for line in log.read_bytes().splitlines()]
        for schedule in arguments.schedules:
            with tempfile.TemporaryDirectory() as folder:
                done = played(rows, schedule, arguments.lag, Path(folder))
            runs, first = len(done.begun), done.begun[0] if done.begun else "–"
            print(
                f"| {schedule} | {log} | {done.saved} | {done.other} | {runs} | {first} | {done.seconds:.1f} |",
                flush=True,
            )
    return 0


def played(rows: Sequence[LogRow], schedule: str, lag: int, folder: Path) -> Played:
    """Play one log."""
    what, first, growth = schedule.split(":")
    done, evidence, kept = Played(), Evidence(), list[LogRow]()
    normalizer, fetched = Normalizer(), dict[str, str]()
    threshold = float(first)
    coming: tuple[int, Normalizer] | None = None
    for number, row in enumerate(rows):
        if coming is not None and number >= coming[0]:
            normalizer, coming = coming[1], None
            fetched = {normalizer.normalize(one.url).canonical: one.text_digest for one in kept if one.text_digest}
        if row.text_digest:
            canonical = normalizer.normalize(row.url).canonical
            if canonical in fetched:
                done.saved += 1
                done.other += fetched[canonical] != row.text_digest
                continue
            fetched[canonical] = row.text_digest
        kept.append(row)
        evidence.add(row)
        have = evidence.count if what == "pairs" else len(kept)
        if have >= threshold and coming is None:
            threshold = have * float(growth)
            done.begun.append(len(kept))
            coming = number + lag, _trained(kept, folder / str(number), done)
    return done


def _trained(rows: Sequence[LogRow], folder: Path, done: Played) -> Normalizer:
    folder.mkdir()
    log, rules = folder / "log.jsonl", folder / "rules"
    log.write_bytes(msgspec.json.Encoder().encode_lines(rows))
    began = time.process_time()
    train([log], rules, LearningOptions(), workers=1)
    done.seconds += time.process_time() - began
    return Normalizer.from_paths([rules]) if rules.exists() else Normalizer()


if __name__ == "__main__":
    sys.exit(main())
