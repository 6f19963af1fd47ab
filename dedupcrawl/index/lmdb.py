"""LmdbIndex: an index in a folder, for any number of processes, that survives a kill at any moment."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from itertools import takewhile
from pathlib import Path

import msgspec
from msgspec import structs

from dedupcrawl.content.checks.base import Check, Keys
from dedupcrawl.core.digests import Secret
from dedupcrawl.index.catalog import Catalog
from dedupcrawl.index.contract import Drop, Index, Kept, Offer, Told
from dedupcrawl.index.errors import IndexDamagedError, IndexMismatchError
from dedupcrawl.index.journal import FAILS, Journal
from dedupcrawl.index.ledger import due_cell, key_of, lease_cell, premise_of, read_lease, skip_cell
from dedupcrawl.index.lmdb_leases import LmdbLeases
from dedupcrawl.index.lmdb_tables import Transaction, with_prefix
from dedupcrawl.index.record import (
    DIGEST_BYTES,
    Entry,
    Premise,
    Raw,
    Record,
    Skip,
    digest,
    pack,
    storable,
    unpack_skip,
)
from dedupcrawl.index.schema import BATCH_PAGES, Schema, header_of, read_schema
from dedupcrawl.index.seal import check_seal
from dedupcrawl.index.search import Ending, Fetch, Search, is_kept_for, newest, row_of
from dedupcrawl.index.segment_store import SegmentStore, segment_files
from dedupcrawl.index.tables import BESIDE, COUNTED, OF_URL, Answer, Arguments, Cell, Item, in_turn
from dedupcrawl.index.verify import problems, table_problems

_HEADER = b"header"

Row = tuple[Record, list[Keys]]
"""A record, and the keys under which it is posted, by table."""


def _schema(journal: Journal, checks: Sequence[Check], batch_pages: int, secret: Secret | None) -> Schema:
    """What the header that is stored makes with the checks; that of a new index is made first."""

    def look(txn: Transaction) -> tuple[Schema, bytes | None]:
        """With the header that is to be stored, where it is another."""
        stored = made = journal.get(txn, "meta", _HEADER)
        if made is None and checks and not journal.count(txn) and not any(segment_files(journal.path)):
            made = msgspec.msgpack.encode(header_of(checks, batch_pages, secret))
        if made is None:
            raise IndexDamagedError(
                f"the index at {journal.path} has no header: delete that folder, or bring back a copy"
            )
        schema = read_schema(made, checks, str(journal.path))
        if not journal.is_whole:
            raise IndexDamagedError("data.mdb lacks a table")
        made = msgspec.msgpack.encode(schema.header) if checks else stored
        return schema, None if made == stored else made

    def work(txn: Transaction) -> Schema:
        schema, made = look(txn)
        if made is not None:
            journal.set_cell(txn, Cell("meta", b"", _HEADER, made))
        return schema

    with journal.reading() as txn:
        schema, made = look(txn)
    return schema if made is None else journal.writing(work)  # only then: who writes unseals


class LmdbIndex(Index):
    """The contract Index over a journal in LMDB and segment files beside it.

    A page is searched for without a lock and then appended in one write transaction, which first reads what others
    have appended. A kill of the process loses nothing that was acknowledged; a power cut may damage the folder unless
    `close` came first. Threads of a process take turns; a forked child must open its own.

    Args:
        path: The folder; made when it is missing. For the errors see `open_index`.
        checks: As there. Damaged segments are made again with these, and a warning.
        batch_pages: Pages in memory before they are folded; an index keeps what it was made with, as its secret.
    """

    leases: LmdbLeases
    pages_at_once = 1

    def __init__(
        self, path: Path, checks: Sequence[Check], *, batch_pages: int = BATCH_PAGES, secret: Secret | None = None
    ) -> None:
        super().__init__()
        self._users = 1
        self.path = path
        self.where = f"lmdb:{path}"  # what names it, for people
        with ExitStack() as opened:
            self.journal = journal = opened.enter_context(closing(Journal(path, create=bool(checks))))
            self.lock = journal.lock
            self.leases = opened.enter_context(closing(LmdbLeases(journal)))
            with journal.explaining():
                schema = _schema(journal, checks, batch_pages, secret)
                self._store = opened.enter_context(closing(SegmentStore(journal, schema)))
            self._look()
            journal.is_sound = True
            opened.pop_all()

    def check_open(self) -> None:
        self.journal.check_usable()

    def converse(
        self, work: Callable[Arguments, Answer], /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Answer:
        if self.journal.opened_by != os.getpid():
            self.check_open()
        try:
            return work(*args, **kwargs)
        except FAILS as error:
            self.journal.explain(error)

    # Tables

    @property
    def others(self) -> int | None:
        with self.lock:
            self.check_open()
            self._store.look()  # which counts what others have written
            return self.journal.others if self._users == 1 else None  # who shares this object writes, too

    @in_turn
    def change(self, cells: Collection[Cell], given: Collection[Cell] = ()) -> list[bytes | None] | None:
        def work(txn: Transaction) -> tuple[list[bytes | None] | None, int]:
            there = [self.journal.get(txn, cell.table, cell.group + cell.field) for cell in given]
            is_given = there == [cell.value for cell in given]
            for cell in cells if is_given else ():
                self.journal.set_cell(txn, cell)
            return None if is_given else there, txn.id() - 1

        there, before = self.journal.writing(work)
        if self._store.seen == before:  # nothing else has come, and this is no page
            self._store.seen = self.journal.known_id
        return there

    @in_turn
    def values(self, table: str, fields: Sequence[bytes]) -> list[bytes | None]:
        with self.journal.reading() as txn:
            return [self.journal.get(txn, table, field) for field in fields]

    @in_turn
    def groups(self, table: str, groups: Sequence[bytes], beginning: bytes = b"") -> list[dict[bytes, bytes]]:
        found, of = [], self.journal.tables[table]
        with self.journal.reading() as txn:
            for group in groups:
                cells = with_prefix(txn, of, group + beginning)
                found.append({key[len(group) :]: raw for key, raw in cells} if cells else {})
        return found

    def cells(self, table: str, beginning: bytes = b"") -> Iterator[Cell]:
        for key, raw in self.journal.keyed_rows(self.journal.tables[table]):
            if key.startswith(beginning, DIGEST_BYTES):
                yield Cell(table, key[:DIGEST_BYTES], key[DIGEST_BYTES:], raw)

    @in_turn
    def clear(self, table: str, group: bytes, beginning: bytes = b"") -> None:
        self.journal.writing(lambda txn: self.journal.clear(txn, table, group + beginning))

    def rows(self, table: str, beginning: bytes = b"") -> Iterator[tuple[bytes, bytes]]:
        rows = self.journal.keyed_rows(self.journal.tables[table], beginning)
        return takewhile(lambda row: row[0].startswith(beginning), rows)

    def _read(self, unpack: Callable[[bytes], Item], raw: bytes) -> Item:
        try:
            return unpack(raw)
        except FAILS as error:
            self.journal.explain(error)

    # Pages

    @property
    def _catalog(self) -> Catalog:
        return self._store.catalog

    @in_turn
    def _look(self) -> int:
        self._store.look()
        return self._store.catalog.next_id

    @contextmanager
    def _pages(self, *, fresh: bool = True) -> Iterator[tuple[Catalog, Fetch]]:
        with self._store.snapshot() as txn:
            yield self._store.catalog, self._records(txn)

    def _records(self, txn: Transaction) -> Fetch:
        return partial(self._record, txn)

    def _record(self, txn: Transaction, page: int) -> Record:
        catalog = self._store.catalog
        return catalog.at_hand.get(page) or catalog.unpack(self.journal.fetch(txn)(page), page)

    def _rows(self, end: int) -> Iterator[tuple[int, Raw]]:
        return self.journal.rows(0, end)

    @in_turn
    def search(
        self, entry: Entry, *, checks: Sequence[Check] = (), first_id: int = 0, after: Search | None = None
    ) -> Search:
        self._store.look()
        return Search(self._store.catalog, storable(entry), first_id, self.lock, self._made, checks, after)

    @in_turn
    def _made(self, make: Callable[[Raw, int], Item], pages: Sequence[int]) -> list[Item]:
        with self.journal.reading() as txn:
            fetch = self.journal.fetch(txn)
            return [make(fetch(page), page) for page in pages]

    def carry_out(self, decided: Sequence[Offer | Drop]) -> list[Kept | bool | None]:
        return [self._offer(*one) if isinstance(one, Offer) else self._skip(one) for one in decided]

    @in_turn
    def _offer(self, found: Search, request: bytes) -> Kept | None:
        added = self.journal.writing(partial(self._add, found, request))
        if added is None:
            return None
        row, replaces = added
        return Kept(self._post(row), found.superseded_urls, replaces)

    def _post(self, row: Row | None) -> int:
        """Have the catalog know what this process has just written, as it does what came before that."""
        catalog = self._store.catalog
        page = catalog.next_id
        if row is not None:
            record, keys = row
            catalog.add(keys)
            catalog.remember(page, record)
        self._store.seen = self.journal.known_id
        self._store.fold()
        return page

    def _add(self, found: Search, request: bytes, txn: Transaction) -> tuple[Row, bool] | None:
        self._store.catch_up(txn, txn.id() - 1)
        catalog, entry = self._store.catalog, found.entry
        if catalog.next_id != found.end:
            return None
        kept = newest(catalog, entry.url, self._records(txn))
        replaces = kept and kept[0]
        row = self._append(txn, row_of(found, replaces), replaces)
        if self.leases.owner:
            premise = premise_of(entry)
            self.journal.set_cell(txn, lease_cell(premise, self.leases.owner))
            if request:
                self.journal.set_cell(txn, skip_cell(premise, Skip(entry.spider, entry.source, request)))
        return row, replaces is not None

    def _append(self, txn: Transaction, record: Record, ends: int | None) -> Row:
        """Add the next record, and put a tombstone in the place of that which it ends."""
        number, keys = self._store.catalog.next_id, self._store.catalog.schema.keys(record)
        self.journal.append(txn, number, pack(record, number))
        if ends is not None:
            self.journal.put_tombstone(txn, ends)
            self._store.catalog.at_hand.pop(ends, None)
        return record, keys

    @in_turn
    def _end(self, ending: Ending) -> tuple[bool, list[Skip]]:
        row, due = self.journal.writing(partial(self._ended, ending))
        self._post(row)
        return row is not None, due

    def _ended(self, ending: Ending, txn: Transaction) -> tuple[Row | None, list[Skip]]:
        """What was appended, and what is due."""
        self._store.catch_up(txn, txn.id() - 1)
        premise = ending.premise
        if premise and ending.owner and self._lessee(txn, premise) != ending.owner:
            return None, []
        found = ending.of(self._store.catalog, self._records(txn))
        row = self._append(txn, found[1], found[0]) if found else None
        if ending.renewed is None and (row or premise is None):
            self.journal.clear(txn, "urls", digest(ending.url) + BESIDE)
        if premise is None:
            return row, []
        self.journal.clear(txn, "leases", key_of(premise))
        gone = self.journal.clear(txn, "skips", key_of(premise))
        due = [structs.replace(unpack_skip(raw, key[DIGEST_BYTES:]), premise=None) for key, raw in gone]
        for skip in due:
            self.journal.set_cell(txn, due_cell(skip))
        return row, due

    # The ledger

    def _lessee(self, txn: Transaction, premise: Premise) -> bytes | None:
        """Who has a lease on a premise; None where it holds or has fallen."""
        raw = self.journal.get(txn, "leases", key_of(premise))
        return None if raw is None else read_lease(key_of(premise), raw)[0]

    @in_turn
    def _skip(self, drop: Drop) -> bool:
        def work(txn: Transaction) -> bool:
            self._store.catch_up(txn, txn.id() - 1)
            if not is_kept_for(drop.keeper, newest(self._store.catalog, drop.keeper.url, self._records(txn))):
                return False
            if self._lessee(txn, drop.keeper) is not None:
                self.journal.set_cell(txn, skip_cell(drop.keeper, drop.skip))
            if drop.verdict is not None:
                self.journal.set_cell(txn, drop.verdict)
            return True

        is_dropped = self.journal.writing(work)
        self._post(None)
        return is_dropped

    # The index

    @in_turn
    def info(self) -> dict[str, int | float | str]:
        with self._store.snapshot() as txn:
            with txn.cursor(self.journal.tables["urls"]) as cursor:
                kinds = Counter(bytes(key[DIGEST_BYTES : DIGEST_BYTES + 1]) for key in cursor.iternext(values=False))
            return {
                "index": self.where,
                **self._store.catalog.info(),
                **{said: kinds[kind] for said, kind in OF_URL.items()},
                **{said: txn.stat(self.journal.tables[name])["entries"] for said, name in COUNTED.items()},
                "bytes": sum(map(_bytes_on_disk, self.path.iterdir())),
            }

    def verify(self, told: Told | None = None) -> list[str]:
        self._store.catalog.wait()
        return self._verify(told)

    @in_turn
    def _verify(self, told: Told | None) -> list[str]:
        with self._store.locked():
            end = self._look()
            found = self._store.problems() or problems(self._store.catalog, self.journal.rows(0, end), told)
            found = found or table_problems(self.journal) or list(self.broken())
            try:
                found or check_seal(self.path)
            except IndexDamagedError as error:
                found = [str(error)]
            self.journal.is_sound &= not found
            return found

    def compact(self) -> None:
        self._store.catalog.wait()
        self._compact()

    @in_turn
    def _compact(self) -> None:
        if self._users > 1:
            raise OSError(f"the index at {self.path} is in use by another crawl of this process")
        super().compact()
        with self._store.locked():
            self._look()
            if fold := self._store.catalog.whole():
                self._store.merge(fold, self._store.manifest)
        self.journal.compact()
        self._store.seen = -1  # transactions are numbered anew
        self._look()

    def share(self, checks: Sequence[Check]) -> bool:
        """One more user of this object, who will close it too; False when it is closed already.

        Raises:
            IndexMismatchError: It was made by other checks or settings, or is open to be read only.
        """
        with self.journal.lock:
            if self._users < 1:
                return False
            if checks:
                catalog = self._store.catalog
                if not catalog.schema.checks:
                    raise IndexMismatchError(f"{self.path} is open in this process, to be read only: close it first")
                with self.journal.explaining():
                    catalog.schema = _schema(self.journal, checks, catalog.schema.batch_pages, None)
            self._users += 1
            self.journal.others += 1
        return True

    def close(self) -> None:
        with self.journal.lock:
            self._users -= 1
            if self._users != 0:
                return
        self._store.catalog.wait()
        with self.journal.lock:
            self.leases.close()
            self._store.close()
            self.journal.close()


def _bytes_on_disk(path: Path) -> int:
    try:
        return path.stat().st_blocks * 512
    except FileNotFoundError:  # another process has merged it away since
        return 0
