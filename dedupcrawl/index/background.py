"""One job at a time beside the caller: large merges, most of whose time NumPy spends without the interpreter's lock."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

logger = logging.getLogger(__name__)


class Background:
    """Runs jobs in a thread. A job that fails is logged: what it was to fold stays searchable in the tail."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None

    @property
    def busy(self) -> bool:
        """A job is running."""
        return self._thread is not None and self._thread.is_alive()

    def start(self, job: Callable[[], None]) -> None:
        """Run `job`; none may be running. The interpreter waits for it before it exits."""
        self._thread = threading.Thread(target=self._run, args=(job,), name="dedupcrawl-index")
        self._thread.start()

    def wait(self) -> None:
        """Return when no job is running."""
        if self._thread is not None:
            self._thread.join()

    def _run(self, job: Callable[[], None]) -> None:
        try:
            job()
        except Exception:
            logger.exception("Folding new pages into the index failed; they stay in memory and it is tried again")
