"""TemporaryIndex: an index that ends with its process, in a folder that goes with it."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from dedupcrawl.content.checks.base import Check
from dedupcrawl.content.checks.registry import make_checks
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.schema import BATCH_PAGES


class TemporaryIndex(LmdbIndex):
    """An LMDB index in a temporary folder, which is removed by `close`, or when the process ends unless killed.

    Args:
        checks: The content checks, in the order in which they are asked; who has none may still use all else.
        batch_pages: Pages in memory before they are folded.
    """

    def __init__(self, checks: Sequence[Check], *, batch_pages: int = BATCH_PAGES) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="dedupcrawl-", ignore_cleanup_errors=True)
        super().__init__(Path(self._folder.name), checks or make_checks(["exact"], {}), batch_pages=batch_pages)

    def info(self) -> dict[str, int | float | str]:
        """Pages, postings by check, verdicts, bytes on disk."""
        return {**super().info(), "index": "memory:"}

    def close(self) -> None:
        """Release everything. Further calls fail."""
        super().close()
        self._folder.cleanup()
