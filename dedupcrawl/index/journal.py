"""The journal: everything that was kept, in LMDB, appended page by page. Everything else can be rebuilt from it.

LMDB copies the three to five B-tree pages that an append touches, so every page is a transaction of its own, some
microseconds long. Nothing is synced to disk for it: a kill of the process loses nothing that was acknowledged, because
the kernel holds what was written, but a power cut may damage the file beyond what came after the last `sync`.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import NoReturn, TypeVar

import lmdb

from dedupcrawl.index.errors import IndexDamagedError, IndexMismatchError, explained
from dedupcrawl.index.file_lock import is_locked
from dedupcrawl.index.lmdb_tables import Transaction, with_prefix, write_tables
from dedupcrawl.index.record import Raw, tombstone
from dedupcrawl.index.seal import USERS, seal, unseal
from dedupcrawl.index.tables import ROWS_AT_ONCE, Cell
from dedupcrawl.output import PRIVATE, open_private, private_folder

FIRST_MAP_BYTES = 1 << 28  # address space, not disk; doubled when it is used up
_WRITTEN_ANEW_AT_CLOSE = 1 << 28  # bytes; 69 MB took 0.19 s of CPU
_MUCH, _FEW_PAGES = 0.2, 64  # of a file, free, that are worth it, and are not: of two crawls' files a third was free

Result = TypeVar("Result")

_ID = struct.Struct(">I")
_DATABASES = ("meta", "pages", "states", "agreed", "urls", "rewrite_keys", "leases", "skips", "due")
_PIECE = 1002  # bytes of a record that lie together: four of them fill a page of LMDB; what is larger takes whole ones

FAILS = (lmdb.Error, IndexDamagedError)
"""What is raised while a journal is read or written."""

OPENED = "merge.lock"
"""A file that is made once an index has been opened: from then on an empty journal is none."""


class Journal:
    """One LMDB environment, opened once in a process.

    LMDB keeps the interpreter's lock while it waits for another writer of this process, and its map must not grow under
    an open transaction: so every transaction of this process happens while `lock` is held, that of who has it, if any.

    Attributes:
        known_id: The number of the last transaction that had written when this process last was the writer.
        opened_by: The process that has opened it; None: it is closed.
        is_whole: Whether it has all tables, which one of another format may not.
        is_sound: Whether it was opened as a whole, and no damage met since: else, or where it is a copy of what a
            server has, it is closed as it is.
    """

    def __init__(self, path: Path, *, create: bool, lock: threading.RLock | None = None) -> None:
        self.path = path
        self.lock = lock or threading.RLock()
        self.opened_by: int | None = os.getpid()
        self._is_sealed = True  # as far as it knows
        self.known_id = -1
        self._has_written = False  # in the transaction that is open
        self.is_sound = False
        data = path / "data.mdb"
        if (path / OPENED).exists() and not (data.is_file() and data.stat().st_size):
            raise explained(IndexDamagedError("data.mdb is empty or gone"), path)
        if not create and not data.is_file():
            raise FileNotFoundError(f"there is no index at {path}")
        try:
            private_folder(path)
            self._users = open_private(path / USERS, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        except OSError as error:
            raise explained(error, path) from error
        try:
            self._share()
            self._open()
        except BaseException:
            os.close(self._users)
            raise

    def _open(self) -> None:
        with self.explaining():
            self._env = lmdb.open(
                str(self.path),
                FIRST_MAP_BYTES,  # or what is in use, where that is more
                mode=PRIVATE,
                max_dbs=len(_DATABASES),
                max_readers=512,
                max_spare_txns=2,
                sync=False,
                readahead=False,  # candidates are anywhere: of a file larger than memory, megabytes were read for each
            )
            try:
                self._open_databases()
            except BaseException:
                self._env.close()
                raise

    def _open_databases(self) -> None:
        if (self.path / "data.mdb").stat().st_size < self._used_bytes:
            raise IndexDamagedError("data.mdb was cut")
        with self._env.begin() as txn, txn.cursor() as cursor:
            is_new = not cursor.first()
            names = [name for name in _DATABASES if is_new or cursor.set_key(name.encode())]
        if not {"meta", "pages"}.issubset(names):
            raise lmdb.InvalidError("data.mdb has none of the tables of an index")
        self._env.reader_check()
        self._lengthen(self._env.info()["map_size"])
        if is_new:
            self._unseal()
        with self._env.begin(write=True) as txn:
            self.tables = {name: self._env.open_db(name.encode(), txn=txn, create=is_new) for name in names}
        self.is_whole = len(names) == len(_DATABASES)
        self._pages = self.tables["pages"]

    @property
    def _used_bytes(self) -> int:
        return int(self._env.info()["last_pgno"] + 1) * int(self._env.stat()["psize"])

    def _lengthen(self, length: int) -> None:
        """Make the file as long as its map, sparse, so that one that was cut can be told from it.

        LMDB leaves pages at the end unwritten that it took and freed again; to read one would end in a bus error. The
        file is never shorter than the map of any process, so its last byte is written only where it has none.

        Raises:
            OSError: The disk is full.
        """
        try:
            with open(self.path / "data.mdb", "r+b") as data:
                fcntl.flock(data, fcntl.LOCK_EX)  # or another process could make it longer in between
                if os.fstat(data.fileno()).st_size < length:
                    os.pwrite(data.fileno(), b"\0", length - 1)
        except OSError as error:
            raise explained(error, self.path) from error

    @contextmanager
    def explaining(self) -> Iterator[None]:
        """Of LMDB's errors and of damage it is said where; what was never opened as an index is no damaged one."""
        try:
            yield
        except FAILS as error:
            self.explain(error)

    def explain(self, error: lmdb.Error | IndexDamagedError) -> NoReturn:
        """The same of an error that was caught: it is raised in the words of the contract."""
        reason = explained(error, self.path)
        if isinstance(error, lmdb.InvalidError) and not (self.path / OPENED).exists():
            raise IndexMismatchError(f"{self.path}/data.mdb is no index of dedupcrawl: name another folder") from error
        self.is_sound &= not isinstance(reason, IndexDamagedError)
        raise reason from (error if isinstance(error, lmdb.Error) else None)

    # Transactions

    def reading(self) -> Transaction:
        """A snapshot; to be used as a context manager while `lock` is held."""
        try:
            return self._env.begin(buffers=True)
        except lmdb.MapResizedError:
            return self._begin(write=False)

    def writing(self, work: Callable[[Transaction], Result]) -> Result:
        """What `work` returns in a write transaction, under `lock`; done again with more address space if needed."""
        while True:
            try:
                if self._is_sealed:
                    self._unseal()
                with self._begin(write=True) as txn:
                    before, self._has_written = txn.id() - 1, False
                    result = work(txn)
                self.known_id = before + self._has_written
                return result
            except lmdb.MapFullError:
                length = 2 * self._env.info()["map_size"]
                self._lengthen(length)
                self._env.set_mapsize(length)

    def _unseal(self) -> None:
        try:
            unseal(self._users)
        except OSError as error:
            raise explained(error, self.path) from error
        self._is_sealed = False

    def _begin(self, write: bool) -> Transaction:
        while True:
            try:
                return self._env.begin(write=write, buffers=True)
            except lmdb.MapResizedError:
                self._env.set_mapsize(0)  # another process has grown it: take its size

    # Pages

    def append(self, txn: Transaction, page: int, raw: bytes) -> None:
        """Add the next record.

        Raises:
            IndexDamagedError: There is one already.
        """
        key = _ID.pack(page)
        self._has_written = True
        if not txn.put(key, raw[:_PIECE], append=True, db=self._pages):
            raise IndexDamagedError(f"the index at {self.path} holds page {page} already")
        for at in range(_PIECE, len(raw), _PIECE):
            txn.put(key + _ID.pack(at), raw[at : at + _PIECE], append=True, db=self._pages)

    def put_tombstone(self, txn: Transaction, page: int) -> None:
        """Put a tombstone in the place of a record; LMDB uses its room again, once that of its neighbours is free."""
        raw = tombstone(self.fetch(txn)(page), page)
        self.clear(txn, "pages", _ID.pack(page))  # only a delete makes it merge half-empty pages
        txn.put(_ID.pack(page), raw, db=self._pages)

    def fetch(self, txn: Transaction) -> Callable[[int], Raw]:
        """Reads packed records; they are valid as long as the transaction."""
        get, key, pages = txn.get, _ID.pack, self._pages

        def read(page: int) -> Raw:
            raw = get(key(page), None, pages)
            if raw is None:
                raise IndexDamagedError(f"page {page} is missing from the index at {self.path}")
            parts = [raw]
            while len(parts[-1]) == _PIECE and (piece := get(key(page) + key(_PIECE * len(parts)), None, pages)):
                parts.append(piece)
            return b"".join(parts) if len(parts) > 1 else raw

        return read

    def count(self, txn: Transaction) -> int:
        """How many records there are: the id of the next one."""
        with txn.cursor(self._pages) as cursor:
            return self.number(cursor.key()) + 1 if cursor.last() else 0

    def number(self, key: Raw) -> int:
        """The id of the record of which the whole or a later piece lies under this key."""
        if len(key) not in (_ID.size, 2 * _ID.size):
            raise explained(IndexDamagedError(f"a page has a number of {len(key)} bytes"), self.path)
        return int.from_bytes(key[: _ID.size], "big")

    def rows(self, first: int, end: int | None = None) -> Iterator[tuple[int, bytes]]:
        """(id, packed record) from `first` on, up to `end` or the newest; no transaction stays open between rows."""
        for key, raw in self.keyed_rows(self._pages, _ID.pack(first)):
            page = self.number(key)
            if end is not None and page >= end:
                return
            if len(key) > _ID.size:
                continue
            if len(raw) < _PIECE:
                yield page, raw
                continue
            with self.lock, self.explaining(), self.reading() as txn:
                whole = bytes(self.fetch(txn)(page))  # or the tombstone that has taken its place meanwhile
            yield page, whole

    # Tables of cells

    def get(self, txn: Transaction, table: str, key: bytes) -> bytes | None:
        value = txn.get(key, None, self.tables[table])
        return None if value is None else bytes(value)

    def set_cell(self, txn: Transaction, cell: Cell) -> None:
        key, table = cell.group + cell.field, self.tables[cell.table]
        is_other = txn.delete(key, db=table) if cell.value is None else txn.put(key, cell.value, db=table)
        self._has_written |= is_other  # a transaction that changes nothing gives its number to the next one

    def clear(self, txn: Transaction, table: str, prefix: bytes) -> list[tuple[bytes, bytes]]:
        """Remove all rows whose keys begin so; returns them."""
        with txn.cursor(self.tables[table]) as cursor:
            gone = with_prefix(cursor, prefix)
        self._has_written |= bool(gone)
        for key, _ in gone:
            txn.delete(key, db=self.tables[table])
        return gone

    def keyed_rows(self, table: lmdb._Database, first: bytes = b"") -> Iterator[tuple[bytes, bytes]]:
        """(key, row) from the key `first` on, ascending; no transaction stays open between rows."""
        while True:
            with self.lock, self.explaining():
                self.check_usable()
                with self.reading() as txn, txn.cursor(table) as cursor:
                    rows = islice(cursor, ROWS_AT_ONCE) if cursor.set_range(first) else ()
                    block = [(bytes(key), bytes(value)) for key, value in rows]
            yield from block
            if len(block) < ROWS_AT_ONCE:
                return
            first = block[-1][0] + b"\0"

    def sync(self) -> None:
        """Bring everything to disk; what is there now survives a power cut too.

        Not by LMDB, which would keep the interpreter's lock meanwhile.
        """
        with open(self.path / "data.mdb", "rb") as data:
            os.fsync(data.fileno())

    def check_usable(self) -> None:
        if self.opened_by is None:
            raise ValueError(f"the index at {self.path} is closed")
        if self.opened_by != os.getpid():
            raise RuntimeError(f"the index at {self.path} was opened before a fork: open it in this process")

    def compact(self) -> None:
        """Write the file anew without the room that nothing takes; `lock` must be held, and no transaction be open.

        Raises:
            OSError: Others have the index open.
        """
        if not self._become_only_user():
            raise OSError(f"the index at {self.path} is in use: compact it when nobody else has it open")
        try:
            self._unseal()
            with self._begin(write=True) as txn:
                txn.drop(self.tables["agreed"], delete=False)  # nobody else has it open: no run is going on
            self._write_anew()
            self._open()
        finally:
            self._share()

    def close(self) -> None:
        """Sync and release. Where nobody else has it open, a small file of which much is free is written anew.

        It is sealed then.
        """
        try:
            length = None
            with suppress(OSError, lmdb.Error, IndexDamagedError):  # then it stays as it is
                if self.is_sound and self.opened_by == os.getpid() and self._become_only_user():
                    length = self._write_anew() if self._is_wasteful() else self._used_bytes
            self.opened_by = None
            if self.is_sound:
                self.sync()
            self._env.close()
            if length is not None:
                with suppress(OSError):
                    os.truncate(self.path / "data.mdb", length)  # from that of the map, which is room for nothing
                    seal(self._users, self.path, length)
        finally:
            os.close(self._users)

    def _share(self) -> None:
        """Be one of its users; waits while it is compacted or closed by the only one, who may have sealed it."""
        fcntl.flock(self._users, fcntl.LOCK_SH)
        self._is_sealed = True

    def _become_only_user(self) -> bool:
        """Whether nobody else has the index open, and whoever opens it waits from now on."""
        if not is_locked(self._users):
            return True
        self._share()
        return False

    def _is_wasteful(self) -> bool:
        used_bytes = self._used_bytes
        size = used_bytes // self._env.stat()["psize"]
        with self.reading() as txn:
            tables = map(txn.stat, self.tables.values())
            used = sum(one["branch_pages"] + one["leaf_pages"] + one["overflow_pages"] for one in tables)
        return used_bytes < _WRITTEN_ANEW_AT_CLOSE and size - used > max(_FEW_PAGES, _MUCH * size)

    def _write_anew(self) -> int:
        """Take a copy for the file, in which row follows row without room between them, and close this.

        Returns how long it is.
        """
        new = self.path / "compacted"
        shutil.rmtree(new, ignore_errors=True)  # of one that was cut off
        try:
            private_folder(new)
            tables = {name: self.keyed_rows(table) for name, table in self.tables.items()}
            length = write_tables(new, tables, self._env.info()["map_size"])
            self._env.close()
            self._unseal()
            shutil.copymode(self.path / "data.mdb", new / "data.mdb")
            os.replace(new / "data.mdb", self.path / "data.mdb")
            return length
        finally:
            shutil.rmtree(new, ignore_errors=True)
