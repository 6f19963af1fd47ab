"""Counts of a log while it is read: rows read, rows left out and why, and where the broken ones are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

Progress = Callable[[str, int, int], None]
"""Told how far the work is: at which stage ("reading", "learning"), how much of it is done, and how much there is."""

_EXAMPLES_A_FILE = 5  # broken rows named one by one; the others are only counted

THE_LOG_OF_A_CRAWL = (
    "take the crawl log, crawl-log.jsonl, that a crawl with dedupcrawl writes to .scrapy/dedup/ of its project, to "
    "dedup/ in its JOBDIR, or where DEDUP_CRAWL_LOG says"
)
"""Where to find a log that can be learned from, for those who have given another file."""


class LogError(Exception):
    """A whole file cannot be read. The message is one sentence: which file, what is wrong, what to do.

    Whatever reads files here may raise it, also after some of their rows.
    """


class BrokenRow(NamedTuple):
    """A row that was left out, and its position: number `line`, from 1 on, of its `unit`s ("line" or "record")."""

    path: str
    line: int
    reason: str
    unit: str = "line"


class Unread(NamedTuple):
    """The rest of a file, from the `unit`, "line" or "record", number `start` on, which could not be read; and why."""

    path: str
    start: int
    reason: str
    unit: str = "line"

    def __str__(self) -> str:
        return f"{self.path}: nothing was read from about {self.unit} {self.start:,} on: {self.reason}"


@dataclass(slots=True)
class Tally:
    """Counts over one or several logs, filled in by a reader while rows are drawn from it."""

    rows: int = 0
    skipped: Counter[str] = field(default_factory=Counter)  # reason → rows left out for it
    # the first few rows left out of each file, for warnings that name the line
    broken: list[BrokenRow] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)  # files with nothing in them
    unread: list[Unread] = field(default_factory=list)  # nobody knows how many rows that are
    bytes_read: int = 0  # bytes of the files themselves (before decompression), for a progress bar

    def skip(self, path: str, reason: str, count: int, lines: Iterable[int] = (), unit: str = "line") -> None:
        """Count `count` rows left out for one `reason`; of `lines`, where they stand, only the first few are kept."""
        if not count:
            return
        self.rows += count
        self.skipped[reason] += count
        named = sum(row.path == path for row in self.broken)
        self.broken += [BrokenRow(path, line, reason, unit) for line in islice(lines, max(0, _EXAMPLES_A_FILE - named))]
