"""The contract of an index: keep what was accepted, find what is alike, in one atomic step a page.

Each part is a class of its own, so that who needs one does not ask for an index, and is written once: over tables of
cells (`index.tables`), what every index remembers besides pages (`index.notes`), and what a store does for pages. Of
every call: ValueError after `close`, IndexDamagedError when what is stored cannot be read, OSError when it cannot be
read or written at all, of which IndexAwayError says that a server cannot be reached.

What a process knows of the pages, its catalog, is as old as its last look. So whatever follows from that is done on
condition that nothing has come since that could change it: optimistic concurrency control. A store that is at hand
looks again within its transaction; a server is told what was known.

A page that an index keeps may cost others their place in the output before its own item has reached any storage. So
who keeps it claims it, and confirms it once it is stored. What is dropped because of a claimed page depends on it, and
so does the page itself where nobody else will ask for it again. When the claimant dies first, its claims die with it:
the pages are forgotten, and what depended on them is orphaned, to be fetched again. A crash may cost a duplicate, never
a page.
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
from dedupcrawl.index.claims import Claimant, claim_cell, dependent_cell, read_claim
from dedupcrawl.index.notes import Attachments, RewriteLog, SiteStates, VerdictLog, orphan_cell
from dedupcrawl.index.record import (
    Dependent,
    Entry,
    Raw,
    digest,
    entry_of,
    plain,
    storable,
    unpack,
    unpack_dependent,
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

    keeper: str  # URL under which that is kept
    dependent: Dependent


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

        Nothing is done, and False returned, unless the page kept under this URL was kept at the same moment in the same
        run: it may have been forgotten, or fetched again since. Claims, and what depends on them, stay as they are.
        """
        entry = storable(entry)
        self._look()
        return self._end(Ending(entry.url, renewed=entry))[0]

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

    def first_id_of_run(self, run: str) -> int:
        """A page id that no page of `run` lies below; registers the run when it is new."""
        cell = Cell("runs", b"", digest(run), b"%d" % self._look())
        there = self.change([cell], [cell._replace(value=None)])
        return int((there or [cell.value])[0] or 0)

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
    def _end(self, ending: Ending) -> tuple[bool, list[Dependent]]:
        """End a page, as it was known at the last look or is known since, in one atomic step.

        What ended it is appended, and a tombstone takes its place.

        Returns:
            Whether there was such a page, and what is orphaned.
        """


class ClaimLedger(PageStore):
    """Pages that a process keeps and has not stored yet, and what was dropped because of them."""

    claims: Claimant

    @in_turn
    def start_claiming(self) -> str:
        """From now on this process claims what it keeps, until it confirms it; returns its name as a claimant."""
        return self.claims.start()

    def confirm(self, urls: Iterable[str]) -> None:
        """The pages kept under these URLs are stored: they may justify drops forever."""
        stored = list(map(plain, urls))
        for some in parts(stored) if self.claims.owner else ():
            claims = [claim_cell(url, self.claims.owner) for url in some]
            while there := self._confirm(claims):
                claims = [claim for claim, value in zip(claims, there, strict=True) if claim.value == value]
        with self.lock:
            self.claims.give_up(stored)

    def _confirm(self, claims: list[Cell]) -> list[bytes | None] | None:
        """In one step with the claims: who claims a page anew may have dependents of its own at once."""
        dependents = self.groups("dependents", [claim.field for claim in claims])
        pairs = zip(claims, dependents, strict=True)
        gone = [Cell("dependents", claim.field, field) for claim, fields in pairs for field in fields]
        return self.change([*(claim._replace(value=None) for claim in claims), *gone], claims)

    def abandon(self, urls: Iterable[str]) -> list[Dependent]:
        """The pages kept under these URLs will never be stored: forget them, and orphan what depends on them.

        Returns what was orphaned.
        """
        abandoned = list(map(plain, urls))
        self._look()
        orphaned = [dependent for url in abandoned for dependent in self._end(Ending(url, owner=b""))[1]]
        with self.lock:
            self.claims.give_up(abandoned)
        return orphaned

    @abstractmethod
    def carry_out(self, decided: Sequence[Offer | Drop]) -> list[Kept | bool | None]:
        """Keep and drop pages as was decided, each in one atomic step, in an index on a server with one round trip.

        Of an offer Kept, or None where what came since the search, or a page before it, added or not, may change what
        was found. Then who asks has to search on, after this search, and decide anew. So of two equal pages that two
        processes find unique at the same time exactly one is kept. A page of the same URL is replaced, and those in
        `Search.superseded` are remembered as those for which this one stands. A page that this process claims (see
        `start_claiming`) depends on itself where its request says what to ask for: should the claim die, it is an
        orphan like those that were dropped because of it. Once this returns Kept the page survives a kill of the
        process; after an IndexAwayError it may have been kept.

        Of a drop whether its keeper is still kept: else that is no reason to drop anything. While the keeper is
        claimed, the dependent is remembered.

        Raises:
            ValueError: The index was opened to be read.
        """

    @in_turn
    def reap_expired(self, excluded: Collection[str] = ()) -> int:
        """Forget the pages that processes claim which are no more, and orphan what was dropped because of them.

        Claimants that are `excluded`, by name, are not looked at yet. Returns how many pages were forgotten.
        """
        self._look()
        dead = self.claims.dead(excluded)
        claims = [read_claim(field, raw) for field, raw in self.rows("claims")] if dead else []
        ended = [self._end(Ending(url, owner=owner))[0] for owner, url in claims if owner.hex() in dead]
        self.claims.bury(dead)
        return sum(ended)

    def orphans(self, spider: str) -> list[Dependent]:
        """What is to be fetched again by this spider, because what it was dropped for was never stored."""
        found = self.rows("orphans", digest(spider))
        return [self._read(partial(unpack_dependent, key=key), raw) for key, raw in found]

    def take(self, orphans: Iterable[Dependent]) -> list[Dependent]:
        """Of these orphans those that this process is to ask for; who shares the index with others may get them all.

        They stay orphans until they are adopted. In an index of several machines each is given to one claimant, and
        once; when that ends and it still is one, to another.
        """
        return list(orphans)

    def adopt(self, orphan: Dependent, kept_under: str | None) -> None:
        """An orphan was fetched again and judged; it is one again if the claim dies under which it was kept."""
        gone = orphan_cell(orphan)._replace(value=None)
        if kept_under is None or not self._depends(plain(kept_under), orphan, gone):
            self.change([gone])

    def _depends(self, keeper: str, dependent: Dependent, *cells: Cell) -> bool:
        """Remember a dependent, and change other cells in the same step, if the page under `keeper` is claimed."""
        claim = claim_cell(keeper)
        (claimed,) = self.values(claim.table, [claim.field])
        while claimed is not None:
            there = self.change([*cells, dependent_cell(keeper, dependent)], [claim._replace(value=claimed)])
            if there is None:
                return True
            (claimed,) = there
        return False


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
