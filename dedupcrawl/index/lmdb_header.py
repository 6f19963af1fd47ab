"""The header of an index in LMDB: by which checks and in which format it was made, written before its first page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from dedupcrawl.content.checks.base import Check
from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.journal import Journal, Transaction
from dedupcrawl.index.schema import Header, check_header, header_of, read_header
from dedupcrawl.index.segment_store import segment_files

_HEADER = b"header"


def open_header(journal: Journal, path: Path, checks: Sequence[Check], batch_pages: int) -> Header:
    """The header that is stored; that of a new index is made first.

    Args:
        journal: Of the index.
        path: Its folder.
        checks: By which a new index is made, and which one that is there must agree with.
        batch_pages: Of a new index.

    Raises:
        IndexDamagedError: There are pages, but no header.
        IndexMismatchError: The index was made by other checks or settings.
    """

    def work(txn: Transaction) -> bytes | None:
        stored = journal.get_meta(txn, _HEADER)
        if stored is None and checks and not journal.count(txn) and not any(segment_files(path)):
            stored = msgspec.msgpack.encode(header_of(checks, batch_pages))
            journal.put_meta(txn, _HEADER, stored)
        return stored

    stored = journal.writing(work)
    if stored is None:
        raise IndexDamagedError(f"the index at {path} has no header: delete that folder, or bring back a copy")
    header = read_header(stored, str(path))
    check_header(header, checks, str(path))
    return header
