"""The contract of an index: it keeps accepted pages and finds similar ones, in one atomic step a page.

Each part is a class of its own, so that a caller that needs one does not ask for a whole index. It is written once:
over tables of cells (`index.tables`), what every index remembers besides pages (`index.notes`), and what a store does
for pages. Every call may raise ValueError after `close`, IndexDamagedError when what is stored cannot be read, and
OSError when it cannot be read or written at all; IndexAwayError says that a server cannot be reached.

What a process knows of the pages, its catalog, is as old as its last look. So whatever follows from that is done on
condition that nothing has come since that could change it: optimistic concurrency control. A local store looks again
within its transaction; a server is told what was known.

Other pages may be dropped because of a kept page before its own item has reached any storage. The ledger
(`index.ledger`) says what becomes of these.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import NamedTuple

import msgspec

from dedupcrawl.content.checks.base import Check
from dedupcrawl.core.digests import Secret
from dedupcrawl.index.catalog import Catalog
from dedupcrawl.index.ledger import Lessee, due_cell, key_of, lease_cell, read_lease, skip_cell
from dedupcrawl.index.notes import Attachments, RewriteLog, SiteStates, VerdictLog
from dedupcrawl.index.record import (
    Entry,
    Premise,
    Raw,
    Skip,
    digest,
    entry_of,
    plain,
    storable,
    unpack,
    unpack_skip,
)
from dedupcrawl.index.search import Ending, Fetch, Search, newest, superseding
from dedupcrawl.index.tables import Cell, Tables, in_turn, parts


class Kept(msgspec.Struct, frozen=True):
    """The page was added."""

    page_id: int
    supersedes: tuple[str, ...] = ()  # URLs of kept pages for which it stands
    replaces: bool = False  # whether it took the place of a kept page of the same URL


class Offer(NamedTuple):
    """A page that is to be added."""

    found: Search  # what was found for it
    request: bytes  # what to ask for to fetch it again; empty: it need not be


class Drop(NamedTuple):
    """A page that is to be dropped because of another."""

    keeper: Premise  # that it is stored
    skip: Skip
    verdict: Cell | None = None  # to be recorded once it is dropped


class PageStore(Tables):
    """Kept pages and their signatures.

    Attributes:
        pages_at_once: How many pages it pays to search for before the first of them is added: one where the index is
            at hand, more where each question is a round trip.
    """

    pages_at_once: int

    @property
    def secret(self) -> Secret:
        """What keys the signatures of its pages, of whichever process.

        It is made with the index. Where a server has lost an index and another process has made it anew, it is another
        one from the next call on.
        """
        return self._catalog.schema.secret

    @abstractmethod
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

    def renew(self, entry: Entry) -> bool:
        """Put another reading of a page in the place of that which is kept, in one atomic step.

        Nothing is done, and False returned, unless this process has kept the page under this URL, at the same moment in
        the same run: it may have been forgotten, or fetched again since. Leases and skips stay as they are.
        """
        entry = storable(entry)
        return self._end(Ending(entry.url, renewed=entry))[0]  # what this process kept, it knows

    @in_turn
    def entry(self, url: str, *, fresh: bool = True) -> Entry | None:
        """The newest kept page of this URL.

        What other machines did within the last second need not count unless it is to be `fresh`: no server is asked.
        """
        with self._pages(fresh=fresh) as (catalog, fetch):
            kept = newest(catalog, plain(url), fetch)
            return None if kept is None else entry_of(kept[1], catalog.schema.names)

    def page_at(self, url: str, canonical: str, *, fresh: bool = True) -> Entry | None:
        """The newest page fetched from this very URL, fragment aside, that is kept under it or its canonical form."""
        found = (self.entry(known, fresh=fresh) for known in {url, canonical})
        of_it = (one for one in found if one is not None and one.source.partition("#")[0] == url.partition("#")[0])
        return max(of_it, key=lambda one: one.kept_at, default=None)

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
        self._look()
        return sum(self._end(Ending(plain(url)))[0] for url in urls)

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
    def _end(self, ending: Ending) -> tuple[bool, list[Skip]]:
        """End a page, as it was known at the last look or is known since, in one atomic step.

        What ended it is appended, and a tombstone takes its place.

        Returns:
            Whether there was such a page, and what is due.
        """


class Ledger(PageStore):
    """Pages that a process keeps and has not stored yet, and what was dropped because of them (see `index.ledger`)."""

    leases: Lessee

    @in_turn
    def start_leasing(self) -> str:
        """From now on this process has a lease on what it keeps, until that is stored; returns its name as a lessee."""
        return self.leases.start()

    @abstractmethod
    def carry_out(self, decided: Sequence[Offer | Drop]) -> list[Kept | bool | None]:
        """Keep and drop pages as was decided, each in one atomic step, in an index on a server with one round trip.

        Of an offer Kept, or None where what came since the search, or a page before it, added or not, may change what
        was found. Then who asks has to search on, after this search, and decide anew. So of two equal pages that two
        processes find unique at the same time exactly one is kept. A page of the same URL is replaced, and those in
        `Search.superseded` are remembered as those for which this one stands. Where this process has leases (see
        `start_leasing`) that the page is stored is an open premise, and the page a skip of itself where its request
        says what to ask for. Once this returns Kept the page survives a kill of the process; after an IndexAwayError
        it may have been kept.

        Of a drop whether its keeper is still kept as it was: else that is no reason to drop anything. While that the
        keeper is stored is an open premise, the skip is remembered; and in any case the verdict, if one is given.

        Raises:
            ValueError: The index was opened to be read.
        """

    def is_open(self, premise: Premise) -> bool:
        """Whether a process has a lease on it: the page is kept, and not known to be stored."""
        lease = lease_cell(premise)
        return self.values(lease.table, [lease.field]) != [None]

    def hold(self, premises: Iterable[Premise]) -> None:
        """These pages are stored: others may be dropped as their duplicates from now on; only own leases end."""
        stored = list(premises)
        for some in parts(stored) if self.leases.owner else ():
            leases = [lease_cell(premise, self.leases.owner) for premise in some]
            while there := self._hold(leases):
                leases = [lease for lease, value in zip(leases, there, strict=True) if lease.value == value]
        with self.lock:
            self.leases.give_up(stored)

    def _hold(self, leases: list[Cell]) -> list[bytes | None] | None:
        """In one step with the leases, so that no skip can be added in between."""
        skips = zip(leases, self.groups("skips", [lease.field for lease in leases]), strict=True)
        gone = [Cell("skips", lease.field, field) for lease, fields in skips for field in fields]
        return self.change([*(lease._replace(value=None) for lease in leases), *gone], leases)

    def fall(self, premises: Iterable[Premise]) -> list[Skip]:
        """These pages will never be stored: forget them; what was skipped for them is due, and returned."""
        lost = list(premises)
        self._look()
        due = [skip for premise in lost for skip in self._end(Ending(premise.url, premise=premise))[1]]
        with self.lock:
            self.leases.give_up(lost)
        return due

    @in_turn
    def expire(self, excluded: Collection[str] = ()) -> int:
        """The premises fall on which processes have leases that are no more.

        Lessees that are `excluded`, by name, are not looked at yet. Returns how many pages were forgotten.
        """
        self._look()
        dead = self.leases.dead(excluded)
        leases = [read_lease(field, raw) for field, raw in self.rows("leases")] if dead else []
        fallen = ((owner, premise) for owner, premise in leases if owner.hex() in dead)
        ended = [self._end(Ending(premise.url, premise=premise, owner=owner))[0] for owner, premise in fallen]
        self.leases.purge(dead)
        return sum(ended)

    def make_due(self, skips: Iterable[Skip]) -> None:
        """Their spiders ask for these at their next start."""
        self.change([due_cell(skip) for skip in skips])

    def due(self, spider: str) -> list[Skip]:
        """What is to be fetched again by this spider, because what stood for it was never stored."""
        return [self._due(key, raw) for key, raw in self.rows("due", digest(spider))]

    def _due(self, key: bytes, raw: bytes) -> Skip:
        """A row of what is due."""
        return self._read(partial(unpack_skip, key=key), raw)

    def take(self, due: Iterable[Skip]) -> list[Skip]:
        """Of what is due that which this process is to ask for; who shares the index with others may get it all.

        It stays due until it is released. In an index of several machines each skip is given to one lessee, and once;
        when that ends and it still is due, to another.
        """
        return list(due)

    def release(self, skip: Skip, premise: Premise | None) -> None:
        """What was due was fetched again and judged; it is due again if the premise falls that it was kept for."""
        gone = due_cell(skip)._replace(value=None)
        if premise is not None:
            lease = lease_cell(premise)
            (leased,) = self.values(lease.table, [lease.field])
            while leased is not None:
                there = self.change([gone, skip_cell(premise, skip)], [lease._replace(value=leased)])
                if there is None:
                    return
                (leased,) = there
        self.change([gone])

    def forget_skips(self, is_meant: Callable[[str], bool]) -> int:
        """Pages are not to be fetched again whose URLs are meant; how many skips were removed.

        What was skipped for a page that is meant and not stored yet is due.
        """
        leases = (read_lease(key, raw)[1] for key, raw in self.rows("leases"))
        self.fall([premise for premise in leases if is_meant(premise.url)])
        gone = [skip for key, raw in self.rows("due") if is_meant((skip := self._due(key, raw)).url)]
        hanging = (cell for cell in self.cells("skips") if is_meant(unpack_skip(cell.value or b"", cell.field).url))
        return self.remove(map(due_cell, gone)) + self.remove(hanging)

    def broken(self) -> Iterator[str]:
        """Where the invariant of the ledger does not hold, in words; others may use the index meanwhile."""
        for key, raw in self.rows("leases"):
            read_lease(key, raw)
        for key, raw in self.rows("due"):
            self._due(key, raw)
        for some in parts(self.cells("skips")):
            leases = self.values("leases", [cell.group for cell in some])
            for cell, lease in zip(some, leases, strict=True):
                skip = unpack_skip(cell.value or b"", cell.field)
                url = skip.premise.url if skip.premise is not None else "nothing"
                if skip.premise is None or key_of(skip.premise) != cell.group:
                    yield f"{skip.url} is skipped for {url}, but hangs on another page"
                elif lease is None and self.groups("skips", [cell.group]) != [{}]:  # it may have come to hold
                    yield f"{skip.url} is skipped for {url}, which is not stored, and nobody answers for that"


FIRST_ID = "first"
"""Of the state of a run: the id of the page that comes next when it begins."""

Told = Callable[[int, int], None]
"""Called with how many records are done, and how many there are."""


class Index(Ledger, VerdictLog, RewriteLog, SiteStates, Attachments):
    """All of it. Safe for several processes on one index."""

    def first_id_of_run(self, run: str) -> int:
        """A page id that no page of `run` lies below; registers the run when it is new."""
        end = b"%d" % self._look()
        return int(self.update_site_state(run, FIRST_ID, lambda known: known or end))

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
