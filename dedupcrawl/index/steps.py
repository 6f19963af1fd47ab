"""Steps: what a page asks of an index, and what is therefore written, by what the process knows at that moment.

Functions here only plan. A store carries a plan out on condition that nothing has come since that the process does not
know, and asks for a new plan where something has: optimistic concurrency control (Kung and Robinson 1981).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import msgspec
from msgspec import structs

from dedupcrawl.content.checks.base import Keys
from dedupcrawl.core.search import Search
from dedupcrawl.index.catalog import Catalog, Fetch
from dedupcrawl.index.ledger import key_of, lease_cell, skip_cell
from dedupcrawl.index.record import Entry, Premise, Record, Skip, digest, forgetting, record_of
from dedupcrawl.index.tables import Cell


class Step(msgspec.Struct, frozen=True, gc=False):
    """A page that is to be kept, or to be dropped because of another."""

    premise: Premise  # that it is stored, or the page because of which it is dropped
    skip: Skip | None  # what depends on that: itself. None: it need not be fetched again
    found: Search | None = None  # for a page that is to be kept; None: it is to be dropped
    cells: tuple[Cell, ...] = ()  # set with that, such as the verdict


class Kept(msgspec.Struct, frozen=True):
    """The page was added."""

    page_id: int
    supersedes: tuple[str, ...] = ()  # URLs of kept pages for which it stands
    replaces: bool = False  # whether it took the place of a kept page of the same URL


class Change(msgspec.Struct, frozen=True, gc=False):
    """What is written for a page, all of it or nothing."""

    record: Record | None = None  # appended; tombstones take the places of the pages that it ends
    keys: Sequence[Keys] = ()  # under which it is posted
    cells: Sequence[Cell] = ()  # set
    skip: Cell | None = None  # set as long as its premise is open
    fallen: bytes = b""  # the key of a premise: its lease goes, and what hung on it is due
    owner: bytes = b""  # whose lease that must be, or nothing is done; empty: anybody's
    detached: bytes = b""  # the digest of a URL: what is attached to it goes


Plan = Callable[[Catalog, Fetch], Sequence[Change | None]]
"""What is to be written, as of now; None for what is not to be done. It may be called several times."""


def carried_out(steps: Sequence[Step], owner: bytes, catalog: Catalog, fetch: Fetch) -> list[Change | None]:
    """How pages are kept and dropped by a process with leases, or, where `owner` is empty, by one without.

    A page is not kept where what came since the search, or a page before it, kept or not, may change what was found;
    nor dropped where its keeper is not kept any more as it was.
    """
    before = Catalog(catalog.schema, catalog.next_id) if len(steps) > 1 else None  # the steps before
    ended: list[int] = []
    planned = []
    for step in steps:
        found, change = step.found, None
        if found is None:
            change = _dropped(step, ended, catalog, fetch)
        elif found.catalog is catalog and (catalog.next_id == found.end or not found.is_outdated(catalog)):
            change = _kept(step, found, owner, catalog, fetch)
        if before is not None and found is not None:
            keys = change.keys if change else catalog.schema.keys(_row_of(found, None))
            change = None if found.is_outdated(before) else change
            before.add(keys)
            ended += change.record.ended if change and change.record else ()
        planned.append(change)
    return planned


def _row_of(search: Search, replaces: int | None) -> Record:
    """What to append to the journal for a page that is not a duplicate, and `replaces` that of the same URL."""
    ended = () if replaces is None else (replaces,)
    inside = tuple(sorted(search.superseded)) if search.superseded else ()
    return record_of(search.entry, search.catalog.schema.names, ended, inside)


def _is_kept_for(premise: Premise, page: tuple[int, Record] | None) -> bool:
    """Whether the newest page of a premise's URL is the one that is meant."""
    return page is not None and page[1].page is not None and page[1].page.kept_at == premise.kept_at


def _kept(step: Step, found: Search, owner: bytes, catalog: Catalog, fetch: Fetch) -> Change:
    replaced = catalog.newest(found.entry.url, fetch)
    record = _row_of(found, replaced and replaced[0])
    cells = step.cells
    if owner:
        cells = (*cells, lease_cell(step.premise, owner))
        if step.skip is not None:
            cells = (*cells, skip_cell(step.premise, step.skip))
    return Change(record, catalog.schema.keys(record), cells)


def _dropped(step: Step, ended: Collection[int], catalog: Catalog, fetch: Fetch) -> Change | None:
    keeper = catalog.newest(step.premise.url, fetch)
    if keeper is None or keeper[0] in ended or not _is_kept_for(step.premise, keeper):
        return None
    hanging = None if step.skip is None else skip_cell(step.premise, step.skip)
    return Change(cells=step.cells, skip=hanging)


def forgotten(url: str, catalog: Catalog, fetch: Fetch) -> list[Change]:
    """How the page that is kept under a URL is forgotten, with all that is attached to the URL."""
    found = catalog.newest(url, fetch)
    return [_ended(Change(detached=digest(url)), found and found[0], catalog)]


def fallen(premise: Premise, owner: bytes, catalog: Catalog, fetch: Fetch) -> list[Change]:
    """How a premise falls, if `owner` has a lease on it: only the page that is kept since that moment is forgotten."""
    found, change = catalog.newest(premise.url, fetch), Change(fallen=key_of(premise), owner=owner)
    if found is None or not _is_kept_for(premise, found):
        return [change]
    return [_ended(structs.replace(change, detached=digest(premise.url)), found[0], catalog)]


def renewed(entry: Entry, catalog: Catalog, fetch: Fetch) -> list[Change | None]:
    """How another reading takes the place of a page, if that is kept since the same moment of the same run.

    A page that a record both ends and has inside itself is an earlier reading of it.
    """
    found = catalog.newest(entry.url, fetch)
    kept = found and found[1].page
    if found is None or kept is None or (kept.kept_at, kept.run) != (entry.kept_at, entry.run):
        return [None]
    record = record_of(entry, catalog.schema.names, (found[0],), (*found[1].inside, found[0]))
    return [Change(record, catalog.schema.keys(record))]


def _ended(change: Change, page: int | None, catalog: Catalog) -> Change:
    if page is None:
        return change
    record = forgetting(page, catalog.next_id, len(catalog.schema.names))
    return structs.replace(change, record=record, keys=catalog.schema.keys(record))
