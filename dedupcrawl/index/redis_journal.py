"""RedisJournal: an index on a server, its rows and its tables: one hash for each table, or for each group of a table.

Replica: this process's copy of the rows, and the keys under which they are found there, without their postings.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
import uuid
from abc import abstractmethod
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import msgspec
import redis

from dedupcrawl.content.checks.base import Check, Keys
from dedupcrawl.core import hashing
from dedupcrawl.index.catalog import Catalog, Fold
from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.notes import VerdictLog
from dedupcrawl.index.record import Entry, Record, pack, renumbered, tombstone, unpack
from dedupcrawl.index.redis_link import CHANGE, CLEAR, GREET, GROUPS, READ, RESTORE, Address, Argument, Link, Script
from dedupcrawl.index.schema import Schema, header_of, read_schema, url_key
from dedupcrawl.index.segment import merged
from dedupcrawl.index.tables import RESTORED, Answer, Arguments, Cell, in_turn, parts

FRESH_SECONDS = 1.0
"""Age up to which a process takes what it knows of the server for good when it says that a page is a duplicate."""

_AGREED_SECONDS = 30 * 86_400  # after which a run that nobody heard of is over
_NO_LIMIT = 1 << 62  # pages; more than any index has
_KEYS_AT_ONCE = 1_000  # that a server looks through


class RedisJournal(VerdictLog):
    """The connection of an open index, its tables, and its rows. What is done with these is part of a conversation.

    Attributes:
        replica: The copy; set by the first `greet`, and anew when the server's journal is another one.
        read_at: When (time.monotonic) the server was last asked for its rows.
        pages_restored: How many pages were restored until then.
        first_id_limit: Pages at and above may belong to this run, whatever was said before the server lost its rows.
        keys: Of the journal.
    """

    replica: Replica

    def __init__(self, address: Address, checks: Sequence[Check], batch_pages: int, wait: float) -> None:
        super().__init__()
        self.address = address
        self.link = Link(address, wait)
        self.lock = threading.RLock()
        self.is_closed = False
        self.read_at = 0.0
        self.pages_restored = 0
        self._checks = checks
        self._new = msgspec.msgpack.encode(header_of(checks, batch_pages)) if checks else b""
        self._epoch = b""
        self.first_id_limit = _NO_LIMIT
        self.keys = tuple(map(address.key, ("meta", "rows", "window")))

    # Tables

    def check_open(self) -> None:
        if self.is_closed:
            raise ValueError("the index is closed")

    def converse(
        self, work: Callable[Arguments, Answer], /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Answer:
        self.check_open()
        answer: Answer = self.link.talk(self.greet, partial(work, *args, **kwargs))
        return answer

    def change(self, cells: Collection[Cell], given: Collection[Cell] = ()) -> list[bytes | None] | None:
        return self._change(cells, given, self._number() if given else b"")

    @in_turn
    def _change(self, cells: Collection[Cell], given: Collection[Cell], number: bytes) -> list[bytes | None] | None:
        """Done once, however often it is sent under its number: an answer may be lost, and what is given is changed."""
        there: list[bytes | None] | None = self.link.call(CHANGE, *self._changing(cells, given, number))
        if any(cell.table == "urls" and cell.field == RESTORED for cell in cells):
            self.read_at = 0.0
        return there

    def _changing(self, cells: Collection[Cell], given: Collection[Cell] = (), number: bytes = b"") -> tuple[Any, ...]:
        """Keys and arguments."""
        keys = [self.address.key("meta"), *(self._key(cell.table, cell.group) for cell in (*given, *cells))]
        seconds = _AGREED_SECONDS if any(cell.table == "agreed" for cell in cells) else 0
        arguments: list[Argument] = [seconds, len(given)]
        for cell in given:
            arguments += cell.field, cell.value or b""
        for cell in cells:
            arguments += cell.table, cell.field, cell.value or b""
        return [*keys, self.address.key("done", self._process.hex())], *arguments, number

    @in_turn
    def send(self, cells: Collection[Cell]) -> None:
        self.link.post(CHANGE, *self._changing(cells))

    @in_turn
    def values(self, table: str, fields: Sequence[bytes]) -> list[bytes | None]:
        found: list[bytes | None] = self.link.ask("HMGET", self._key(table), *fields) if fields else []
        return found

    @in_turn
    def groups(self, table: str, groups: Sequence[bytes], beginning: bytes = b"") -> list[dict[bytes, bytes]]:
        told = self.link.call(GROUPS, [self._key(table, group) for group in groups], beginning) if groups else ()
        return [dict(sorted(zip(flat[::2], flat[1::2], strict=True))) for flat in told]

    def cells(self, table: str, beginning: bytes = b"") -> Iterator[Cell]:
        at: bytes | None = b"0"
        told = set[bytes]()  # a server may tell a key twice
        while at is not None:
            at, keys = self._keys(table, at)
            for some in parts({bytes.fromhex(key.rpartition(b":")[2].decode()) for key in keys} - told):
                told.update(some)
                for group, fields in zip(some, self.groups(table, some, beginning), strict=True):
                    yield from (Cell(table, group, field, raw) for field, raw in fields.items())

    @in_turn
    def _keys(self, table: str, at: bytes) -> tuple[bytes | None, list[bytes]]:
        """Keys of the groups of a table, from where a search has come to; and where it is now, None at its end."""
        following, keys = self.link.ask("SCAN", at, "MATCH", f"{self._key(table)}:*", "COUNT", _KEYS_AT_ONCE)
        return None if following == b"0" else following, keys

    @in_turn
    def clear(self, table: str, group: bytes, beginning: bytes = b"") -> None:
        self.link.post(CLEAR, [self.address.key("meta"), self._key(table, group)], table, beginning)

    def rows(self, table: str, beginning: bytes = b"") -> Iterator[tuple[bytes, bytes]]:
        for some in parts(field for field in self._fields(table) if field.startswith(beginning)):
            values = zip(some, self.values(table, some), strict=True)
            yield from ((field, raw) for field, raw in values if raw is not None)

    @in_turn
    def _fields(self, table: str) -> list[bytes]:
        return sorted(self.link.ask("HKEYS", self._key(table)))

    def is_restored(self, *urls: str) -> bool:
        with self.lock:
            is_fresh = not self.is_closed and time.monotonic() - self.read_at < FRESH_SECONDS
            return not (is_fresh and not self.pages_restored) and super().is_restored(*urls)

    @in_turn
    def settle(self) -> None:
        """Wait until what was sent has arrived."""
        self.link.settle()

    def _key(self, table: str, group: bytes = b"") -> str:
        return self.address.key(table, *([group.hex()] if group else []))

    # Rows

    @abstractmethod
    def tell_again(self) -> None:
        """Tell a server that has lost what it held what only this process knows."""

    def greet(self) -> None:
        """On a new connection: make the index if it is missing, and see whether it is the one that was known.

        A server that has forgotten everything is given the rows back by the first process that finds it so.

        Raises:
            IndexMismatchError: The index was made by other checks or settings.
            ValueError: There is no index, and no checks to make it for.
        """
        known = self.replica.catalog.next_id if self._epoch else 0
        epoch = uuid.uuid4().bytes
        header, stored_epoch, count, last = self.link.call(GREET, self.keys[:2], self._new, epoch, known - 1)
        if header is None and count:
            raise IndexDamagedError(
                f"the index at {self.address.where} has no header: delete its keys, or bring it back"
            )
        if header is None:
            raise ValueError(f"there is no index at {self.address.where}: crawl first, or name another prefix")
        schema = read_schema(header, self._checks, self.address.where)
        if self._checks:
            self._new = msgspec.msgpack.encode(schema.header)
            new, old = (Cell("meta", b"", b"header", raw) for raw in (self._new, header))
            if new != old and self.link.call(CHANGE, *self._changing([new], [old])):
                return self.greet()  # another worker was faster
        if not self._epoch:
            self._start(schema)
        elif known and stored_epoch == epoch:
            self._restore(schema, epoch, known)
            self.tell_again()
        elif stored_epoch != self._epoch or count < known or (known and last != self.replica.on_the_wire(known - 1)):
            self._start(schema)
            self.tell_again()
        self._epoch = stored_epoch

    def catch_up(self) -> None:
        """Take over all rows that the replica does not have."""
        while True:
            _, count = self.exchange(READ, [])
            if self.replica.catalog.next_id >= count:
                return

    def exchange(self, script: Script, keys: Sequence[str], *arguments: Argument) -> tuple[bytes, Any]:
        """Run a script on the journal and take over the rows it tells; returns its status, and what else it told."""
        asked_at, known = time.monotonic(), self.replica.catalog.next_id
        status, *told = self.link.call(script, [*self.keys, *keys], self._epoch, known, *arguments)
        if status == b"lost":
            raise redis.ConnectionError("it has lost what it held")  # so that it is greeted again
        self.read_at = asked_at
        rows, self.pages_restored, *more = told
        try:
            self.replica.extend(rows)
        except IndexDamagedError as error:
            raise IndexDamagedError(
                f"row {self.replica.catalog.next_id} of the index at {self.address.where} is damaged: "
                "bring back a copy of what the server held, or take another prefix"
            ) from error
        return status, more[0] if more else []

    def _start(self, schema: Schema) -> None:
        """Begin with an empty replica; the old one ends with the search that may still be reading it."""
        if self._epoch:
            self.first_id_limit = 0
        self.read_at = 0.0
        self.replica = Replica(schema, self.lock)

    def _restore(self, schema: Schema, epoch: bytes, known: int) -> None:
        """Give the server the rows that it has lost; as far as nobody else adds any."""
        for pages in parts(range(known)):
            if not self.link.call(RESTORE, self.keys[:2], epoch, pages[0], *map(self.replica.on_the_wire, pages)):
                self._start(schema)
                return


NOTHING = (b"", b"")
"""In the place of a row and its tokens, or of another pair, where there is none."""

_UNNUMBERED = 0  # rows on the wire are packed with it: a row is packed before it is known which number it gets
_LENGTH_BYTES = 4  # of the length of a row, in the file of rows


def numbered(raw: bytes, page: int) -> bytes:
    """The packed record of a row as the server has it."""
    return renumbered(raw, _UNNUMBERED, page)


class Replica:
    """Rows 0 … catalog.next_id - 1 and their postings. Whoever uses it holds `lock`."""

    def __init__(self, schema: Schema, lock: threading.RLock) -> None:
        self.catalog = Catalog(schema)
        self._lock = lock
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  it lives as long as this object
        self._end = 0
        self._places = array("Q")

    def extend(self, rows: Iterable[bytes]) -> None:
        """Take over the next rows, as they came from the wire.

        Raises:
            IndexDamagedError: One cannot be read.
            OSError: The disk is full.
        """
        for raw in rows:
            page = self.catalog.next_id
            del self._places[page:]  # of a row for which the disk was full
            record = unpack(raw, _UNNUMBERED)
            keys = self.catalog.schema.keys(record)
            self._places.append(self._write(numbered(raw, page)))
            for ended in record.ended:
                if ended < page:
                    self._places[ended] = self._write(tombstone(self.fetch(ended), ended))
            self.catalog.add(keys)
            self.catalog.fold_beside(self._merge)

    def fetch(self, page: int) -> bytes:
        """The packed record of a row."""
        place = self._places[page]
        length = int.from_bytes(os.pread(self._file.fileno(), _LENGTH_BYTES, place), "little")
        return os.pread(self._file.fileno(), length, place + _LENGTH_BYTES)

    def record(self, page: int) -> Record:
        """The record of a row."""
        return self.catalog.at_hand.get(page) or self.catalog.unpack(self.fetch(page), page)

    def on_the_wire(self, page: int) -> bytes:
        """The row as the server has it."""
        return renumbered(self.fetch(page), page, _UNNUMBERED)

    def packed(self, record: Record) -> tuple[bytes, bytes]:
        """A new row as the server is to have it, and its tokens."""
        schema = self.catalog.schema
        return pack(record, _UNNUMBERED), write_set(schema, schema.keys(record))

    def tombstone(self, page: int | None) -> tuple[bytes | int, bytes]:
        """Number and tombstone of a page that is replaced or forgotten."""
        if page is None:
            return NOTHING
        return page, renumbered(tombstone(self.fetch(page), page), page, _UNNUMBERED)

    def close(self) -> None:
        """Release the files."""
        self.catalog.set_segments([])
        self._file.close()

    def _write(self, raw: bytes) -> int:
        place = self._end
        left = memoryview(len(raw).to_bytes(_LENGTH_BYTES, "little") + raw)
        end = place + len(left)
        while left:  # the kernel takes what it takes at a time
            left = left[os.pwrite(self._file.fileno(), left, end - len(left)) :]
        self._end = end
        return place

    def _merge(self, fold: Fold) -> None:
        segment = merged(fold.first, fold.end, fold.parts(), fold.left_out)
        with self._lock:
            self.catalog.take(fold, segment)


_TABLE_FACTOR = 0x9E3779B97F4A7C15  # 2^64 by the golden ratio: spreads consecutive numbers (Knuth)
_WORD = (1 << 64) - 1  # a number of 64 bits

WireProbe = tuple[int, bytes, bytes]
"""Least sum of weights, tokens, and a weight of four bytes for each; no weights when each counts 1."""


def tokens(table: int, keys: Keys, bits: int = 0) -> bytes:
    """Four bytes for the prefix of each key of a table, above its payload of so many bits."""
    return hashing.tokens(keys, bits, (table + 1) * _TABLE_FACTOR & _WORD)


def token(table: int, key: int) -> bytes:
    """The token of one key of a table of the index's own."""
    return tokens(table, array("Q", (key,)))


def write_set(schema: Schema, keys: Sequence[Keys]) -> bytes:
    """Tokens of everything that a row is posted under, by table."""
    sets = [
        tokens(table, found, bits)
        for table, (found, bits) in enumerate(zip(keys, schema.payload_bits, strict=True))
        if found
    ]
    return b"".join(sets)


def read_set(schema: Schema, entry: Entry, replaces: int | None) -> list[WireProbe]:
    """What would make the search of an offer find something else.

    That is another page's keys where a check looks for them, another page of its URL, and the end of the page that it
    replaces.
    """
    any_of = [token(schema.urls, url_key(entry.url))]
    if replaces is not None:
        any_of.append(token(schema.ended, replaces))
    weighted: list[WireProbe] = []
    for slot, check, signature in schema.signatures(entry):
        probe = check.probe(signature)
        made = tokens(slot, probe.prefixes)
        if probe.weights is None:
            any_of.append(made)
        else:
            weighted.append((probe.least, made, array("I", probe.weights).tobytes()))
    return [(1, b"".join(any_of), b""), *weighted]
