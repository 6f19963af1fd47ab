"""The search that every index shares: candidates by check, compared on their signatures, for a detector to decide."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from dedupcrawl.core.candidates import Candidates
from dedupcrawl.index.catalog import Catalog
from dedupcrawl.index.record import Entry, Premise, Record, record_of
from dedupcrawl.index.schema import url_key

COMPARED_LIMIT = 1000  # newest candidates of one check that are compared

Fetch = Callable[[int], Record]
"""The record of an id; raises IndexDamagedError when there is none."""

Candidate: TypeAlias = "tuple[int, Entry, float]"
"""The id of a kept page that a check brings up, its entry without signatures, and how similar the check finds it."""


class Search(Candidates):
    """What an index knows that may concern a new page, as of one moment; the index may be used meanwhile."""

    __slots__ = ()

    def kept(self) -> Entry | None:
        """The page that is kept under the same URL, without its signatures."""
        with self.lock:
            kept = newest(self.catalog, self.entry.url, self.record)
            return None if kept is None else kept[1].page

    def is_outdated(self, by: Catalog) -> bool:
        """Whether a page there that was not looked at may change what was found."""
        if by.next_id <= self.end:
            return False
        later = by.ids(by.schema.urls, url_key(self.entry.url))
        for slot, check, own in self.signed:
            postings = by.view(slot, self.end)
            later += check.candidates(own, postings)
            later += check.contained(own, postings)
        return any(page >= self.end for page in later)

    @property
    def superseded_urls(self) -> tuple[str, ...]:
        """The URLs of `superseded`, oldest page first."""
        return tuple([url for _, url in sorted(self.superseded.items())]) if self.superseded else ()


def row_of(search: Search, replaces: int | None) -> Record:
    """What to append to the journal for a page that is not a duplicate, and `replaces` that of the same URL."""
    ended = () if replaces is None else (replaces,)
    inside = tuple(sorted(search.superseded)) if search.superseded else ()
    return record_of(search.entry, search.catalog.schema.names, ended, inside)


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
