"""LmdbIndex: an index in a folder, for any number of processes, that survives a kill at any moment."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from functools import partial
from itertools import takewhile
from pathlib import Path

import msgspec
from msgspec import structs

from dedupcrawl.content.checks.base import Check
from dedupcrawl.core.digests import Secret
from dedupcrawl.index.contract import Index
from dedupcrawl.index.errors import IndexDamagedError, IndexMismatchError
from dedupcrawl.index.journal import FAILS, Journal
from dedupcrawl.index.ledger import due_cell, read_lease
from dedupcrawl.index.lmdb_leases import LmdbLeases
from dedupcrawl.index.lmdb_tables import Transaction, with_prefix
from dedupcrawl.index.pages import Done
from dedupcrawl.index.record import DIGEST_BYTES, Skip, pack, unpack_skip
from dedupcrawl.index.schema import BATCH_PAGES, Schema, header_of, read_schema
from dedupcrawl.index.segment_store import Row, SegmentStore, segment_files
from dedupcrawl.index.steps import Change, Plan
from dedupcrawl.index.tables import BESIDE, COUNTED, Answer, Arguments, Cell, Item, in_turn

_HEADER = b"header"


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
        collected = []
        with self.journal.reading() as txn, txn.cursor(self.journal.tables[table]) as cursor:
            for group in groups:
                cells = with_prefix(cursor, group + beginning)
                collected.append({key[len(group) :]: raw for key, raw in cells} if cells else {})
        return collected

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

    def _refresh(self, *, fresh: bool) -> None:
        self.journal.check_usable()
        try:
            self._store.look()
        except FAILS as error:
            self.journal.explain(error)

    def _commit(self, plan: Plan) -> list[Done | None]:
        self.journal.check_usable()
        try:
            done, rows = self.journal.writing(partial(self._written, plan))
        except FAILS as error:
            self.journal.explain(error)
        self._store.post(rows)
        return done

    def _written(self, plan: Plan, txn: Transaction) -> tuple[list[Done | None], list[Row]]:
        store = self._store
        done: list[Done | None] = []  # not list[…](), which makes an alias first
        rows: list[Row] = []
        store.catch_up(txn, txn.id() - 1)
        for change in plan(store.catalog, store.records(txn)):
            if change is None or (change.owner and not self._is_owner(txn, change)):
                done.append(None)
                continue
            record, number = change.record, store.catalog.next_id + len(rows)
            if record is not None:
                row = Row(number, pack(record, number), record, change.keys)
                store.write(txn, row)
                rows.append(row)
            done.append((number, record, self._write_beside(txn, change)))
        return done, rows

    def _is_owner(self, txn: Transaction, change: Change) -> bool:
        """Whether the lease that is to end is that of whom it should be."""
        raw = self.journal.get(txn, "leases", change.fallen)
        return raw is not None and read_lease(change.fallen, raw)[0] == change.owner

    def _write_beside(self, txn: Transaction, change: Change) -> list[Skip]:
        """Write what a change is besides its record; what is due by it."""
        due: list[Skip] = []
        cells = [*change.cells]
        if change.skip is not None and self.journal.get(txn, "leases", change.skip.group) is not None:
            cells.append(change.skip)
        if change.detached:
            self.journal.clear(txn, "urls", change.detached + BESIDE)
        if change.fallen:
            self.journal.clear(txn, "leases", change.fallen)
            gone = self.journal.clear(txn, "skips", change.fallen)
            due += (structs.replace(unpack_skip(raw, key[DIGEST_BYTES:]), premise=None) for key, raw in gone)
            cells += map(due_cell, due)
        for cell in cells:
            self.journal.set_cell(txn, cell)
        return due

    # The index

    def _counts(self) -> Mapping[str | bytes, int]:
        at, tables = DIGEST_BYTES, self.journal.tables
        with self.journal.reading() as txn, txn.cursor(tables["urls"]) as cursor:
            kinds = Counter[str | bytes](bytes(key[at : at + 1]) for key in cursor.iternext(values=False))
            return kinds + Counter({name: txn.stat(tables[name])["entries"] for name in COUNTED.values()})

    def _bytes(self) -> int:
        return sum(map(_bytes_on_disk, self.path.iterdir()))

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
