"""Fuzz everything that reads what strangers write.

    python -m benchmarks.fuzz [--cases 1000000] [--seed N] [--target NAME]... [--data DIR] [--keep DIR]

No call may raise, take more than a second of CPU, or raise the peak of memory by more than 256 MB. What does is written
to --keep and makes the exit status 1. Real pages are taken from ../shared/data beside the checkout, or from --data,
where they are at hand; our own examples are always among them.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from contextlib import suppress
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.fuzz.run import Failure, Outcome, fuzz, targets
from benchmarks.texts import DEFAULT_DATA

_TOLD_EVERY = 20.0  # seconds


def main() -> int:
    """Run it; 1 when something failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="of CPU, then stop")
    parser.add_argument("--target", action="append", help="only this one; may be given again")
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA)
    parser.add_argument("--keep", type=Path, default=Path("fuzz-failures"), help="where inputs that fail are written")
    options = parser.parse_args()
    if not options.data.is_dir():
        print(f"{options.data} is not there: our own examples alone (name the folder with --data)", file=sys.stderr)
    chosen = [one for one in targets(options.data) if not options.target or one.name in options.target]
    if not chosen:
        parser.error(f"no such target: there are {', '.join(one.name for one in targets())}")
    outcome, told = Outcome(), time.monotonic()
    with suppress(KeyboardInterrupt):  # what was found until then is told
        for outcome in fuzz(chosen, options.cases, options.seed, seconds=options.seconds):
            if time.monotonic() - told > _TOLD_EVERY:
                told = time.monotonic()
                done = sum(outcome.cases.values())
                print(f"{done:,} of {options.cases:,}, {len(outcome.failures)} failed", file=sys.stderr)
    _report(outcome)
    for failure in outcome.failures:
        _write(failure, options.keep)
    return 1 if outcome.failures else 0


def _report(outcome: Outcome) -> None:
    table = Table("target", "cases", "CPU s", "slowest, s", "failed")
    failed = [failure.target for failure in outcome.failures]
    for name in sorted(outcome.cases):
        row = (f"{outcome.cases[name]:,}", f"{outcome.cpu[name]:.0f}", f"{outcome.slowest[name]:.2f}")
        table.add_row(name, *row, str(failed.count(name)))
    Console(width=100).print(table)
    print(f"{sum(outcome.cases.values()):,} cases, peak memory {outcome.peak >> 20} MB, {len(failed)} failed")


def _write(failure: Failure, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{failure.target}-{hashlib.sha256(failure.data).hexdigest()[:12]}"
    path.write_bytes(failure.data)
    print(f"{path}: {failure.why[:160]!r}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
