"""MemoryIndex: an index that lives and ends with its process; the same searches over the same arrays, without files."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

import numpy as np

from dedupcrawl.content.checks.base import Check
from dedupcrawl.index.background import Background
from dedupcrawl.index.catalog import Catalog, Fold
from dedupcrawl.index.contract import Counts, Holds, Judge, Kept, Told
from dedupcrawl.index.memory_notes import MemoryNotes
from dedupcrawl.index.record import entry_of, forgetting, gravestone, pack, plain, storable, unpack
from dedupcrawl.index.rows import Dependent, Entry
from dedupcrawl.index.schema import BATCH_PAGES, Schema, header_of
from dedupcrawl.index.search import New, Question, examine, newest, renewal, superseding
from dedupcrawl.index.segment import NO_IDS, NO_KEYS, Dropped, Segment, Table, merge_tables
from dedupcrawl.index.verify import problems
from dedupcrawl.verdict import Verdict


class MemoryIndex(MemoryNotes):
    """The contract Index in memory.

    Args:
        checks: The content checks, in the order in which they are asked.
        batch_pages: Pages in dictionaries before they are folded into sorted arrays.
    """

    def __init__(self, checks: Sequence[Check], *, batch_pages: int = BATCH_PAGES) -> None:
        super().__init__()
        self._background = Background()
        self._catalog = Catalog(Schema(header_of(checks, batch_pages), checks), batch_pages)
        self._rows: list[bytes] = []
        self._runs: dict[str, int] = {}
        self._claiming = False
        self._claims: dict[str, dict[tuple[str, str], Dependent]] = {}  # URL of a page → what depends on it

    def offer(
        self,
        entry: Entry,
        judge: Judge,
        *,
        first_id: int = 0,
        holds: Holds | None = None,
        counts: Counts | None = None,
        request: bytes = b"",
    ) -> Kept | Verdict:
        """Check and add, atomically (see Index).

        Raises:
            ValueError: The index has no checks or is closed, or the entry has a signature of an unknown check.
        """
        with self._lock:
            self._usable()
            entry = storable(entry)
            question = Question(entry, judge, holds, counts)
            answer = examine(self._catalog, question, first_id, self._rows.__getitem__)
            if not isinstance(answer, New):
                return answer
            record = answer.record(entry, self._catalog)
            keys = self._catalog.schema.keys(record)
            self._rows.append(pack(record, self._catalog.next_id))
            if answer.replaces is not None:
                self._bury(answer.replaces)
            if self._claiming:
                claim = self._claims.setdefault(entry.url, {})
                if request:
                    claim[entry.spider, entry.source] = Dependent(entry.spider, entry.source, request)
            replaces = answer.replaces is not None
            kept = Kept(self._catalog.add_keys(keys), tuple(answer.inside.values()), replaces)
            self._fold()
            return kept

    def renew(self, entry: Entry) -> bool:
        """Put another reading of a page in the place of that which is kept (see Index)."""
        with self._lock:
            self._usable()
            found = renewal(self._catalog, storable(entry), self._rows.__getitem__)
            if found is None:
                return False
            page, record = found
            self._rows.append(pack(record, self._catalog.next_id))
            self._bury(page)
            self._catalog.add(record)
            self._fold()
            return True

    def forget(self, urls: Iterable[str]) -> int:
        """Erase the pages kept under these URLs, so that nothing is their duplicate any more; how many there were."""
        forgotten = 0
        with self._lock:
            self._usable()
            for url in urls:
                self._attachments.pop(plain(url), None)
                page = newest(self._catalog, plain(url), self._rows.__getitem__)
                if page is not None:
                    forgotten += 1
                    self._bury(page)
                    record = forgetting(page, self._catalog.next_id, len(self._catalog.schema.names))
                    self._rows.append(pack(record, self._catalog.next_id))
                    self._catalog.add(record)
        return forgotten

    def start_claiming(self) -> str:
        """From now on what is kept is claimed; no other process can have claims here."""
        with self._lock:
            self._usable()
            self._claiming = True
        return "this process"

    def bury_dead(self, spared: Collection[str] = ()) -> int:
        """Nobody dies before this index does."""
        with self._lock:
            self._usable()
        return 0

    def confirm(self, urls: Iterable[str]) -> None:
        """The pages kept under these URLs are stored."""
        with self._lock:
            self._usable()
            for url in urls:
                self._claims.pop(plain(url), None)

    def abandon(self, urls: Iterable[str]) -> list[Dependent]:
        """The pages kept under these URLs will never be stored."""
        with self._lock:
            plain_urls = [plain(url) for url in urls]
            self.forget(plain_urls)
            orphaned = [one for url in plain_urls for one in self._claims.pop(url, {}).values()]
            self.refetch(orphaned)
            return orphaned

    def depend(self, keeper: str, dependent: Dependent) -> bool:
        """`dependent` is dropped because of the page kept under `keeper`; False when there is none."""
        with self._lock:
            self._usable()
            claim = self._claims.get(plain(keeper))
            if claim is not None:
                claim[dependent.spider, dependent.url] = dependent
            return claim is not None or newest(self._catalog, plain(keeper), self._rows.__getitem__) is not None

    def orphans(self, spider: str) -> list[Dependent]:
        """What is to be fetched again by this spider."""
        with self._lock:
            self._usable()
            return [one for one in self._orphans.values() if one.spider == spider]

    def take(self, orphans: Iterable[Dependent]) -> list[Dependent]:
        """No other process can ask for them."""
        return list(orphans)

    def adopt(self, orphan: Dependent, kept_under: str | None) -> None:
        """An orphan was fetched again and judged."""
        with self._lock:
            self._usable()
            if kept_under is not None and plain(kept_under) in self._claims:
                self._claims[plain(kept_under)][orphan.spider, orphan.url] = orphan
            self._orphans.pop((orphan.spider, orphan.url), None)

    def entry(self, url: str) -> Entry | None:
        """The newest kept page of this URL."""
        with self._lock:
            self._usable()
            page = newest(self._catalog, plain(url), self._rows.__getitem__)
            return None if page is None else entry_of(unpack(self._rows[page], page), self._catalog.schema.names)

    def superseded_by(self, url: str) -> str | None:
        """URL of the newest kept page that came after the page kept under `url` and holds it, by any check."""
        with self._lock:
            self._usable()
            return superseding(self._catalog, plain(url), self._rows.__getitem__)

    def entries(self) -> Iterator[Entry]:
        """All kept pages, oldest first, replaced ones left out; those that are offered meanwhile may be missing."""
        self._usable()
        for page in range(len(self._rows)):
            record = unpack(self._rows[page], page)
            if record.page is not None:
                yield entry_of(record, self._catalog.schema.names)

    def first_id_of_run(self, run: str) -> int:
        """A page id that no page of `run` lies below; registers the run when it is new."""
        with self._lock:
            self._usable()
            return self._runs.setdefault(run, self._catalog.next_id)

    def info(self) -> dict[str, int | float | str]:
        """Pages, postings by check, verdicts, bytes."""
        with self._lock:
            self._usable()
            stored = sum(map(len, self._rows)) + self._notes_bytes()
            return {
                "index": "memory:",
                **self._catalog.info(),
                **self._notes_info(),
                "claimed": len(self._claims),
                "orphans": len(self._orphans),
                "bytes": stored
                + sum(keys.nbytes + ids.nbytes for s in self._catalog.segments for keys, ids in s.tables),
            }

    def verify(self, told: Told | None = None) -> list[str]:
        """Check every invariant; one sentence for each problem."""
        with self._lock:
            self._usable()
            return problems(self._catalog, enumerate(self._rows), told)

    def compact(self) -> None:
        """Give back the room of what counts no more (see Index)."""
        self._background.wait()
        with self._lock:
            self._usable()
            self._drop_older_verdicts()
            self._drop_older_rewrites()
            self._agreed.clear()
            if fold := self._catalog.whole():
                self._merge(fold)

    def close(self) -> None:
        """Release everything. Further calls fail."""
        self._background.wait()
        self._closed = True
        self._rows = []
        self._catalog.set_segments([])

    def _bury(self, page: int) -> None:
        self._rows[page] = gravestone(self._rows[page], page)

    def _fold(self) -> None:
        """Fold full batches, beside the caller."""
        fold = None if self._background.busy else self._catalog.fold()
        if fold is not None:
            self._background.start(lambda: self._merge(fold))

    def _merge(self, fold: Fold) -> None:
        tables = tuple(_joined(parts, out) for parts, out in zip(fold.parts(), fold.left_out(), strict=True))
        with self._lock:
            self._catalog.set_segments([*self._catalog.segments[: fold.stay], Segment(fold.first, fold.end, tables)])


def _joined(parts: Sequence[Table], out: Dropped | None) -> Table:
    pieces = list(merge_tables(parts, out)) or [(NO_KEYS, NO_IDS)]
    return np.concatenate([keys for keys, _ in pieces]), np.concatenate([ids for _, ids in pieces])
