"""The contract of an index: keep what was accepted, find what is alike, in one atomic step a page.

Each part is a class of its own, so that who needs one does not ask for an index, and is written once: over tables of
cells (index.tables) and what a store does for pages (index.pages). Of every call: ValueError after `close`,
IndexDamagedError when what is stored cannot be read, OSError when it cannot be read or written at all, of which
IndexAwayError says that a server cannot be reached.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

from dedupcrawl.index.notes import Attachments, RewriteLog, SiteStates, VerdictLog
from dedupcrawl.index.pages import ClaimLedger, Kept, PageStore

__all__ = [
    "Attachments", "ClaimLedger", "Index", "Kept", "PageStore", "RewriteLog", "SiteStates", "Told", "VerdictLog",
    "standing_for",
]  # fmt: skip

Told = Callable[[int, int], None]
"""Called with how many records are done, and how many there are."""


class Index(ClaimLedger, VerdictLog, RewriteLog, SiteStates, Attachments):
    """All of it. Safe for several processes on one index."""

    @abstractmethod
    def info(self) -> dict[str, int | float | str]:
        """Pages, postings by check, verdicts, bytes on disk."""

    @abstractmethod
    def verify(self, told: Told | None = None) -> list[str]:
        """Read everything and check every invariant: one sentence for each problem. Pages may be added meanwhile."""

    def compact(self) -> None:
        """Give back the room of what no longer counts.

        That is: ended pages, all but the newest verdict on a page, all but a spider's newest rewrite of a URL, and
        what the processes of a run agreed on.

        Raises:
            OSError: Others use the index, so that this cannot be done now.
        """
        self.drop_older_verdicts()
        self.drop_older_rewrites()

    @abstractmethod
    def close(self) -> None:
        """Flush and release. Further calls fail."""


_LONGEST = 100  # pages in a row


def standing_for(index: Index, url: str) -> str | None:
    """URL of the page at the end of those that supersede each other, from the one kept under `url` on, if any does.

    A page that is kept under another URL than its own is found where the index knows that it was rewritten.
    """
    rewrite = index.rewrite(url) if index.entry(url) is None else None
    passed = [rewrite.canonical if rewrite is not None else url]
    while len(passed) <= _LONGEST:
        larger = index.superseded_by(passed[-1])
        if larger is None or larger in passed:
            break
        passed.append(larger)
    last = index.entry(passed[-1]) if len(passed) > 1 else None
    return last.source if last is not None else None
