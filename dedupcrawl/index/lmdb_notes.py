"""The tables of an LMDB index: a database each, a cell under its group and its field."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import TypeVar

import lmdb

from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.journal import Journal, Transaction, explained, with_prefix
from dedupcrawl.index.tables import Cell, Item, Tables, in_turn

Answer = TypeVar("Answer")


class LmdbNotes(Tables):
    """An open index, and its tables.

    Attributes:
        path: The index's folder.
        journal: Where everything lies.
    """

    def __init__(self, path: Path, journal: Journal) -> None:
        super().__init__()
        self.path = path
        self.journal = journal
        self.lock = journal.lock

    def check_open(self) -> None:
        """Raise an error after `close`, and in a process that was forked from that which opened the index."""
        self.journal.check_usable()

    def converse(self, work: Callable[[], Answer]) -> Answer:
        """What `work` returns; of LMDB's errors and of damage it is said where."""
        with self.explaining():
            return work()

    @contextmanager
    def explaining(self) -> Iterator[None]:
        """Of LMDB's errors and of damage it is said where."""
        try:
            yield
        except (lmdb.Error, IndexDamagedError) as error:
            raise explained(error, self.path) from (error if isinstance(error, lmdb.Error) else None)

    @in_turn
    def change(self, cells: Collection[Cell], given: Collection[Cell] = ()) -> list[bytes | None] | None:
        tables = self.journal.tables

        def work(txn: Transaction) -> list[bytes | None] | None:
            there = [_copied(txn.get(cell.group + cell.field, None, tables[cell.table])) for cell in given]
            if there != [cell.value for cell in given]:
                return there
            for cell in cells:
                self.journal.set_cell(txn, cell)
            return None

        return self.journal.writing(work)

    def send(self, cells: Collection[Cell]) -> None:
        self.change(cells)

    @in_turn
    def values(self, table: str, fields: Sequence[bytes]) -> list[bytes | None]:
        with self.journal.reading() as txn:
            return [_copied(txn.get(field, None, self.journal.tables[table])) for field in fields]

    @in_turn
    def groups(self, table: str, groups: Sequence[bytes], beginning: bytes = b"") -> list[dict[bytes, bytes]]:
        with self.journal.reading() as txn:
            found = (with_prefix(txn, self.journal.tables[table], group + beginning) for group in groups)
            return [{key[len(group) :]: raw for key, raw in cells} for group, cells in zip(groups, found, strict=True)]

    @in_turn
    def clear(self, table: str, group: bytes, beginning: bytes = b"") -> None:
        self.journal.writing(lambda txn: self.journal.clear(txn, table, group + beginning))

    def rows(self, table: str, beginning: bytes = b"") -> Iterator[tuple[bytes, bytes]]:
        rows = self.journal.keyed_rows(self.journal.tables[table], beginning)
        return takewhile(lambda row: row[0].startswith(beginning), rows)

    def _read(self, unpack: Callable[[bytes], Item], raw: bytes) -> Item:
        with self.explaining():
            return unpack(raw)


def _copied(raw: bytes | memoryview | None) -> bytes | None:
    return None if raw is None else bytes(raw)
