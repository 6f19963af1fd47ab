"""LmdbIndex: an index in a folder, for any number of processes, that survives a kill at any moment."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path

import lmdb
import msgspec

from dedupcrawl.content.checks.base import Check, Keys
from dedupcrawl.index.claims import dependent_cell
from dedupcrawl.index.contract import Kept, Told
from dedupcrawl.index.errors import IndexDamagedError, IndexMismatchError
from dedupcrawl.index.journal import FIRST_MAP_BYTES, Journal, Transaction, explained
from dedupcrawl.index.lmdb_claims import Claims
from dedupcrawl.index.lmdb_notes import LmdbNotes
from dedupcrawl.index.record import digest, entry_of, pack, plain, storable, unpack
from dedupcrawl.index.rows import Dependent, Entry
from dedupcrawl.index.schema import BATCH_PAGES, Header, Schema, check_header, header_of, read_header
from dedupcrawl.index.search import Ending, Fetch, Search, forgotten, newest, renewal, row_of, superseding
from dedupcrawl.index.segment_store import SegmentStore, segment_files
from dedupcrawl.index.turns import in_turn
from dedupcrawl.index.verify import problems

_HEADER = b"header"


def open_header(journal: Journal, path: Path, checks: Sequence[Check], batch_pages: int) -> Header:
    """The header that is stored; that of a new index is made first.

    Args:
        journal: Of the index.
        path: Its folder.
        checks: By which a new index is made, and which one that is there must agree with.
        batch_pages: Of a new index.

    Raises:
        IndexDamagedError: There are pages, but no header.
        IndexMismatchError: The index was made by other checks or settings.
    """

    def work(txn: Transaction) -> bytes | None:
        stored = journal.get_meta(txn, _HEADER)
        if stored is None and checks and not journal.count(txn) and not any(segment_files(path)):
            stored = msgspec.msgpack.encode(header_of(checks, batch_pages))
            journal.put_meta(txn, _HEADER, stored)
        return stored

    stored = journal.writing(work)
    if stored is None:
        raise IndexDamagedError(f"the index at {path} has no header: delete that folder, or bring back a copy")
    header = read_header(stored, str(path))
    check_header(header, checks, str(path))
    return header


class LmdbIndex(LmdbNotes):
    """The contract Index over a journal in LMDB and segment files beside it.

    A page is searched for without a lock and then appended in one short write transaction, which first looks at what
    other processes have appended since. A kill of the process loses nothing that was acknowledged; a power cut may
    damage the folder unless `close` came first. Threads of a process take turns; a forked child must open its own.

    Args:
        path: The folder; made when it is missing.
        checks: The content checks, in the order in which they are asked. None: the index is opened to be read.
        batch_pages: Pages in memory before they are folded; an index keeps what it was made with.
        map_bytes: Address space to start with.

    Raises:
        IndexMismatchError: The index was made by other checks or settings.
        IndexDamagedError: The journal is damaged. Damaged segments are made again, with a warning.
        OSError: The folder cannot be made, read or written, or is open in this process already.
    """

    pages_at_once = 1

    def __init__(
        self, path: Path, checks: Sequence[Check], *, batch_pages: int = BATCH_PAGES, map_bytes: int = FIRST_MAP_BYTES
    ) -> None:
        self._closed = False
        self._users = 1
        with ExitStack() as opened:
            journal = opened.enter_context(closing(Journal(path, create=bool(checks), map_bytes=map_bytes)))
            super().__init__(path, journal, opened.enter_context(closing(Claims(journal))))
            try:
                header = self._header = open_header(journal, path, checks, batch_pages)
                schema = Schema(header, checks)
                self._store = opened.enter_context(closing(SegmentStore(journal, schema, header.batch_pages)))
            except (IndexDamagedError, lmdb.Error) as error:
                raise explained(error, path) from None
            self._catalog = self._store.catalog
            self._look()
            opened.pop_all()

    @in_turn
    def _look(self) -> int:
        """Catch up with the other processes; returns the id of the next page."""
        with self._store.snapshot():
            return self._catalog.next_id

    @in_turn
    def search(self, entry: Entry, *, first_id: int = 0, after: Search | None = None) -> Search:
        self._look()
        return Search(self._catalog, storable(entry), first_id, self.lock, self._reading, after)

    @contextmanager
    def _reading(self) -> Iterator[Fetch]:
        with self.lock, self.explaining():
            self.check_open()
            with self.journal.reading() as txn:
                yield self.journal.fetch(txn)

    @in_turn
    def add(self, found: Search, *, request: bytes = b"") -> Kept | None:
        added = self.journal.writing(partial(self._add, found, request))
        if added is None:
            return None
        self._store.seen, keys, replaces = added
        kept = Kept(self._catalog.add_keys(keys), found.superseded_urls, replaces)
        self._store.fold()
        return kept

    def add_all(self, offers: Sequence[tuple[Search, bytes]]) -> list[Kept | None]:
        return [self.add(found, request=request) for found, request in offers]

    def _add(self, found: Search, request: bytes, txn: Transaction) -> tuple[int, list[Keys], bool] | None:
        self._store.catch_up(txn, txn.id() - 1)
        number = self._catalog.next_id
        if number != found.end:
            return None
        replaces = newest(self._catalog, found.entry.url, self.journal.fetch(txn))
        record = row_of(found, replaces)
        keys = self._catalog.schema.keys(record)
        self.journal.append(txn, number, pack(record, number))
        if replaces is not None:
            self.journal.put_tombstone(txn, replaces)
        if self.claims.owner:
            self.claims.claim(txn, found.entry, request)
        return txn.id(), keys, replaces is not None

    @in_turn
    def renew(self, entry: Entry) -> bool:
        renewed = self.journal.writing(partial(self._end, partial(renewal, storable(entry))))
        self._store.fold()
        return renewed

    @in_turn
    def forget(self, urls: Iterable[str]) -> int:
        return sum(self.journal.writing(partial(self._forget, plain(url))) for url in urls)

    def _forget(self, url: str, txn: Transaction) -> bool:
        self.journal.clear(txn, "attachments", digest(url))
        return self._end(partial(forgotten, url), txn)

    def _end(self, ending: Ending, txn: Transaction) -> bool:
        """Put a tombstone in the place of a page, and append why."""
        self._store.catch_up(txn, txn.id() - 1)
        found = ending(self._catalog, self.journal.fetch(txn))
        if found is None:
            return False
        page, record = found
        self.journal.append(txn, self._catalog.next_id, pack(record, self._catalog.next_id))
        self.journal.put_tombstone(txn, page)
        return True

    @in_turn
    def start_claiming(self) -> str:
        return self.claims.start()

    @in_turn
    def reap_expired(self, excluded: Collection[str] = ()) -> int:
        with self.journal.reading() as txn:
            dead = [claim for claim in self.claims.dead(txn) if claim[1].hex() not in excluded]
        forgotten = sum(self.journal.writing(partial(self._reap_claim, *claim)) for claim in dead)
        self.claims.remove_dead_owners(excluded)
        return forgotten

    def _reap_claim(self, url: str, owner: bytes, txn: Transaction) -> bool:
        """Forget a page that a dead process claimed, unless a living one has kept it again since."""
        is_dead = self.claims.owner_of(txn, url) == owner
        if is_dead:
            self._abandon(url, txn)
        return is_dead

    @in_turn
    def abandon(self, urls: Iterable[str]) -> list[Dependent]:
        return [orphan for url in urls for orphan in self.journal.writing(partial(self._abandon, plain(url)))]

    def _abandon(self, url: str, txn: Transaction) -> list[Dependent]:
        self._forget(url, txn)
        return self.claims.abandon(txn, url)

    @in_turn
    def depend(self, keeper: str, dependent: Dependent) -> bool:
        keeper = plain(keeper)
        with self._store.snapshot() as txn:
            if self.claims.owner_of(txn, keeper) is None:
                return newest(self._catalog, keeper, self.journal.fetch(txn)) is not None

        def work(txn: Transaction) -> bool:
            if self.claims.owner_of(txn, keeper) is not None:
                self.journal.set_cell(txn, dependent_cell(keeper, dependent))
                return True
            self._store.catch_up(txn, txn.id() - 1)
            return newest(self._catalog, keeper, self.journal.fetch(txn)) is not None

        return self.journal.writing(work)

    def depend_all(self, drops: Sequence[tuple[str, Dependent]]) -> list[bool]:
        return [self.depend(keeper, dependent) for keeper, dependent in drops]

    def take(self, orphans: Iterable[Dependent]) -> list[Dependent]:
        return list(orphans)

    @in_turn
    def entry(self, url: str, *, fresh: bool = True) -> Entry | None:
        with self._store.snapshot() as txn:
            fetch = self.journal.fetch(txn)
            page = newest(self._catalog, plain(url), fetch)
            return None if page is None else entry_of(unpack(fetch(page), page), self._catalog.schema.names)

    @in_turn
    def superseded_by(self, url: str) -> str | None:
        with self._store.snapshot() as txn:
            return superseding(self._catalog, plain(url), self.journal.fetch(txn))

    def entries(self) -> Iterator[Entry]:
        for page, raw in self.journal.rows(0, self._look()):
            record = unpack(raw, page)
            if record.page is not None:
                yield entry_of(record, self._catalog.schema.names)

    @in_turn
    def info(self) -> dict[str, int | float | str]:
        with self._store.snapshot() as txn:
            return {
                "index": f"lmdb:{self.path}",
                **self._catalog.info(),
                **self._notes_info(txn),
                "bytes": self.journal.data_bytes() + self._store.bytes_on_disk(),
            }

    def verify(self, told: Told | None = None) -> list[str]:
        self._store.wait()
        return self._verify(told)

    @in_turn
    def _verify(self, told: Told | None) -> list[str]:
        with self._store.locked():
            end = self._look()
            return self._store.problems() or problems(self._catalog, self.journal.rows(0, end), told)

    def compact(self) -> None:
        self._store.wait()
        self._compact()

    @in_turn
    def _compact(self) -> None:
        if self._users > 1:
            raise OSError(f"the index at {self.path} is in use by another crawl of this process")
        self.drop_older_verdicts()
        self.drop_older_rewrites()
        with self._store.locked():
            self._look()
            if fold := self._catalog.whole():
                self._store.merge(fold, self._store.manifest)
        self.journal.compact()
        self._store.seen = -1  # transactions are numbered anew
        self._look()

    def share(self, checks: Sequence[Check]) -> bool:
        """One more user of this object, who will close it too; False when it is closed already.

        Raises:
            IndexMismatchError: It was opened with other checks, thresholds, or in another order.
        """
        with self.journal.lock:
            if self._closed:
                return False
            schema = self._catalog.schema
            if checks or schema.checks:
                check_header(self._header, checks, str(self.path))
                if [check for _, check in schema.checks] != list(checks):
                    raise IndexMismatchError(f"{self.path} is in use in this process with other thresholds")
            self._users += 1
        return True

    def close(self) -> None:
        with self.journal.lock:
            self._users -= 1
            if self._users > 0:
                return
        self._store.wait()
        with self.journal.lock:
            if not self._closed:
                self._closed = True
                self.claims.close()
                self._store.close()
                self.journal.close(is_sound=True)
