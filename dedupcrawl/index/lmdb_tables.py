"""Rows of LMDB's tables: those with a prefix, and all of them in a file of their own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

import lmdb

from dedupcrawl.index.tables import ROWS_AT_ONCE, parts
from dedupcrawl.output import PRIVATE

_COPIED_AT_ONCE = 16 * ROWS_AT_ONCE  # in one transaction

Transaction: TypeAlias = "lmdb.Transaction[memoryview]"


def with_prefix(cursor: lmdb.Cursor[memoryview], prefix: bytes) -> list[tuple[bytes, bytes]]:
    """(key, row) of all keys of a table that start with `prefix`."""
    rows, length = [], len(prefix)
    is_row = cursor.set_range(prefix)
    while is_row and (key := cursor.key())[:length] == prefix:
        rows.append((bytes(key), bytes(cursor.value())))
        is_row = cursor.next()
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
