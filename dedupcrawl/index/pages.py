"""Kept pages, over what a store does for them: reading what there is, and ending or adding pages in one step.

What a process knows of the pages, its catalog, is as old as its last look. So whatever follows from that is done on
condition that nothing has come since that could change it: optimistic concurrency control. A store that is at hand
looks again within its transaction; a server is told what was known.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from dedupcrawl.index.catalog import Catalog
from dedupcrawl.index.record import Raw, entry_of, plain, storable, unpack
from dedupcrawl.index.rows import Dependent, Entry
from dedupcrawl.index.search import Ending, Fetch, Search, newest, superseding
from dedupcrawl.index.tables import Tables, in_turn


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


class PageStore(Tables):
    """Kept pages and their signatures.

    Attributes:
        pages_at_once: How many pages it pays to search for before the first of them is added: one where the index is
            at hand, more where each question is a round trip.
    """

    pages_at_once: int

    @abstractmethod
    def search(self, entry: Entry, *, first_id: int = 0, after: Search | None = None) -> Search:
        """What there is that may concern a new page: candidates for a detector to decide about.

        Args:
            entry: The page.
            first_id: Pages below are no candidates.
            after: An earlier search for the same page, which this one goes on with: it brings up what came since.

        Raises:
            ValueError: The index was opened to be read, or the entry has a signature of an unknown check.
        """

    def add(self, found: Search, *, request: bytes = b"") -> Kept | None:
        """Keep the page that was searched for, in one atomic step; None if what came since may change what was found.

        Then who asks has to search on, after this search, and decide anew. So of two equal pages that two processes
        find unique at the same time exactly one is kept. A page of the same URL is replaced, and those in
        `found.superseded` are remembered to lie inside this one.

        A page that this process claims (see `start_claiming`) depends on itself where `request` says what to ask for:
        should the claim die, it is an orphan like those that were dropped because of it.

        Once this returns Kept the page survives a kill of the process; after an IndexAwayError it may have been kept.

        Raises:
            ValueError: The index was opened to be read.
        """
        return self.add_all([(found, request)])[0]

    @abstractmethod
    def add_all(self, offers: Sequence[tuple[Search, bytes]]) -> list[Kept | None]:
        """As `add` of each, with what its request is, in their order; in an index on a server with one round trip.

        Each page is atomic, not all of them together. One that a page before it may concern, whether that was added or
        not, is not added either.
        """

    def renew(self, entry: Entry) -> bool:
        """Put another reading of a page in the place of that which is kept, in one atomic step.

        Nothing is done, and False returned, unless the page kept under this URL was kept at the same moment in the same
        run: it may have been forgotten, or fetched again since. Claims, and what depends on them, stay as they are.
        """
        entry, ended = storable(entry), list[str]()
        self._end_all([Ending(entry.url, renewed=entry)], ended, [])
        return bool(ended)

    @in_turn
    def entry(self, url: str, *, fresh: bool = True) -> Entry | None:
        """The newest kept page of this URL.

        What other machines did within the last second need not count unless it is to be `fresh`: no server is asked.
        """
        with self._pages(fresh=fresh) as (catalog, fetch):
            page = newest(catalog, plain(url), fetch)
            return None if page is None else entry_of(unpack(fetch(page), page), catalog.schema.names)

    def entries(self) -> Iterator[Entry]:
        """All kept pages, oldest first, replaced ones left out; those that are added meanwhile may be missing."""
        for page, raw in self._rows(self._look()):
            record = unpack(raw, page)
            if record.page is not None:
                yield entry_of(record, self._catalog.schema.names)

    @in_turn
    def superseded_by(self, url: str) -> str | None:
        """URL of the newest kept page that came after the page kept under `url` and holds it, by any check."""
        with self._pages() as (catalog, fetch):
            return superseding(catalog, plain(url), fetch)

    def forget(self, urls: Iterable[str]) -> int:
        """Erase the pages kept under these URLs, so that nothing is their duplicate any more; how many there were.

        What is attached to these URLs goes too, whether a page was kept there or not.
        """
        ended: list[str] = []
        self._end_all([Ending(plain(url)) for url in urls], ended, [])
        return len(set(ended))

    @in_turn
    def _end_all(self, endings: Collection[Ending], ended: list[str], orphaned: list[Dependent]) -> None:
        """End pages; what ended and what is orphaned is added to the lists, which stay when this is begun anew."""
        self._look()
        for ending in endings:
            was_kept, dependents = self._end(ending)
            ended += [ending.url] if was_kept else []
            orphaned += dependents

    # What a store does

    @property
    @abstractmethod
    def _catalog(self) -> Catalog:
        """The postings, as this process knows them."""

    @abstractmethod
    def _look(self) -> int:
        """Catch up with the other processes; returns the id of the next page."""

    @abstractmethod
    def _pages(self, *, fresh: bool = True) -> AbstractContextManager[tuple[Catalog, Fetch]]:
        """The catalog, and what reads its records, as they are now, or need not be quite; within a turn."""

    @abstractmethod
    def _rows(self, end: int) -> Iterator[tuple[int, Raw]]:
        """(id, packed record) of all records below `end`."""

    @abstractmethod
    def _end(self, ending: Ending) -> tuple[bool, list[Dependent]]:
        """End a page in one atomic step: append why, and put a tombstone in its place; within a turn.

        Returns:
            Whether there was such a page, and what is orphaned.
        """
