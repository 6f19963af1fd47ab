"""Progress on stderr: share and time left on a terminal, nothing anywhere else."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from dedupcrawl.crawl_logs.tally import Progress

_WIDTH = 40  # characters: a stage, its share and the time left, and spaces over what stood there before
_EVERY = 0.1  # seconds


@contextmanager
def progress() -> Iterator[Progress]:
    """One line about the stage that the function given was told of last; it is gone in the end."""
    if not sys.stderr.isatty():
        yield lambda stage, done, total: None
        return
    begun: dict[str, float] = {}
    shown = 0.0

    def told(stage: str, done: int, total: int) -> None:
        nonlocal shown
        now = monotonic()
        began = begun.setdefault(stage, now)
        if now - shown >= _EVERY or done >= total:
            shown = now
            left = f", {(now - began) * (total - done) / done:,.0f} s left" if 0 < done < total else ""
            share = min(done / total, 1) if total else 1
            print(f"\r{f'{stage} {share:.0%}{left}':<{_WIDTH}}", end="", file=sys.stderr, flush=True)

    try:
        yield told
    finally:
        print(f"\r{'':<{_WIDTH}}\r", end="", file=sys.stderr, flush=True)
