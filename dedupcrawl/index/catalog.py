"""Catalog: all postings of an index as one process sees them, segments and tail, and when the tail is folded."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress

import msgspec

from dedupcrawl.content.checks.base import Keys
from dedupcrawl.core.main_outline import READ_LAST
from dedupcrawl.core.postings import Postings, Tail, mark, post
from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.record import Raw, Record, signatures, unpack
from dedupcrawl.index.schema import Schema, url_key
from dedupcrawl.index.segment import Ended, Segment, Table, merge_from

logger = logging.getLogger(__name__)


Fetch = Callable[[int], Record]
"""The record of an id; raises IndexDamagedError when there is none."""

_VIEWS = 64  # most searches have the same few


class Batch:
    """Postings of up to `batch_pages` consecutive records.

    Batches start at multiples of `batch_pages` in every process, so a segment that another process made always ends
    where a batch ends.

    Attributes:
        first, end: Id of its first record, and after its last one.
        tails: The postings, by table.
    """

    __slots__ = ("end", "first", "tails")

    def __init__(self, first: int, payload_bits: Sequence[int]) -> None:
        self.first = self.end = first
        self.tails = list(map(Tail, payload_bits))

    def add(self, keys: Sequence[Keys]) -> None:
        post(self.tails, keys, self.end)
        self.end += 1

    def fold(self) -> Segment:
        return Segment(self.first, self.end, tuple(tail.table() for tail in self.tails))


class Fold(msgspec.Struct, frozen=True):
    """What is to become one segment, of the records first … end - 1: full batches and the newest segments."""

    first: int
    end: int
    stay: int  # how many of the older segments stay as they are
    sources: tuple[Segment | Batch, ...]
    left_out: list[Ended]  # for each table of the schema

    def parts(self) -> list[list[Table]]:
        """For each table of the schema the sorted tables that are merged."""
        return tables_of([one if isinstance(one, Segment) else one.fold() for one in self.sources])


def tables_of(segments: Sequence[Segment]) -> list[list[Table]]:
    return [list(tables) for tables in zip(*(segment.tables for segment in segments), strict=True)]


class Catalog:
    """The postings of the records first … next_id - 1; those of an index begin with 0.

    Attributes:
        segments: Oldest first, without a gap.
        batches: The tail: what comes after the segments, the last one still growing.
        at_hand: The records that were read or added last, of pages that have not ended as far as this process knows.
        views: What `view` has made of these segments and batches.
    """

    def __init__(self, schema: Schema, first: int = 0) -> None:
        self.schema = schema
        self.segments: list[Segment] = []
        self.batches: list[Batch] = []
        self.at_hand: dict[int, Record] = {}
        self.views: dict[tuple[int, int], Postings] = {}
        self.next_id = first
        self._thread: threading.Thread | None = None

    def add(self, keys: Sequence[Keys]) -> int:
        """Post the next record under these keys, by table; returns its id."""
        page = self.next_id
        if not self.batches or page % self.schema.batch_pages == 0:
            self.batches.append(Batch(page, self.schema.payload_bits))
            self.views.clear()
        self.batches[-1].add(keys)
        self.next_id = page + 1
        for ended in keys[self.schema.ended]:
            self.at_hand.pop(ended, None)
        return page

    def remember(self, page: int, record: Record) -> Record:
        """Have the record of a page at hand, in the place of that which came first."""
        if record.page is not None:
            while len(self.at_hand) >= READ_LAST:
                del self.at_hand[next(iter(self.at_hand))]
            self.at_hand[page] = record
        return record

    def unpack(self, raw: Raw, page: int) -> Record:
        """The record of these bytes, at hand from now on; an IndexDamagedError where they are none."""
        return self.remember(page, unpack(raw, page))

    def undamaged(self, raw: Raw, page: int) -> Record | None:
        """The same, or None; what reads them again says where the damage is."""
        with suppress(IndexDamagedError):
            return self.unpack(raw, page)
        return None

    @staticmethod
    def copied(raw: Raw, page: int) -> tuple[bytes, tuple[bytes | None, ...]]:
        """A packed record, for later, and its signatures."""
        return bytes(raw), signatures(raw, page)

    def set_segments(self, segments: Sequence[Segment]) -> None:
        """Take other segments over the same records; the batches that they cover are dropped.

        They must end where a batch ends. If they end after `next_id`, the tail is empty and goes on after them.
        """
        self.segments = list(segments)
        end = self.segments[-1].end if self.segments else 0
        if end > self.next_id:
            self.at_hand.clear()  # what ended the pages between is not known
        self.views.clear()
        self.batches = [batch for batch in self.batches if batch.first >= end]
        self.next_id = max(self.next_id, end)

    def view(self, table: int, first_id: int = 0) -> Postings:
        """One table, without the segments and batches whose pages all lie below `first_id`, as they are now."""
        view = self.views.get((table, first_id))
        return self._viewed(table, first_id) if view is None else view

    def _viewed(self, table: int, first_id: int) -> Postings:
        parts = [part.tables[table] for part in self.segments if part.end > first_id and part.tables[table][0]]
        last = self.batches[-1:]
        tails = [one.tails[table] for one in self.batches if one.end > first_id or one in last]
        if len(self.views) >= _VIEWS:
            self.views.clear()
        view = self.views[table, first_id] = Postings(parts, tails, self.schema.payload_bits[table])
        return view

    def ids(self, table: int, key: int) -> list[int]:
        """Pages posted under exactly this key in one of the index's own tables, ascending."""
        return sorted(self.view(table).pages_of(key))

    def ids_of(self, url: str) -> list[int]:
        return self.ids(self.schema.urls, url_key(url))

    def newest(self, url: str, fetch: Fetch) -> tuple[int, Record] | None:
        """Id and record of the page that is kept under this URL, if any is."""
        for page in reversed(self.ids_of(url)):
            record = fetch(page)
            if record.page is not None and record.page.url == url:
                return page, record
        return None

    def superseding(self, url: str, fetch: Fetch) -> str | None:
        """URL of the newest kept page that came after the page kept under `url`, by any reading of it, and holds it."""
        page = self.newest(url, fetch)
        if page is None:
            return None
        readings, inside, larger = [page[0]], set(page[1].inside), set[int]()
        for reading in readings:
            larger.update(self.ids(self.schema.inside, reading))
            readings += inside.intersection(fetch(reading).ended)
        for holder in sorted(larger, reverse=True):
            kept = fetch(holder).page
            if kept is not None and kept.url != url:
                return kept.url
        return None

    def ended(self) -> Ended:
        """A flag a record: whether it is no kept page any more."""
        table, flags = self.schema.ended, bytearray(self.next_id)
        for segment in self.segments:
            mark(flags, segment.tables[table][0])
        for batch in self.batches:
            mark(flags, batch.tails[table].table()[0])
        return bytes(flags)

    def info(self) -> dict[str, int | str]:
        """Pages, and postings by check where they are known: without its checks an index cannot post its tail."""
        schema = self.schema
        ended = self.ended().count(1)
        listed = enumerate(schema.names) if schema.checks or not self.batches else ()
        return {
            "pages": self.next_id - ended,
            "ended": ended,
            "segments": len(self.segments),
            "checks": ", ".join(schema.names),
            **{f"postings/{name}": self.postings(table) for table, name in listed},
            "postings/url": self.postings(schema.urls),
        }

    def postings(self, table: int) -> int:
        """How many postings a table has, those of ended pages that no merge has met yet included."""
        in_segments = sum(len(segment.tables[table][0]) for segment in self.segments)
        return in_segments + sum(len(batch.tails[table]) for batch in self.batches)

    @property
    def has_full_batch(self) -> bool:
        return bool(self.batches) and self.next_id - self.batches[0].first >= self.schema.batch_pages

    def fold(self) -> Fold | None:
        """What is due to become a segment; None while no batch is full, or when there are no checks to post it."""
        most = self.schema.batch_pages
        if not self.has_full_batch or not self.schema.checks:
            return None
        full = [batch for batch in self.batches if batch.end - batch.first == most]
        stay = merge_from([segment.pages for segment in self.segments], full[-1].end - full[0].first, most)
        return self._folded(stay, full)

    def whole(self) -> Fold | None:
        """All segments as one, without their ended pages; None when there is none."""
        return self._folded(0, []) if self.segments else None

    def fold_beside(self, merge: Callable[[Fold], None]) -> bool:
        """Have what is due merged in a thread; False where one is at it already, or nothing is due.

        A merge that fails is logged: what it was to fold stays searchable in the tail. The interpreter waits for it.
        """
        fold = None if self._thread is not None and self._thread.is_alive() else self.fold()
        if fold is not None:
            self._thread = threading.Thread(target=_merge_in_thread, args=(merge, fold), name="dedupcrawl-index")
            self._thread.start()
        return fold is not None

    def wait(self) -> None:
        """Return when nothing is being merged; locks that a merge takes must be free."""
        if self._thread is not None:
            self._thread.join()

    def take(self, fold: Fold, segment: Segment) -> None:
        """Search the segment that a fold has become in the place of what it was made of."""
        self.set_segments([*self.segments[: fold.stay], segment])

    def _folded(self, stay: int, batches: Sequence[Batch]) -> Fold:
        sources: tuple[Segment | Batch, ...] = (*self.segments[stay:], *batches)
        first, end = sources[0].first, sources[-1].end
        ended = self.ended()
        out = ended if any(ended[first:end]) else b""
        # What an ended record had ended itself stays known.
        left_out = [b"" if table == self.schema.ended else out for table in range(len(self.schema.payload_bits))]
        return Fold(first, end, stay, sources, left_out)


def _merge_in_thread(merge: Callable[[Fold], None], fold: Fold) -> None:
    try:
        merge(fold)
    except (OSError, IndexDamagedError) as error:
        logger.error("%s: %s", _NOT_FOLDED, error)
    except Exception:
        logger.exception(_NOT_FOLDED)


_NOT_FOLDED = "Folding new pages into the index failed; they stay in memory and it is tried again"
