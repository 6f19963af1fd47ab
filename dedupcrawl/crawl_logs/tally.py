"""Counts of a log while it is read: rows read, rows left out and why, and the positions of broken ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

Progress = Callable[[str, int, int], None]
"""Called with the stage of the work ("reading", "learning"), the amount done, and the total."""

_EXAMPLES_A_FILE = 5  # most broken rows of a file that are named; the others are only counted

THE_LOG_OF_A_CRAWL = (
    "take the crawl log, crawl-log.jsonl, that a crawl with dedupcrawl writes to .scrapy/dedup/ of its project, to "
    "dedup/ in its JOBDIR, or where DEDUP_CRAWL_LOG says"
)
"""Tells users who gave another file where to find a log for training."""


class LogError(Exception):
    """A whole file cannot be read. The message is one sentence: which file, what is wrong, what to do.

    Every reader in this package may raise it, even after it has returned some rows.
    """


class Unread(NamedTuple):
    """A row that was left out, or the rest of a file from such a row on, and the reason."""

    path: str
    line: int  # its 1-based position, in `unit`s
    reason: str
    unit: str = "line"  # or "record"

    def __str__(self) -> str:
        return f"{self.path}: nothing was read from about {self.unit} {self.line:,} on: {self.reason}"


@dataclass(slots=True)
class Tally:
    """Counts over one or several logs, which a reader updates while a caller iterates over its rows."""

    rows: int = 0
    skipped: Counter[str] = field(default_factory=Counter)  # reason → rows left out for it
    # the first few rows left out of each file, for warnings that name their lines
    broken: list[Unread] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)  # empty files
    unread: list[Unread] = field(default_factory=list)  # rests of files, with an unknown number of rows
    bytes_read: int = 0  # bytes of the files (before decompression), for a progress bar

    def skip(self, path: str, reason: str, count: int, lines: Iterable[int] = (), unit: str = "line") -> None:
        """Count rows left out for one `reason`; of the positions in `lines`, only the first few are kept."""
        if not count:
            return
        self.rows += count
        self.skipped[reason] += count
        named = sum(row.path == path for row in self.broken)
        self.broken += [Unread(path, line, reason, unit) for line in islice(lines, max(0, _EXAMPLES_A_FILE - named))]
