"""Python's garbage collector while any crawl of this process runs (DEDUP_GC_FREEZE).

It ignores the objects that exist when a crawl begins (`gc.freeze`), because searching modules and settings again and
again takes a tenth of a crawl's CPU. And it collects less often: Python looks for garbage after each 700 new objects,
but most objects of a crawl are freed without it. Both apply to the whole process. If the program itself has frozen
objects, or has set thresholds other than Python's, these stay as they are.
"""

from __future__ import annotations

import gc

THRESHOLDS = (10_000, 3, 3)
"""Thresholds during a crawl (`gc.set_threshold`), chosen by the measurements in docs/measured/cost.md."""

_PYTHON_S = frozenset({(700, 10, 10), (2000, 10, 10), (2000, 10, 0)})  # Python's own: up to 3.12, in 3.13, in 3.14


class Freezing:
    """Counts the crawls of a process, and sets the collector while any runs."""

    def __init__(self) -> None:
        self._crawls = 0
        self._is_ours = False  # whether this object, and nobody else, has frozen objects
        self._before: tuple[int, int, int] | None = None  # the thresholds to restore, if ours are set

    def begin(self) -> None:
        """Collect garbage once at the start of a crawl, ignore what is left, and collect less often."""
        self._crawls += 1
        gc.collect()
        self._is_ours = self._is_ours or not gc.get_freeze_count()
        if self._is_ours:
            gc.freeze()
        if (before := gc.get_threshold()) in _PYTHON_S:
            self._before = before
            gc.set_threshold(*THRESHOLDS)

    def end(self) -> None:
        """End a crawl; when the last one ends, restore the collector's state."""
        self._crawls = max(0, self._crawls - 1)
        if self._crawls:
            return
        if self._is_ours:
            gc.unfreeze()
            self._is_ours = False
        if self._before is not None and gc.get_threshold() == THRESHOLDS:
            gc.set_threshold(*self._before)
        self._before = None


FREEZING = Freezing()
