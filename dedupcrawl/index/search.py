"""The search that every index shares: candidates by check, compared on their signatures, for a detector to decide."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import InitVar, dataclass
from threading import RLock
from typing import NamedTuple, Protocol, TypeVar

from dedupcrawl.content.checks.base import Check
from dedupcrawl.core.postings import Postings
from dedupcrawl.index.catalog import Catalog
from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.record import Entry, Premise, Raw, Record, record_of, signatures
from dedupcrawl.index.schema import url_key

COMPARED_LIMIT = 1000  # newest candidates of one check that are compared

Fetch = Callable[[int], Record]
"""The record of an id; raises IndexDamagedError when there is none."""
Row = tuple[float, int]
"""How similar a check finds a page, and its id."""
Made = TypeVar("Made")


class Reading(Protocol):
    """Reads records of a catalog."""

    def __call__(self, make: Callable[[Raw, int], Made], pages: Sequence[int], /) -> list[Made]:
        """What `make` makes of each of these packed records, as they are now."""


class Candidate(NamedTuple):
    """A kept page that a check brings up."""

    page_id: int
    entry: Entry  # without its signatures
    similarity: float  # by the check


@dataclass(eq=False)
class Search:
    """What an index knows that may concern a new page, as of one moment; the index may be used meanwhile.

    A page that the new one updates is no candidate. Candidates are read when they are needed, so a caller that stops
    early reads no more.

    Args:
        catalog: Where to look.
        first_id: Pages below are no candidates.
        lock: Held while the catalog is looked at.
        read: Reads its records.
        checks: As of `Index.search`.
        after: A search for the same page whose candidates are not brought up again, and whose findings stand; without
            effect when it was in another catalog.

    Attributes:
        end: All pages below this number were looked at.
        superseded: Id → URL of the kept pages for which the new one stands: those inside it, and poorer copies.
    """

    catalog: Catalog
    entry: Entry
    first_id: int
    lock: RLock
    read: Reading
    checks: InitVar[Sequence[Check]]
    after: InitVar[Search | None]

    def __post_init__(self, checks: Sequence[Check], after: Search | None) -> None:
        earlier = after if after is not None and after.catalog is self.catalog else None
        self.end = self.catalog.next_id
        self.superseded: dict[int, str] = earlier.superseded if earlier else {}
        if earlier:
            self.first_id = max(self.first_id, earlier.end)
        self._signatures = self.catalog.schema.signatures(self.entry, checks)
        # What was read of pages; several checks bring up the same one.
        self._kept: dict[int, Sequence[bytes | None]] = {}
        self._raw: dict[int, bytes] = {}
        self._entries: dict[int, Entry | None] = {}

    def similar(self) -> Iterator[tuple[str, Iterator[Candidate]]]:
        """Check by check, in their order, what it accepts: most similar first, among equals the nearest by all checks.

        A candidate costs its signature and one `compare`, and of these there is a limit.
        """
        for slot, check, own in self._signatures:
            pages = self._pages(slot, check.candidates, own)
            if pages:
                yield check.name, self._in_turn(self._accepted(slot, check, own, pages))

    def inside(self) -> Iterator[tuple[str, Iterator[Candidate]]]:
        """Check by check kept pages that by its signatures lie inside the new one, oldest first; none of its URL."""
        for slot, check, own in self._signatures:
            if type(check).contained is Check.contained:
                continue  # it is symmetric
            pages = self._pages(slot, check.contained, own)
            if pages and self.superseded:
                pages = [page for page in pages if page not in self.superseded]
            if pages:
                theirs = zip(pages, self._signatures_at(slot, pages), strict=True)
                inside = [
                    (1.0, page) for page, kept in theirs if kept is not None and check.compare(kept, own) is not None
                ]
                yield check.name, (one for one in self._in_turn(inside) if one.entry.url != self.entry.url)

    def kept(self) -> Entry | None:
        """The page that is kept under the same URL, without its signatures."""
        with self.lock:
            kept = newest(self.catalog, self.entry.url, self._record)
            return None if kept is None else kept[1].page

    def is_outdated(self, by: Catalog) -> bool:
        """Whether a page there that was not looked at may change what was found."""
        if by.next_id <= self.end:
            return False
        later = by.ids(by.schema.urls, url_key(self.entry.url))
        for slot, check, own in self._signatures:
            postings = by.view(slot, self.end)
            later += check.candidates(own, postings)
            later += check.contained(own, postings)
        return any(page >= self.end for page in later)

    @property
    def superseded_urls(self) -> tuple[str, ...]:
        """The URLs of `superseded`, oldest page first."""
        return tuple([url for _, url in sorted(self.superseded.items())])

    def _pages(self, slot: int, look_up: Callable[[bytes, Postings], list[int]], own: bytes) -> list[int]:
        """The newest pages that a check brings up, ascending."""
        with self.lock:
            candidates = look_up(own, self.catalog.view(slot, self.first_id))
        if not candidates:
            return candidates
        pages = sorted(set(candidates))
        first, end = bisect_left(pages, self.first_id), bisect_left(pages, self.end)
        return pages[max(first, end - COMPARED_LIMIT) : end]

    def _accepted(self, slot: int, check: Check, own: bytes, pages: list[int]) -> list[Row]:
        """The pages that `check` accepts: most similar first, then by the distance of all signatures, then oldest.

        All the pages of one template may be as similar; a duplicate is among the nearest of them.
        """
        theirs = zip(pages, self._signatures_at(slot, pages), strict=True)
        compared = [(None if kept is None else check.compare(own, kept), page) for page, kept in theirs]
        accepted = [(similarity, page) for similarity, page in compared if similarity is not None]
        if len(accepted) > 1:
            similarities = [similarity for similarity, _ in accepted]
            alike = Counter(similarities) if len(set(similarities)) < len(accepted) else {}
            accepted.sort(key=lambda one: (-one[0], alike.get(one[0], 1) > 1 and self._dissimilarity(one[1]), one[1]))
        return accepted

    def _signatures_at(self, slot: int, pages: list[int]) -> list[bytes | None]:
        """What each of these pages has in this slot, which a damaged record may lack."""
        at_hand = self.catalog.at_hand
        for page in pages:
            if page not in self._kept and (record := at_hand.get(page)) is not None:
                self._kept[page] = record.signatures
        if missing := [page for page in pages if page not in self._kept]:
            for page, (raw, made) in zip(missing, self.read(_copied, missing), strict=True):
                self._raw[page], self._kept[page] = raw, made
        return [kept[slot] if slot < len(kept := self._kept[page]) else None for page in pages]

    def _dissimilarity(self, page: int) -> float:
        """The distance of all signatures of a page that was read."""
        kept, total = self._kept[page], 0.0
        for slot, check, own in self._signatures:
            theirs = kept[slot] if slot < len(kept) else None
            total += 1.0 if theirs is None else check.dissimilarity(own, theirs)
        return total

    def _record(self, page: int) -> Record:
        if (record := self.catalog.at_hand.get(page)) is not None:
            return record
        with suppress(IndexDamagedError), self.lock:  # what is read again says where the damage is
            if page in self._raw and self.catalog.next_id == self.end:  # else it may have ended since it was read
                return self.catalog.unpack(self._raw[page], page)
        return self.read(self.catalog.unpack, (page,))[0]

    def _in_turn(self, rows: Iterable[Row]) -> Iterator[Candidate]:
        """Those that are still kept, and of which the new page is no update."""
        for similarity, page in rows:
            if page not in self._entries:
                kept = self._record(page).page
                self._entries[page] = None if kept is None or self.entry.updates(kept) else kept
            if (entry := self._entries[page]) is not None:
                yield Candidate(page, entry, similarity)


def _copied(raw: Raw, page: int) -> tuple[bytes, tuple[bytes | None, ...]]:
    """A packed record, for later, and its signatures."""
    return bytes(raw), signatures(raw, page)


def row_of(search: Search, replaces: int | None) -> Record:
    """What to append to the journal for a page that is not a duplicate, and `replaces` that of the same URL."""
    ended = () if replaces is None else (replaces,)
    return record_of(search.entry, search.catalog.schema.names, ended, tuple(sorted(search.superseded)))


def newest(catalog: Catalog, url: str, fetch: Fetch) -> tuple[int, Record] | None:
    """Id and record of the page that is kept under this URL, if any is."""
    for page in reversed(catalog.ids(catalog.schema.urls, url_key(url))):
        record = fetch(page)
        if record.page is not None and record.page.url == url:
            return page, record
    return None


def is_kept_for(premise: Premise, page: tuple[int, Record] | None) -> bool:
    """Whether the newest page of a premise's URL is the one that is meant."""
    return page is not None and page[1].page is not None and page[1].page.kept_at == premise.kept_at


def superseding(catalog: Catalog, url: str, fetch: Fetch) -> str | None:
    """URL of the newest kept page that came after the page kept under `url`, by any reading of that, and holds it."""
    page = newest(catalog, url, fetch)
    if page is None:
        return None
    readings, inside, larger = [page[0]], set(page[1].inside), set[int]()
    for reading in readings:
        larger.update(catalog.ids(catalog.schema.inside, reading))
        readings += inside.intersection(fetch(reading).ended)
    for holder in sorted(larger, reverse=True):
        kept = fetch(holder).page
        if kept is not None and kept.url != url:
            return kept.url
    return None
