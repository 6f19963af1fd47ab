"""RedisJournal: the rows on the server and this process's replica of them, which follows."""

from __future__ import annotations

import os
import tempfile
import threading
import time
import uuid
from abc import abstractmethod
from array import array
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import redis

from dedupcrawl.content.checks.base import Check, Keys
from dedupcrawl.content.symbols import fmix64
from dedupcrawl.index.catalog import Background, Catalog, Fold
from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.record import renumbered, tombstone, unpack
from dedupcrawl.index.redis_link import Address, Argument
from dedupcrawl.index.redis_notes import RedisNotes
from dedupcrawl.index.redis_scripts import GREET, READ, RESTORE, Script
from dedupcrawl.index.rows import Entry
from dedupcrawl.index.schema import Schema, header_of, read_schema, url_key
from dedupcrawl.index.segment import open_segment, write_all, write_segment
from dedupcrawl.index.tables import parts

UNNUMBERED = 0
"""The number that rows on the wire are packed with: a row is packed before it is known which number it gets."""

_LENGTH_BYTES = 4


class Replica:
    """Rows 0 … catalog.next_id - 1 and their postings. Whoever uses it holds `lock`."""

    def __init__(self, schema: Schema, lock: threading.RLock) -> None:
        self.catalog = Catalog(schema)
        self._lock = lock
        self._background = Background()
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
            record = unpack(raw, UNNUMBERED)
            keys = self.catalog.schema.keys(record)
            self._places.append(self._write(renumbered(raw, page)))
            for ended in record.ended:
                if ended < page:
                    self._places[ended] = self._write(tombstone(self.fetch(ended), ended))
            self.catalog.add_keys(keys)
            self._fold()

    def fetch(self, page: int) -> bytes:
        """The packed record of a row."""
        place = self._places[page]
        length = int.from_bytes(os.pread(self._file.fileno(), _LENGTH_BYTES, place), "little")
        return os.pread(self._file.fileno(), length, place + _LENGTH_BYTES)

    def on_the_wire(self, page: int) -> bytes:
        """The row as the server has it."""
        return renumbered(self.fetch(page), UNNUMBERED)

    def wait(self) -> None:
        """Return when nothing is being folded. The lock must be free."""
        self._background.wait()

    def close(self) -> None:
        """Release the files."""
        self.catalog.set_segments([])
        self._file.close()

    def _write(self, raw: bytes) -> int:
        place = self._end
        self._end = write_all(self._file.fileno(), len(raw).to_bytes(_LENGTH_BYTES, "little") + raw, place)
        return place

    def _fold(self) -> None:
        """Fold full batches, beside the caller."""
        fold = None if self._background.busy else self.catalog.fold()
        if fold is not None:
            self._background.start(lambda: self._merge(fold))

    def _merge(self, fold: Fold) -> None:
        with tempfile.TemporaryDirectory() as folder:  # what is mapped stays
            path = Path(folder, "merged")
            write_segment(path, fold.first, fold.end, fold.parts(), fold.left_out)
            segment = open_segment(path)
        with self._lock:
            self.catalog.set_segments([*self.catalog.segments[: fold.stay], segment])


_NO_LIMIT = 1 << 62


class RedisJournal(RedisNotes):
    """An open index with its pages. What is done with them is part of a conversation of `link`.

    Attributes:
        replica: The copy; set by the first `greet`, and anew when the server's journal is another one.
        first_id_limit: Pages at and above may belong to this run, whatever was said before the server lost its rows.
        keys: Of the journal.
    """

    replica: Replica

    def __init__(self, address: Address, checks: Sequence[Check], batch_pages: int, wait: float) -> None:
        super().__init__(address, wait)
        self._checks = checks
        self._new = msgspec.msgpack.encode(header_of(checks, batch_pages)) if checks else b""
        self._epoch = b""
        self.first_id_limit = _NO_LIMIT
        self.keys = tuple(map(address.key, ("meta", "rows", "window")))

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
        self.replica.extend(rows)
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


_TABLE_FACTOR = 0x9E3779B97F4A7C15
_WORD = (1 << 64) - 1

WireProbe = tuple[int, bytes, bytes]
"""Least sum of weights, tokens, and a weight of four bytes for each; no weights when each counts 1."""


def tokens(table: int, prefixes: Keys) -> bytes:
    """Four bytes for each prefix of a table."""
    mixed = fmix64(prefixes + np.uint64((table + 1) * _TABLE_FACTOR & _WORD))
    made: bytes = (mixed >> np.uint64(32)).astype("<u4").tobytes()
    return made


def token(table: int, key: int) -> bytes:
    """The token of one key of a table of the index's own."""
    return tokens(table, np.array([key], dtype=np.uint64))


def written(schema: Schema, keys: Sequence[Keys]) -> bytes:
    """The write set of a row: tokens of everything that it is posted under, by table."""
    sets = [
        tokens(table, found >> np.uint64(bits))
        for table, (found, bits) in enumerate(zip(keys, schema.payload_bits, strict=True))
        if found.size
    ]
    return b"".join(sets)


def read(schema: Schema, entry: Entry, replaces: int | None) -> list[WireProbe]:
    """The read set of an offer: what would make its search find something else.

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
        if probe.least <= 1:
            any_of.append(made)
        else:
            weighted.append((probe.least, made, probe.weights.astype("<u4").tobytes()))
    return [(1, b"".join(any_of), b""), *weighted]
