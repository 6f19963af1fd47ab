"""Kept pages: how an index searches them, and keeps, drops and ends some. Written once for all stores.

Every process has the pages at hand, with postings of its own (`index.segment_store`). What it knows of them is as old
as its last look. So whatever follows from that is done on condition that nothing has come since that could change it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from dedupcrawl.content.checks.base import Check
from dedupcrawl.core.digests import Secret
from dedupcrawl.core.search import Search
from dedupcrawl.index.catalog import Catalog, Fetch
from dedupcrawl.index.journal import FAILS
from dedupcrawl.index.ledger import Lessee
from dedupcrawl.index.record import Entry, Premise, Raw, Record, Skip, entry_of, plain, storable, unpack
from dedupcrawl.index.segment_store import SegmentStore
from dedupcrawl.index.steps import Kept, Plan, Step, carried_out, fallen, forgotten, renewed
from dedupcrawl.index.tables import Item, Tables, in_turn

Done = tuple[int, Record | None, list[Skip]]
"""The number under which a record was appended, that record, and what is due."""


class PageStore(Tables):
    """Kept pages and their signatures.

    Attributes:
        pages_at_once: How many pages it pays to search for before the first of them is added: one where the index is
            at hand, more where each question is a round trip.
        leases: What this process answers for.
    """

    pages_at_once: int
    leases: Lessee
    _store: SegmentStore

    @property
    def secret(self) -> Secret:
        """What keys the signatures of its pages, of whichever process.

        It is made with the index. Where a server has lost an index and another process has made it anew, it is another
        one from the next call on.
        """
        return self._catalog.schema.secret

    def search(
        self, entry: Entry, *, checks: Sequence[Check] = (), first_id: int = 0, after: Search | None = None
    ) -> Search:
        """What may concern a new page: candidates for a detector to decide about.

        Args:
            entry: The page.
            checks: Who is asked, in this order, with their own thresholds; none: those that the index was opened with.
            first_id: Pages below are no candidates.
            after: An earlier search for the same page, which this one goes on with: it brings up what came since.

        Raises:
            ValueError: The index was opened to be read, or the entry has a signature of an unknown check.
        """
        with self.lock:
            self._refresh(fresh=False)
            catalog, read, entry = self._store.catalog, partial(self._made, self._store), storable(entry)
            signed = catalog.schema.signatures(entry, checks)
            return Search(catalog, entry, first_id, self.lock, read, signed, Check.contained, after)

    def carry_out(self, steps: Sequence[Step]) -> list[Kept | bool | None]:
        """Keep and drop pages as was decided, all in one atomic step, in an index on a server with one round trip.

        Of a page to be kept Kept, or None where what came since the search, or a page before it, added or not, may
        change what was found. Then who asks has to search on, after this search, and decide anew. So of two equal pages
        that two processes find unique at the same time exactly one is kept. A page of the same URL is replaced, and
        those in `Search.superseded` are remembered as those for which this one stands. Where this process has leases
        (see `start_leasing`) that the page is stored is an open premise, and the page a skip of itself where there is
        one. Once this returns Kept the page survives a kill of the process; after an IndexAwayError it may have been
        kept.

        Of a page to be dropped whether its keeper is still kept as it was: else that is no reason to drop anything.
        While that the keeper is stored is an open premise, the skip is remembered.

        Raises:
            ValueError: The index was opened to be read.
        """
        answers: list[Kept | bool | None] = []
        with self.lock:
            all_done = self._commit(partial(carried_out, steps, self.leases.owner))
        for step, done in zip(steps, all_done, strict=True):
            if step.found is None or done is None:
                answers.append(None if step.found else done is not None)
            else:
                answers.append(Kept(done[0], step.found.superseded_urls, replaces=_has_ended(done)))
        return answers

    @in_turn
    def renew(self, entry: Entry) -> bool:
        """Put another reading of a page in the place of that which is kept, in one atomic step.

        Nothing is done, and False returned, unless this process has kept the page under this URL, at the same moment in
        the same run: it may have been forgotten, or fetched again since. Leases and skips stay as they are.
        """
        return self._commit(partial(renewed, storable(entry)))[0] is not None

    @in_turn
    def entry(self, url: str, *, fresh: bool = True) -> Entry | None:
        """The newest kept page of this URL.

        What other machines did within the last second need not count unless it is to be `fresh`: no server is asked.
        """
        with self._pages(fresh=fresh) as fetch:
            kept = self._catalog.newest(plain(url), fetch)
            return None if kept is None else entry_of(kept[1], self._catalog.schema.names)

    def page_at(self, url: str, canonical: str, *, fresh: bool = True) -> Entry | None:
        """The newest page fetched from this very URL, fragment aside, that is kept under it or its canonical form."""
        found = (self.entry(known, fresh=fresh) for known in {url, canonical})
        of_it = (one for one in found if one is not None and one.source.partition("#")[0] == url.partition("#")[0])
        return max(of_it, key=lambda one: one.kept_at, default=None)

    def entries(self) -> Iterator[Entry]:
        """All kept pages, oldest first, replaced ones left out; those that are added meanwhile may be missing."""
        for page, raw in self._store.journal.rows(0, self._look()):
            record = unpack(raw, page)
            if record.page is not None:
                yield entry_of(record, self._catalog.schema.names)

    @in_turn
    def superseded_by(self, url: str) -> str | None:
        """URL of the newest kept page that came after the page kept under `url` and holds it, by any check."""
        with self._pages() as fetch:
            return self._catalog.superseding(plain(url), fetch)

    def forget(self, urls: Iterable[str]) -> int:
        """Erase the pages kept under these URLs, so that nothing is their duplicate any more; how many there were.

        What is attached to these URLs goes too, whether a page was kept there or not.
        """
        self._look()
        return sum(self._forget(plain(url)) for url in urls)

    @in_turn
    def _forget(self, url: str) -> bool:
        return _has_ended(self._commit(partial(forgotten, url))[0])

    @in_turn
    def _fall(self, premise: Premise, owner: bytes = b"") -> tuple[bool, list[Skip]]:
        """Whether a page is forgotten because a premise, on which `owner` has a lease, falls, and what is due then."""
        (done,) = self._commit(partial(fallen, premise, owner))
        return _has_ended(done), done[2] if done else []

    @in_turn
    def _look(self) -> int:
        """Catch up with the other processes; returns the id of the next page."""
        self._refresh(fresh=True)
        return self._catalog.next_id

    @property
    def _catalog(self) -> Catalog:
        """The postings, as this process knows them."""
        return self._store.catalog

    @contextmanager
    def _pages(self, *, fresh: bool = True) -> Iterator[Fetch]:
        """What reads the records of the catalog, as both are now, or need not be quite; within a turn."""
        self._refresh(fresh=fresh)
        with self._store.snapshot() as txn:
            yield self._store.records(txn)

    def _made(self, store: SegmentStore, make: Callable[[Raw, int], Item], pages: Sequence[int]) -> list[Item]:
        """What a search reads, in the store in which it has searched: no server is asked."""
        with self.lock:
            self.check_open()
            try:
                with store.journal.reading() as txn:
                    fetch = store.journal.fetch(txn)
                    return [make(fetch(page), page) for page in pages]
            except FAILS as error:
                store.journal.explain(error)

    # What a store does, within a turn

    @abstractmethod
    def _refresh(self, *, fresh: bool) -> None:
        """Take over what other processes have done, within the last second too where it is to be `fresh`."""

    @abstractmethod
    def _commit(self, plan: Plan) -> list[Done | None]:
        """Write what is planned, in one atomic step, on what is known then to be all that there is.

        Of several changes none may ask for an owner's lease. None in the place of what is not planned, or not done.
        """


def _has_ended(done: Done | None) -> bool:
    return done is not None and done[1] is not None and bool(done[1].ended)
