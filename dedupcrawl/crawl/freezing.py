"""What Python's garbage collector leaves alone (`gc.freeze`) for as long as any crawl of this process lasts.

To look through modules and settings again and again is a tenth of a crawl's CPU. It is the whole process's: where the
program has frozen something itself, it is left to that.
"""

from __future__ import annotations

import gc


class Freezing:
    """Counts the crawls of a process."""

    def __init__(self) -> None:
        self._crawls = 0
        self._is_ours = False  # all that is frozen

    def freeze(self) -> None:
        """Leave alone all that is there now."""
        self._is_ours = self._is_ours or not gc.get_freeze_count()
        if self._is_ours:
            gc.freeze()

    def begin(self) -> None:
        """A crawl begins: leave alone all that is there now and is no garbage."""
        self._crawls += 1
        gc.collect()
        self.freeze()

    def end(self) -> None:
        """A crawl has ended; with the last one nothing is left alone any more."""
        self._crawls = max(0, self._crawls - 1)
        if self._is_ours and not self._crawls:
            gc.unfreeze()
            self._is_ours = False


FREEZING = Freezing()
