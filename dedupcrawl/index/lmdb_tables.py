"""Rows of LMDB's tables: those with a prefix, and all of them in a file of their own."""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TypeAlias

import lmdb

from dedupcrawl.index.tables import ROWS_AT_ONCE, parts
from dedupcrawl.output import PRIVATE

_LAST_ID_AT = 144  # bytes before it in each of the first two pages of the file
_COPIED_AT_ONCE = 16 * ROWS_AT_ONCE  # in one transaction

Transaction: TypeAlias = "lmdb.Transaction[memoryview]"


def last_ids(path: Path, page_bytes: int) -> Callable[[], tuple[int, int]]:
    """Reads the numbers of the last two transactions that have written, where LMDB's file says so.

    LMDB itself is asked by `Environment.info`, which takes four times the instructions.
    """
    with open(path, "rb") as data:
        first_pages = mmap.mmap(data.fileno(), 2 * page_bytes, access=mmap.ACCESS_READ)
    return partial(struct.Struct(f"={_LAST_ID_AT}xQ{page_bytes - 8}xQ").unpack_from, first_pages)


def with_prefix(txn: Transaction, table: lmdb._Database, prefix: bytes) -> list[tuple[bytes, bytes]]:
    """(key, row) of all keys that start with `prefix`."""
    rows, length = [], len(prefix)
    with txn.cursor(table) as cursor:
        if cursor.set_range(prefix):
            for key, value in cursor:
                if key[:length] != prefix:
                    break
                rows.append((bytes(key), bytes(value)))
    return rows


def write_tables(folder: Path, tables: Mapping[str, Iterable[tuple[bytes, bytes]]], map_bytes: int) -> int:
    """Write tables, by name, into a new file in which row follows row without room between them.

    Args:
        folder: For the file; it exists.
        tables: Name → (key, row), ascending.
        map_bytes: Address space, not less than all rows take.

    Returns:
        How long the file is, in bytes; it is on disk then.
    """
    with lmdb.open(str(folder), map_bytes, mode=PRIVATE, max_dbs=len(tables), sync=False) as env:
        for name, rows in tables.items():
            table = env.open_db(name.encode())
            for block in parts(rows, _COPIED_AT_ONCE):
                with env.begin(table, write=True) as txn, txn.cursor() as cursor:
                    cursor.putmulti(block, append=True)
        length = int(env.info()["last_pgno"] + 1) * int(env.stat()["psize"])
    with open(folder / "data.mdb", "r+b") as data:
        data.truncate(max(length, os.fstat(data.fileno()).st_size))  # some of the freed pages are unwritten
        os.fsync(data.fileno())
    return length
