"""Fuzz everything that reads what strangers write, and each entry point of the compiled core.

    python -m benchmarks.fuzz [--target NAME]... [--inputs 100000] [--seed N] [--data DIR] [--keep DIR]

No input may make a target raise, fail a check of its answer or end its process; no call of a reader may take more than
a second of CPU or raise the peak of memory by more than 256 MB. An input that does is written to --keep, and the exit
status is 1. `make fuzz` runs the targets of the core (core.…), built with sanitizers. Real pages are taken from
../shared/data beside the checkout, or from --data, where they are at hand; our own examples are always among them.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from pathlib import Path

from benchmarks.fuzz.run import fuzz, targets
from benchmarks.texts import DEFAULT_DATA


def main() -> int:
    """Run it; 1 when something failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", action="append", default=[], help="only those that begin so; may be given again")
    parser.add_argument("--inputs", type=int, default=100_000, help="of each target")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA)
    parser.add_argument("--keep", type=Path, default=Path("fuzz-failures"), help="where inputs that fail are written")
    options = parser.parse_args()
    every = targets(options.data)
    chosen = [name for name in every if not options.target or name.startswith(tuple(options.target))]
    if not chosen:
        parser.error(f"no such target: there are {', '.join(every)}")
    failed = 0
    for name in chosen:
        done, failures, begun = 0, 0, time.monotonic()
        for ran, data in fuzz(every[name], options.inputs, options.seed):
            done += ran
            if data is not None:
                failures += 1
                options.keep.mkdir(parents=True, exist_ok=True)
                path = options.keep / f"{name}-{hashlib.sha256(data).hexdigest()[:12]}"
                path.write_bytes(data)
                print(f"{path}: {data[:200]!r}", file=sys.stderr, flush=True)
        print(f"{name}: {done:,} inputs, {failures} failed, {time.monotonic() - begun:.0f} s", flush=True)
        failed += failures
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
