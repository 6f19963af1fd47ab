"""The contract of an index: keep what was accepted, find what is alike, in one atomic step a page.

What it remembers besides is in `dedupcrawl.index.notes`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from dedupcrawl.index.notes import Attachments, RewriteLog, SiteStates, VerdictLog
from dedupcrawl.index.rows import Dependent, Entry
from dedupcrawl.index.search import Search


@dataclass(frozen=True, slots=True)
class Kept:
    """The page was added.

    Attributes:
        page_id: Its number.
        supersedes: URLs of kept pages that lie inside it.
        replaces: Whether it took the place of a kept page of the same URL.
    """

    page_id: int
    supersedes: tuple[str, ...] = ()
    replaces: bool = False


Told = Callable[[int, int], None]
"""Called with how many records are done, and how many there are."""


class PageStore(Protocol):
    """Kept pages and their signatures."""

    def search(self, entry: Entry, *, first_id: int = 0, after: Search | None = None) -> Search:
        """What there is that may concern a new page: candidates for a detector to decide about.

        Args:
            entry: The page.
            first_id: Pages below are no candidates.
            after: An earlier search for the same page, which this one goes on with: it brings up what came since.
        """
        ...

    def add(self, found: Search, *, request: bytes = b"") -> Kept | None:
        """Keep the page that was searched for, in one atomic step; None if what came since may change what was found.

        Then who asks has to search on, after this search, and decide anew. So of two equal pages that two processes
        find unique at the same time exactly one is kept. A page of the same URL is replaced, and those in
        `found.superseded` are remembered to lie inside this one.

        A page that this process claims (see `start_claiming`) depends on itself where `request` says what to ask for:
        should the claim die, it is an orphan like those that were dropped because of it.

        Once this returns Kept the page survives a kill of the process.

        Raises:
            ValueError: The index was opened to be read.
        """
        ...

    def renew(self, entry: Entry) -> bool:
        """Put another reading of a page in the place of that which is kept, in one atomic step.

        Nothing is done, and False returned, unless the page kept under this URL was kept at the same moment in the same
        run: it may have been forgotten, or fetched again since. Claims, and what depends on them, stay as they are.
        """
        ...

    def entry(self, url: str) -> Entry | None:
        """The newest kept page of this URL."""
        ...

    def entries(self) -> Iterator[Entry]:
        """All kept pages, oldest first, replaced ones left out."""
        ...

    def superseded_by(self, url: str) -> str | None:
        """URL of the newest kept page that came after the page kept under `url` and holds it, by any check."""
        ...

    def forget(self, urls: Iterable[str]) -> int:
        """Erase the pages kept under these URLs, so that nothing is their duplicate any more; how many there were.

        What is attached to these URLs goes too, whether a page was kept there or not.
        """
        ...


class ClaimLedger(Protocol):
    """Pages that a process keeps and has not stored yet, and what was dropped because of them."""

    def start_claiming(self) -> str:
        """From now on this process claims what it keeps, until it confirms it; returns its name as a claimant."""
        ...

    def confirm(self, urls: Iterable[str]) -> None:
        """The pages kept under these URLs are stored: they may justify drops for ever."""
        ...

    def abandon(self, urls: Iterable[str]) -> list[Dependent]:
        """The pages kept under these URLs will never be stored: forget them, and orphan what depends on them.

        Returns what was orphaned.
        """
        ...

    def depend(self, keeper: str, dependent: Dependent) -> bool:
        """`dependent` is dropped because of the page kept under `keeper`; remembered while that is claimed.

        Returns False when no such page is kept any more, so that this is no reason to drop anything.
        """
        ...

    def reap_expired(self, excluded: Collection[str] = ()) -> int:
        """Forget the pages that processes claim which are no more, and orphan what was dropped because of them.

        Args:
            excluded: Names of claimants that are not looked at yet, whether they live or not.

        Returns how many pages were forgotten.
        """
        ...

    def orphans(self, spider: str) -> list[Dependent]:
        """What is to be fetched again by this spider, because what it was dropped for was never stored."""
        ...

    def take(self, orphans: Iterable[Dependent]) -> list[Dependent]:
        """Of these orphans those that this process shall ask for; who shares the index with others may get them all.

        They stay orphans until they are adopted. In an index of several machines each is given to one claimant, and
        once; when that ends and it still is one, to another.
        """
        ...

    def adopt(self, orphan: Dependent, kept_under: str | None) -> None:
        """An orphan was fetched again and judged; it is one again if the claim dies under which it was kept."""
        ...


class Index(PageStore, ClaimLedger, VerdictLog, RewriteLog, SiteStates, Attachments, Protocol):
    """All of it. Safe for several processes on one index."""

    def info(self) -> dict[str, int | float | str]:
        """Pages, postings by check, verdicts, bytes on disk."""
        ...

    def verify(self, told: Told | None = None) -> list[str]:
        """Read everything and check every invariant: one sentence for each problem found."""
        ...

    def compact(self) -> None:
        """Give back the room of what counts no more.

        That is: ended pages, all but the newest verdict on a page, all but a spider's newest rewrite of a URL, and
        what the processes of a run agreed on.

        Raises:
            OSError: Others use the index, so that this cannot be done now.
        """
        ...

    def close(self) -> None:
        """Flush and release. Further calls fail."""
        ...
