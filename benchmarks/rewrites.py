"""``python -m benchmarks.rewrites``: what it takes to find what a wrong rule has cost, in a large index.

A failed trial asks for all that was sent to one canonical URL, a revoked rule for all that it rewrote. Both are looked
up; the last column is a scan of all rewrites, what it would take without.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median

from benchmarks.markdown import table
from dedupcrawl.content.checks.registry import make_checks
from dedupcrawl.index.contract import Index
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.record import Rewrite

_SIZES = (1_000, 10_000, 100_000, 250_000)
_AT_ONCE = 64  # rewrites, as a crawl records them
_RULE_OF = 100  # rewrites that the rule which is looked up had a part in
_TIMES = 51


def main() -> int:
    """Print the table."""
    argparse.ArgumentParser(prog="python -m benchmarks.rewrites", description=__doc__).parse_args()
    head = "rewrites", "record one, µs", "of one canonical URL, µs", f"of a rule of {_RULE_OF}, µs", "scan of all, µs"
    with tempfile.TemporaryDirectory(prefix="rewrites-") as folder:
        rows = [_measured(Path(folder, str(size)), size) for size in _SIZES]
    print(table(head, rows))
    return 0


def _measured(folder: Path, size: int) -> tuple[str, ...]:
    index = LmdbIndex(folder, make_checks(("exact",), {}))
    recorded = _microseconds(lambda: _record(index, size), 1) / size
    targets = iter(range(_TIMES))
    one = _microseconds(lambda: _found(index.rewrites_of("spider", "run", canonicals=[_page(next(targets))]), 1))
    rule = _microseconds(lambda: _found(index.rewrites_of("spider", "run", rules=["wrong"]), _RULE_OF))
    scan = _microseconds(lambda: _found(index.rewrites(), size), 3)
    index.close()
    return f"{size:,}", *(f"{figure:,.0f}" for figure in (recorded, one, rule, scan))


def _record(index: Index, size: int) -> None:
    """Rewrites of one site and one run, those of the wrong rule spread among them."""
    every = size // _RULE_OF
    for first in range(0, size, _AT_ONCE):
        index.record_rewrites(
            Rewrite(
                f"{_page(number)}?sid={number}",
                _page(number),
                ("sid",) if number % every else ("sid", "wrong"),
                *("spider", "run", 1.5e9, bytes(200)),
            )
            for number in range(first, min(size, first + _AT_ONCE))
        )


def _page(number: int) -> str:
    return f"http://www.example.com/page/{number}"


def _found(rewrites: Iterable[Rewrite], count: int) -> None:
    assert sum(1 for _ in rewrites) == count


def _microseconds(work: Callable[[], None], times: int = _TIMES) -> float:
    """Median CPU time of this process."""
    taken = []
    for _ in range(times):
        begun = time.process_time()
        work()
        taken.append(time.process_time() - begun)
    return median(taken) * 1e6


if __name__ == "__main__":
    sys.exit(main())
