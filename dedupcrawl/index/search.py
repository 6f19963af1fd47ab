"""The search that every index shares: candidates by check, compared on their signatures, judged on the whole entry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content.checks.base import Check, Keys, PageIds, Postings
from dedupcrawl.index.catalog import Catalog
from dedupcrawl.index.contract import Counts, Holds, Judge
from dedupcrawl.index.record import Raw, Record, entry_of, record_of, signatures, unpack
from dedupcrawl.index.rows import Entry
from dedupcrawl.index.schema import url_key
from dedupcrawl.verdict import Verdict

COMPARED_LIMIT = 1000  # newest candidates of one check that are compared
JUDGED_LIMIT = 8  # best of those it accepts that are judged; short excerpts of several pages are alike to all of them

Fetch = Callable[[int], Raw]
"""The packed record of an id; raises IndexDamagedError when there is none."""


class New(msgspec.Struct, frozen=True, gc=False):
    """No duplicate was found.

    Attributes:
        replaces: Id of the page of the same URL, if there is one.
        inside: Id → URL of the kept pages that lie inside the new one.
    """

    replaces: int | None
    inside: dict[int, str]

    def record(self, entry: Entry, catalog: Catalog) -> Record:
        """What to append to the journal."""
        ended = () if self.replaces is None else (self.replaces,)
        return record_of(entry, catalog.schema.names, ended, tuple(self.inside))


class Question(msgspec.Struct, frozen=True, gc=False):
    """A page that is offered, and who is asked about its candidates.

    Attributes:
        entry: The new page.
        judge: Says whether an accepted candidate makes it a duplicate.
        holds: Says whether a page that seems to lie inside does; None when that need not be asked.
        counts: Says whether a candidate may be either; None when all may.
    """

    entry: Entry
    judge: Judge
    holds: Holds | None
    counts: Counts | None


def examine(catalog: Catalog, question: Question, first_id: int, fetch: Fetch) -> Verdict | New:
    """All that is to be found out about a page before it is kept.

    Args:
        catalog: Where to look.
        question: The page.
        first_id: Pages below are neither its keepers nor inside it; the page of the same URL may be.
        fetch: Reads records.
    """
    views: dict[int, Remembering] = {}
    verdict = _find_duplicate(catalog, question, first_id, fetch, views)
    if verdict is not None:
        return verdict
    return New(newest(catalog, question.entry.url, fetch), _find_inside(catalog, question, first_id, fetch, views))


class Remembering:
    """Postings that are not asked twice for the same: duplicates and what lies inside may be found by the same keys."""

    __slots__ = ("_counts", "_found", "_view")

    def __init__(self, view: Postings) -> None:
        self._view = view
        self._counts: dict[bytes, NDArray[np.int64]] = {}
        self._found: dict[bytes, tuple[Keys, PageIds]] = {}

    def count(self, prefixes: Keys) -> NDArray[np.int64]:
        """As in content.checks.base.Postings; not to be written to."""
        key = prefixes.tobytes()
        counts = self._counts.get(key)
        if counts is None:
            counts = self._counts[key] = self._view.count(prefixes)
        return counts

    def find(self, prefixes: Keys) -> tuple[Keys, PageIds]:
        """As in content.checks.base.Postings; not to be written to."""
        key = prefixes.tobytes()
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._view.find(prefixes)
        return found

    def pieces(self, prefixes: Keys) -> list[tuple[Keys, PageIds]]:
        """As in content.checks.base.Postings; not remembered."""
        return self._view.pieces(prefixes)


def _find_duplicate(
    catalog: Catalog, question: Question, first_id: int, fetch: Fetch, views: dict[int, Remembering]
) -> Verdict | None:
    """The first verdict on `entry`, checks in their order, candidates as `_accepted` orders them.

    A candidate costs its signature and one `compare`; only those it accepts are decoded and judged. Both are limited,
    so a site that serves any number of pages made to look alike costs bounded time; at worst a duplicate is kept.
    `views` gets the postings that were asked, by slot: those of all checks where there is no verdict.
    """
    made = catalog.schema.signatures(question.entry)
    for slot, check, own in made:
        view = views[slot] = Remembering(catalog.view(slot, first_id))
        candidates = check.candidates(own, view)
        if not candidates.size:
            continue
        judged = 0
        for page in _accepted(check, slot, made, _ascending(candidates, first_id), fetch):
            candidate = _candidate(question, check.name, page, fetch, catalog.schema.names, inside=False)
            if candidate is None:
                continue
            verdict = question.judge(check.name, candidate)
            if verdict is not None:
                return verdict
            judged += 1
            if judged == JUDGED_LIMIT:
                break
    return None


def _accepted(
    check: Check, slot: int, made: Sequence[tuple[int, Check, bytes]], pages: list[int], fetch: Fetch
) -> list[int]:
    """The pages that `check` accepts: most similar first, then by the distance of all signatures, then oldest.

    All the pages of one template may be as similar; a duplicate is among the nearest of them.
    """
    own = next(signature for other, _, signature in made if other == slot)
    accepted: list[tuple[float, int, Sequence[bytes | None]]] = []
    for page in pages:
        kept = signatures(fetch(page), page)
        theirs = kept[slot] if slot < len(kept) else None
        similarity = None if theirs is None else check.compare(own, theirs)
        if similarity is not None:
            accepted.append((-similarity, page, kept))
    if len(accepted) == 1:
        return [accepted[0][1]]
    alike = Counter(far for far, _, _ in accepted)
    return [
        page
        for _, _, page in sorted(
            (far, _dissimilarity(made, kept) if alike[far] > 1 else 0.0, page) for far, page, kept in accepted
        )
    ]


def _dissimilarity(made: Sequence[tuple[int, Check, bytes]], kept: Sequence[bytes | None]) -> float:
    total = 0.0
    for slot, check, own in made:
        theirs = kept[slot] if slot < len(kept) else None
        total += 1.0 if theirs is None else check.dissimilarity(own, theirs)
    return total


def _find_inside(
    catalog: Catalog, question: Question, first_id: int, fetch: Fetch, views: Mapping[int, Remembering]
) -> dict[int, str]:
    """Kept pages that lie inside a new one by any check: id → URL, oldest first.

    Limited like the search for duplicates; at worst a page is not told to be superseded.
    """
    schema = catalog.schema
    inside: dict[int, str] = {}
    for slot, check, made in schema.signatures(question.entry):
        candidates = check.contained(made, views[slot])
        if not candidates.size:
            continue
        judged = 0
        for page in _ascending(candidates, first_id):
            if page in inside:
                continue
            theirs = signatures(fetch(page), page)
            kept = theirs[slot] if slot < len(theirs) else None
            if kept is None or check.compare(kept, made) is None:
                continue
            candidate = _candidate(question, check.name, page, fetch, schema.names, inside=True)
            if candidate is None:
                continue
            if question.holds is None or question.holds(check.name, candidate):
                inside[page] = candidate.source
            else:
                judged += 1
                if judged == JUDGED_LIMIT:
                    break
    return dict(sorted(inside.items()))


def newest(catalog: Catalog, url: str, fetch: Fetch) -> int | None:
    """Id of the page that is kept under this URL."""
    for page in reversed(catalog.ids(catalog.schema.urls, url_key(url))):
        record = unpack(fetch(page), page)
        if record.page is not None and record.page.url == url:
            return page
    return None


def renewal(catalog: Catalog, entry: Entry, fetch: Fetch) -> tuple[int, Record] | None:
    """Id of the page that `entry` is another reading of, and what to append in its place; None where it is not kept."""
    page = newest(catalog, entry.url, fetch)
    if page is None:
        return None
    record = unpack(fetch(page), page)
    kept = record.page
    if kept is None or (kept.kept_at, kept.run) != (entry.kept_at, entry.run):
        return None
    return page, record_of(entry, catalog.schema.names, (page,), record.inside)


def superseding(catalog: Catalog, url: str, fetch: Fetch) -> str | None:
    """URL of the newest kept page that came after the page kept under `url` and holds it."""
    page = newest(catalog, url, fetch)
    if page is not None:
        for larger in reversed(catalog.ids(catalog.schema.inside, page)):
            record = unpack(fetch(larger), larger)
            if record.page is not None:
                return record.page.url
    return None


def _ascending(candidates: PageIds, first_id: int) -> list[int]:
    pages = sorted(set(candidates.tolist()))
    return [page for page in pages if page >= first_id][-COMPARED_LIMIT:]


def _candidate(
    question: Question, check: str, page: int, fetch: Fetch, names: tuple[str, ...], *, inside: bool
) -> Entry | None:
    """The kept page of this id, unless it is ended, the same URL's, or does not count."""
    record = unpack(fetch(page), page)
    if record.page is None or record.page.url == question.entry.url:
        return None
    kept = entry_of(record, names)
    return kept if question.counts is None or question.counts(check, kept, inside) else None
