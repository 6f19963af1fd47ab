"""RedisIndex: an index on a Redis server, shared by any number of machines.

The server holds the pages, in the order in which they were added, and the tables: one hash for each table, or for each
group of one. Every process has the same journal and postings as an index in a folder, in a temporary folder of its own,
takes over there what others have added, and searches that. Keeping and dropping the pages of a batch takes one round
trip, unless others have added pages that the process does not know yet: then the answer brings these, and it asks
again, without those pages of the batch that they may concern.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from typing import Any

import lmdb
import msgspec
import redis
from msgspec import structs

from dedupcrawl.content.checks.base import Check
from dedupcrawl.core.search import Search
from dedupcrawl.index.contract import FIRST_ID, Index
from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.journal import Journal
from dedupcrawl.index.lmdb_tables import Transaction
from dedupcrawl.index.notes import state_key
from dedupcrawl.index.pages import Done
from dedupcrawl.index.record import Entry, Raw, Skip, compressed, pack, pack_skip, tombstone, unpack, unpack_skip
from dedupcrawl.index.redis_leases import RedisLeases
from dedupcrawl.index.redis_link import (
    CHANGE,
    COMMIT,
    GREET,
    READ,
    RESTORE,
    TAKE,
    TAKE_BYTES,
    TAKEN,
    TAKEN_BYTES,
    Argument,
    Script,
)
from dedupcrawl.index.redis_tables import RedisTables
from dedupcrawl.index.schema import BATCH_PAGES, Schema, header_of, read_schema
from dedupcrawl.index.segment_store import Row, SegmentStore
from dedupcrawl.index.steps import Change, Plan
from dedupcrawl.index.tables import COUNTED, OF_URL, Answer, Arguments, Cell, in_turn, parts
from dedupcrawl.index.temporary import TemporaryFolder

FRESH_SECONDS = 1.0
"""Age up to which a process takes what it knows of the server for good when it says that a page is a duplicate."""

_NO_LIMIT = 1 << 62  # pages; more than any index has


class RedisIndex(RedisTables, Index):
    """The contract Index on a Redis server.

    Threads of a process take turns. A page that another process has replaced or forgotten within the last second
    (`FRESH_SECONDS`) may still be given as the keeper of a duplicate; `carry_out` tells, before a drop.

    Args:
        url: ``redis://``, ``rediss://`` or ``unix://``; ``?prefix=`` names the index. For the errors see `open_index`.
        checks: As there.
        batch_pages: Pages in memory before they are folded.
        wait: As there.
    """

    leases: RedisLeases
    pages_at_once = 32  # round trips a page of 3,000 by 8, 16, 32, 64: .326, .241, .196, .188 (docs/measured/cost.md)

    def __init__(self, url: str, checks: Sequence[Check], *, batch_pages: int = BATCH_PAGES, wait: float = 0.0) -> None:
        super().__init__(url, wait)
        self.where = self.address.where
        self.leases = RedisLeases(self.address, self.link)
        self._checks = checks
        self._new = msgspec.msgpack.encode(header_of(checks, batch_pages)) if checks else b""
        self._epoch = b""  # of the index on the server; empty until that is known
        self._read_at = 0.0  # when (time.monotonic) the server was last asked for its rows
        self._pages_restored = 0  # until then
        self._first_id_limit = _NO_LIMIT  # pages above may be of this run, whatever was said before the rows were lost
        self._runs: dict[str, int] = {}
        self.keys = [self.key("meta"), self.key("rows")]
        self._ledger_keys = [self.key("leases"), self.key("owners"), self.key("due")]
        self._copies = ExitStack()  # of the pages, with the folders that they lie in
        try:
            self._look()
        except BaseException:
            self._release()
            raise

    def converse(
        self, work: Callable[Arguments, Answer], /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Answer:
        try:
            return super().converse(work, *args, **kwargs)
        except lmdb.Error as error:
            self._store.journal.explain(error)

    # Pages

    def search(
        self, entry: Entry, *, checks: Sequence[Check] = (), first_id: int = 0, after: Search | None = None
    ) -> Search:
        return super().search(entry, checks=checks, first_id=min(first_id, self._first_id_limit), after=after)

    @in_turn
    def _refresh(self, *, fresh: bool) -> None:
        if fresh or time.monotonic() - self._read_at >= FRESH_SECONDS:
            while self._exchange(READ, [])[1] > self._catalog.next_id:
                pass
        self._store.look()

    @in_turn
    def _commit(self, plan: Plan) -> list[Done | None]:
        while True:
            keys, arguments, rows = list(self._ledger_keys), list[Argument](), list[Row]()
            with self._store.snapshot() as txn:
                changes = plan(self._catalog, self._store.records(txn))
                fetch = self._store.journal.fetch(txn)
                for change in filter(None, changes):
                    row, ended = b"", list[int]()
                    if change.record is not None:
                        number = self._catalog.next_id + len(rows)
                        row, ended = pack(change.record, number), [one for one in change.record.ended if one < number]
                        rows.append(Row(number, row, change.record, change.keys))
                    arguments += row, *((ended[0], tombstone(fetch(ended[0]), ended[0])) if ended else (b"", b""))
                    self._add(change, keys, arguments)
            if not arguments:
                return [None] * len(changes)
            status, due = self._exchange(COMMIT, keys, *arguments)
            if status == b"other":
                return [None]
            if status == b"done":
                break
        self._append(rows)
        self.leases.have(cell for change in changes if change for cell in change.cells if cell.table == "leases")
        numbers = (row.page for row in rows)
        skips = [structs.replace(unpack_skip(_untaken(raw)), premise=None) for raw in due]
        return [one if one is None else (next(numbers) if one.record else -1, one.record, skips) for one in changes]

    def _add(self, change: Change, keys: list[str], arguments: list[Argument]) -> None:
        cells = [(b"", cell) for cell in change.cells]
        if change.skip is not None:
            cells.append((change.skip.group, change.skip))
        keys += (self.key(cell.table, cell.group) for _, cell in cells)
        keys += [self.key("skips", change.fallen)] if change.fallen else []
        keys += [self.key("urls", change.detached)] if change.detached else []
        arguments += len(cells), change.fallen, change.owner
        for premise, (table, _, field, value) in cells:
            arguments += premise, table, field, value or b""
        arguments.append(b"1" if change.detached else b"")

    def _append(self, rows: Sequence[Row], *, are_own: bool = True) -> None:
        """Have the copy hold what the server has appended."""

        def work(txn: Transaction) -> None:
            store.catch_up(txn, txn.id() - 1)  # a merge may have come since
            for row in rows:
                store.write(txn, row)

        store = self._store
        store.journal.writing(work)
        store.post(rows, are_own=are_own)

    def _take_over(self, rows: Sequence[bytes]) -> None:
        """Append what others have added.

        Raises:
            IndexDamagedError: One of them cannot be read.
        """
        made, schema = list[Row](), self._catalog.schema
        for page, raw in enumerate(rows, self._catalog.next_id):
            try:
                record = unpack(raw, page)
            except IndexDamagedError as error:
                raise IndexDamagedError(
                    f"row {page} of the index at {self.where} is damaged: "
                    "bring back a copy of what the server held, or take another prefix"
                ) from error
            made.append(Row(page, raw, record, schema.keys(record)))
        if made:
            self._append(made, are_own=False)

    def _exchange(self, script: Script, keys: Sequence[str], *arguments: Argument) -> tuple[bytes, Any]:
        """Run a script on the pages and take over those that it tells; returns its status, and what else it told."""
        asked_at = time.monotonic()
        status, *told = self.link.call(script, [*self.keys, *keys], self._epoch, self._catalog.next_id, *arguments)
        if status == b"lost":
            raise redis.ConnectionError("it has lost what it held")  # so that it is greeted again
        self._read_at = asked_at
        rows, self._pages_restored, *more = told
        self._take_over(rows)
        return status, more[0] if more else []

    def withdraw(self, urls: Iterable[str]) -> int:
        restored = super().withdraw(urls)
        self._read_at = 0.0
        return restored

    def is_restored(self, *urls: str) -> bool:
        with self.lock:
            is_fresh = not self.is_closed and time.monotonic() - self._read_at < FRESH_SECONDS
            return not (is_fresh and not self._pages_restored) and super().is_restored(*urls)

    # The server

    def greet(self) -> None:
        """On a new connection: make the index if it is missing, and see whether it is the one that was known.

        A server that has forgotten everything is given the rows back by the first process that finds it so.

        Raises:
            IndexMismatchError: The index was made by other checks or settings.
            ValueError: There is no index, and no checks to make it for.
        """
        known = self._catalog.next_id if self._epoch else 0
        epoch = uuid.uuid4().bytes
        header, stored_epoch, count, last = self.link.call(GREET, self.keys, self._new, epoch, known - 1)
        if header is None and count:
            raise IndexDamagedError(f"the index at {self.where} has no header: delete its keys, or bring it back")
        if header is None:
            raise ValueError(f"there is no index at {self.where}: crawl first, or name another prefix")
        schema = read_schema(header, self._checks, self.where)
        if self._checks:
            self._new = msgspec.msgpack.encode(schema.header)
            new, old = (Cell("meta", b"", b"header", raw) for raw in (self._new, header))
            if new != old and self.link.call(CHANGE, *self._changing([new], [old])):
                return self.greet()  # another worker was faster
        if not self._epoch:
            self._start(schema)
        elif known and stored_epoch == epoch:
            self._restore(schema, epoch, known)
            self._tell_again()
        elif stored_epoch != self._epoch or count < known or (known and last != self._at_hand(known - 1)):
            self._start(schema)
            self._tell_again()
        self._epoch = stored_epoch

    def _at_hand(self, page: int) -> bytes:
        with self._store.snapshot() as txn:
            return bytes(self._store.journal.fetch(txn)(page))

    def _start(self, schema: Schema) -> None:
        """Begin with an empty copy; the old one stays until `close`, for a search may still be reading it."""
        if self._epoch:
            self._first_id_limit = 0
        self._read_at = 0.0
        folder = self._copies.enter_context(closing(TemporaryFolder()))
        journal = self._copies.enter_context(closing(Journal(folder.path, create=True, lock=self.lock)))
        self._store = self._copies.enter_context(closing(SegmentStore(journal, schema)))
        self._copies.callback(self._catalog.wait)

    def _restore(self, schema: Schema, epoch: bytes, known: int) -> None:
        """Give the server the rows that it has lost; as far as nobody else adds any."""
        for rows in parts(self._store.journal.rows(0, known)):
            if not self.link.call(RESTORE, self.keys, epoch, rows[0][0], *(raw for _, raw in rows)):
                self._start(schema)
                return

    def _tell_again(self) -> None:
        """Tell a server that has lost what it held what only this process knows."""
        for run, first in self._runs.items():
            first_id = min(first, self._first_id_limit)
            self.link.ask("HSETNX", self.key("states"), state_key(run, FIRST_ID), compressed(b"%d" % first_id))
        self.leases.again()

    # The ledger

    def _due(self, key: bytes, raw: bytes) -> Skip:
        return structs.replace(unpack_skip(_untaken(raw), key), premise=None)

    def take(self, due: Iterable[Skip]) -> list[Skip]:
        return self._take(list(due), os.urandom(TAKE_BYTES))

    @in_turn
    def _take(self, due: list[Skip], at: bytes) -> list[Skip]:
        """Those that nobody who lives has taken; what this process took by another name than `at` it gets no more."""
        if not self.leases.owner:
            return due
        taken: list[bytes] = []
        for some in parts(due):
            taker = self.address.key("owner", ""), self.leases.owner.hex(), at
            taken += self.link.call(TAKE, [self.key("due")], *taker, *(pack_skip(one)[0] for one in some))
        return [structs.replace(unpack_skip(raw), premise=None) for raw in taken]

    # The index

    def first_id_of_run(self, run: str) -> int:
        self._runs[run] = super().first_id_of_run(run)
        return self._runs[run]

    def _stored(self, end: int) -> Iterator[tuple[int, Raw]]:
        for pages in parts(range(end)):
            rows = zip(pages, self.values("rows", [b"%d" % page for page in pages]), strict=True)
            yield from ((page, raw) for page, raw in rows if raw is not None)

    def _counts(self) -> Mapping[str | bytes, int]:
        kinds = zip(OF_URL.values(), self.link.ask("HMGET", self.keys[0], *OF_URL.values()), strict=True)
        counts: dict[str | bytes, int] = {kind: int(count or 0) for kind, count in kinds}
        return counts | {table: self.link.ask("HLEN", self.key(table)) for table in COUNTED.values()}

    def _bytes(self) -> int:
        keys = [*self.keys, *map(self.key, ("leases", "due", "owners", "states"))]
        return sum(self.link.ask("MEMORY", "USAGE", key, "SAMPLES", 100) or 0 for key in keys)

    def close(self) -> None:
        with self.lock:
            if self.is_closed:
                return
            with suppress(OSError, IndexDamagedError):  # who offered or recorded has been told
                self.settle()
            self.is_closed = True
        self.leases.close()
        self._release()

    def _release(self) -> None:
        with self.lock:
            self.link.drop()
        self._copies.close()  # a merge that this waits for may need the lock


def _untaken(raw: bytes) -> bytes:
    return raw[TAKEN_BYTES:] if raw[:1] == TAKEN else raw
