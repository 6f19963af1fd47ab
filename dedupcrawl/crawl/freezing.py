"""What Python's garbage collector does while any crawl of this process runs (DEDUP_GC_FREEZE).

It ignores what exists when a crawl begins (`gc.freeze`), because looking through modules and settings again and again
takes a tenth of a crawl's CPU. And it collects less often: Python looks for garbage after each 700 new objects, and
most objects of a crawl are freed without it. Both apply to the whole process. If the program has frozen something, or
has chosen thresholds other than Python's, it is left alone.
"""

from __future__ import annotations

import gc

THRESHOLDS = (10_000, 3, 3)
"""Of a crawl (`gc.set_threshold`); chosen by what docs/measured/cost.md shows."""

_PYTHON_S = frozenset({(700, 10, 10), (2000, 10, 10), (2000, 10, 0)})  # up to 3.12, of 3.13, of 3.14


class Freezing:
    """Counts the crawls of a process."""

    def __init__(self) -> None:
        self._crawls = 0
        self._is_ours = False  # all that is frozen
        self._before: tuple[int, int, int] | None = None  # thresholds, where they are ours now

    def freeze(self) -> None:
        """Leave alone all that is there now."""
        self._is_ours = self._is_ours or not gc.get_freeze_count()
        if self._is_ours:
            gc.freeze()

    def begin(self) -> None:
        """A crawl begins: leave alone all that is there now and is no garbage, and collect less often."""
        self._crawls += 1
        gc.collect()
        self.freeze()
        if (before := gc.get_threshold()) in _PYTHON_S:
            self._before = before
            gc.set_threshold(*THRESHOLDS)

    def end(self) -> None:
        """A crawl has ended; with the last one everything is as it was."""
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
