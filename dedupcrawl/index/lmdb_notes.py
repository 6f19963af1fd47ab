"""The tables of an LMDB index: a database each, a cell under its group and its field; and its claimants."""

from __future__ import annotations

import fcntl
import os
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from typing import TypeVar

from dedupcrawl.index.journal import Journal, Transaction, is_locked, with_prefix
from dedupcrawl.index.pages import read_claim
from dedupcrawl.index.tables import Cell, Item, Tables, in_turn

Answer = TypeVar("Answer")


class LmdbNotes(Tables):
    """An open index in a folder, and its tables."""

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
        with self.journal.explaining():
            return work()

    @in_turn
    def change(self, cells: Collection[Cell], given: Collection[Cell] = ()) -> list[bytes | None] | None:
        def work(txn: Transaction) -> list[bytes | None] | None:
            there = [self.journal.get(txn, cell.table, cell.group + cell.field) for cell in given]
            if there != [cell.value for cell in given]:
                return there
            for cell in cells:
                self.journal.set_cell(txn, cell)
            return None

        return self.journal.writing(work)

    @in_turn
    def values(self, table: str, fields: Sequence[bytes]) -> list[bytes | None]:
        with self.journal.reading() as txn:
            return [self.journal.get(txn, table, field) for field in fields]

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
        with self.journal.explaining():
            return unpack(raw)


_OWNERS = "owners"  # folder of the claimants' lock files


class LmdbClaims:
    """As index.pages.Claimant: alive as long as it holds the lock on its file, however its process ends."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._folder = journal.path / _OWNERS
        self.owner = b""
        self._lock: int | None = None

    def start(self) -> str:
        """Become a claimant, if this process is none yet; returns its name."""
        if not self.owner:
            self._folder.mkdir(exist_ok=True)
            owner = uuid.uuid4()
            path = self._folder / owner.hex
            new = path.with_suffix(".new")  # until it is locked, nobody must take it for that of a dead one
            self._lock = os.open(new, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            new.rename(path)
            self.owner = owner.bytes
        return self.owner.hex()

    def dead(self, excluded: Collection[str]) -> list[tuple[str, bytes]]:
        """The URLs that are claimed by processes that are no more, but some, and by whom."""
        alive = {self.owner: True}
        claimed = []
        for key, raw in self._journal.keyed_rows(self._journal.tables["claims"]):
            owner, url = read_claim(key, raw)
            if owner not in alive:
                alive[owner] = owner.hex() in excluded or _is_locked(self._folder / owner.hex())
            if not alive[owner]:
                claimed.append((url, owner))
        return claimed

    def bury(self, excluded: Collection[str]) -> None:
        """Remove the lock files that nobody holds, but those of some. Their claims must have been abandoned."""
        if self._folder.is_dir():
            for path in self._folder.iterdir():
                if path.name not in (self.owner.hex(), *excluded) and path.suffix != ".new" and not _is_locked(path):
                    path.unlink(missing_ok=True)

    def give_up(self, urls: Iterable[str]) -> None:
        """Nothing: what is claimed is written nowhere else."""

    def close(self) -> None:
        """Release the lock: what is still claimed is nobody's from now on."""
        if self._lock is not None:
            (self._folder / self.owner.hex()).unlink(missing_ok=True)
            os.close(self._lock)
            self._lock, self.owner = None, b""


def _is_locked(path: Path) -> bool:
    """True when some process holds the lock on this file, so is alive."""
    try:
        file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        return is_locked(file)
    finally:
        os.close(file)
