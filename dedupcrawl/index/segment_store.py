"""SegmentStore: the segment files of one index folder, which of them count, and how they are merged and made again.

The manifest, a value in LMDB, names the files that count and says which arrays each holds. It is switched in one
transaction, so every process sees the old set or the new one. One process merges at a time, under a lock on a file.
Files that no manifest names are left over from a kill and are removed when the index is opened. Whatever is wrong with
a segment, it is made again from the journal.
"""

from __future__ import annotations

import fcntl
import logging
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import msgspec

from dedupcrawl.content.checks.base import Keys
from dedupcrawl.index.catalog import Catalog, Fetch, Fold, tables_of
from dedupcrawl.index.errors import UNREADABLE, IndexDamagedError
from dedupcrawl.index.file_lock import is_locked
from dedupcrawl.index.journal import OPENED, Journal
from dedupcrawl.index.lmdb_tables import Transaction
from dedupcrawl.index.record import Record, unpack
from dedupcrawl.index.schema import Schema
from dedupcrawl.index.segment import (
    SUFFIX,
    Ended,
    Segment,
    SegmentDamagedError,
    Table,
    Written,
    merged,
    open_segment,
    write_segment,
)
from dedupcrawl.index.tables import Cell
from dedupcrawl.output import open_private

logger = logging.getLogger(__name__)

CHECKED_AT_OPEN = 1 << 28  # bytes of the newest segments whose checksums are compared at open, a tenth of a second
_MANIFEST = b"segments"


class SegmentRow(msgspec.Struct, frozen=True, array_like=True):
    """One line of the manifest: a file, the ids of the records it covers, and what it holds, table by table."""

    name: str
    first: int
    end: int
    tables: tuple[Written, ...] = ()


Manifest = tuple[SegmentRow, ...]


class Row(msgspec.Struct, frozen=True, gc=False):
    """A record of the journal."""

    page: int
    raw: bytes
    record: Record
    keys: Sequence[Keys]


def segment_files(folder: Path) -> list[Path]:
    """All segment files of a folder, finished or not."""
    return [path for path in folder.iterdir() if path.suffix in (SUFFIX, ".tmp")]


class SegmentStore:
    """What one process knows of an index in a folder: its catalog, which follows the journal and the segment files.

    It reads, merges, repairs and removes these. One thread may use it.

    Attributes:
        catalog: The catalog.
        journal: The journal.
        seen: The last transaction whose effects the catalog knows; -1: none.

    Raises:
        IndexDamagedError: The journal is damaged. Damaged segments are made again, with a warning.
    """

    def __init__(self, journal: Journal, schema: Schema) -> None:
        self.catalog = Catalog(schema)
        self.seen = -1
        self.journal = journal
        self._segments: dict[SegmentRow, Segment] = {}
        self._retry_at = 0.0  # how many pages there are then
        self._lock = open_private(journal.path / OPENED, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        try:
            self._recover()
        except BaseException:
            self.close()
            raise

    @property
    def manifest(self) -> Manifest:
        """The segment files that it knows."""
        return tuple(self._segments)

    def path(self, name: str) -> Path:
        """Where a segment file lies."""
        return self.journal.path / name

    def look(self) -> None:
        """Have the catalog know everything that was written."""
        with self.snapshot():
            pass

    def snapshot(self) -> Transaction:
        """A read transaction; the catalog knows everything that it sees."""
        for _ in range(_ATTEMPTS):
            txn = self.journal.reading()
            try:
                self.catch_up(txn, txn.id())
                return txn
            except FileNotFoundError:
                txn.abort()  # another process has switched the manifest and removed a segment since
            except BaseException:
                txn.abort()
                raise
        raise IndexDamagedError(
            f"a segment of the index at {self.journal.path} is missing: open it again, to rebuild it"
        )

    def catch_up(self, txn: Transaction, seen: int) -> None:
        """Take over what other processes, and merges of this one, have done up to the transaction `seen`."""
        if seen == self.seen:
            return
        self._load(txn)
        fetch = self.journal.fetch(txn)
        for page in range(self.catalog.next_id, self.journal.count(txn)):
            self.catalog.add(self.catalog.schema.keys(unpack(fetch(page), page)))
        self.seen = seen

    def records(self, txn: Transaction) -> Fetch:
        """Reads records; for as long as the transaction."""
        return partial(self._record, txn)

    def _record(self, txn: Transaction, page: int) -> Record:
        return self.catalog.at_hand.get(page) or self.catalog.unpack(self.journal.fetch(txn)(page), page)

    # Writing

    def write(self, txn: Transaction, row: Row) -> None:
        """Append a row to the journal, and put tombstones in the places of the pages that it ends."""
        self.journal.append(txn, row.page, row.raw)
        for ended in row.record.ended:
            if ended < row.page:
                self.journal.put_tombstone(txn, ended)

    def post(self, rows: Iterable[Row], *, are_own: bool = True) -> None:
        """Have the catalog know what was written last, and nothing else; what is this process's own stays at hand."""
        for row in rows:
            self.catalog.add(row.keys)
            if are_own:
                self.catalog.remember(row.page, row.record)
        self.seen = self.journal.known_id
        self.fold()

    def _load(self, txn: Transaction) -> None:
        """Take the segments that count in a snapshot.

        Raises:
            FileNotFoundError: A newer manifest has replaced this one, or a file was removed by hand.
            IndexDamagedError: A segment or the manifest is not what was written.
        """
        manifest = self._stored(txn)
        if manifest == self.manifest:
            return
        try:
            self._segments = {row: self._segments.get(row) or self._open(row) for row in manifest}
        except SegmentDamagedError as error:
            raise IndexDamagedError(
                f"a segment of the index at {self.journal.path} is damaged ({error}): open it again, to make it anew"
            ) from None
        self.catalog.set_segments(list(self._segments.values()))

    def _current(self) -> Manifest:
        """The manifest as it is now, for who has no snapshot."""
        with self.journal.lock, self.journal.reading() as txn:
            return self._stored(txn)

    def _stored(self, txn: Transaction) -> Manifest:
        """The manifest as it is in a snapshot."""
        raw = self.journal.get(txn, "meta", _MANIFEST)
        try:
            return msgspec.msgpack.decode(raw, type=Manifest) if raw is not None else ()
        except UNREADABLE as error:
            raise IndexDamagedError(f"its manifest cannot be read: {error}") from None

    def _open(self, row: SegmentRow, *, is_read: bool = False) -> Segment:
        tables = open_segment(self.path(row.name), row.tables, is_read=is_read)
        if len(tables) != len(self.catalog.schema.payload_bits):
            raise SegmentDamagedError(f"{self.path(row.name)} has other tables than the index")
        return Segment(row.first, row.end, tables)

    def _damaged(self, manifest: Sequence[SegmentRow], budget: float = math.inf) -> Iterator[tuple[SegmentRow, str]]:
        """The files that are missing or not what was written, the newest first, and what is wrong with each.

        Of the newest, `budget` bytes in all, everything is read.
        """
        for row in reversed(manifest):
            try:
                budget -= self.path(row.name).stat().st_size
                self._open(row, is_read=budget >= 0)
            except (SegmentDamagedError, FileNotFoundError) as error:
                yield row, str(error)

    # Merging

    @contextmanager
    def locked(self, *, waits: bool = True) -> Iterator[bool]:
        """Let nobody else merge meanwhile; False where somebody does and this is not to wait until that is done."""
        is_ours = waits or not is_locked(self._lock)
        try:
            if waits:
                fcntl.flock(self._lock, fcntl.LOCK_EX)
                self._retry_at = math.inf  # nor does this process begin to
            yield is_ours
        finally:
            if is_ours:
                fcntl.flock(self._lock, fcntl.LOCK_UN)
            if waits:
                self._retry_at = 0

    def fold(self) -> None:
        """Fold full batches, beside the caller, unless another process is at it."""
        now = self.catalog.next_id
        if now < self._retry_at or not self.catalog.has_full_batch:
            return
        if self.catalog.fold_beside(partial(self._merge, self.manifest)):
            self._retry_at = now + min(_RETRY_PAGES, self.catalog.schema.batch_pages)

    def _merge(self, manifest: Manifest, fold: Fold) -> None:
        with self.journal.explaining(), self.locked(waits=False) as is_ours:
            if is_ours and self._current() == manifest:
                self.merge(fold, manifest)

    def merge(self, fold: Fold, manifest: Manifest) -> None:
        """Write what `fold` describes as one segment file and switch the manifest to it. The merge lock must be held.

        A segment that fails its checksum is not merged: the new one is then made from the journal.
        """
        old = manifest[fold.stay :]
        if damage := [reason for _, reason in self._damaged(old)]:
            logger.warning("%s; it is rebuilt from the stored pages", damage[0])
            row = self._made_again(manifest, fold.first, fold.end)
        else:
            row = self._written(manifest, fold.first, fold.end, fold.parts(), fold.left_out)
        self._publish((*manifest[: fold.stay], row), old)

    def _written(
        self, manifest: Manifest, first: int, end: int, parts: list[list[Table]], left_out: Sequence[Ended]
    ) -> SegmentRow:
        """Write a file that no line of the manifest names."""
        generation = 1 + max((int(row.name.split("-")[0], 16) for row in manifest), default=0)
        name = f"{generation:08x}-{first:08x}-{end:08x}{SUFFIX}"
        return SegmentRow(name, first, end, tuple(write_segment(self.path(name), parts, left_out)))

    def _publish(self, manifest: Manifest, old: Sequence[SegmentRow]) -> None:
        cell = Cell("meta", b"", _MANIFEST, msgspec.msgpack.encode(manifest))
        with self.journal.lock:
            self.journal.writing(lambda txn: self.journal.set_cell(txn, cell))
        self.journal.sync()
        for row in old:
            self.path(row.name).unlink(missing_ok=True)

    # Repair

    def _recover(self) -> None:
        """Make damaged or missing segments again and remove files that no manifest names; at open.

        Segments whose checksums are too many to be read at open are checked when they are merged, and by `verify`.
        """
        with self.locked(waits=False) as is_ours:
            if not is_ours:
                return  # another process has the index open and merges: it has looked already
            manifest = self._current()
            for row, reason in self._damaged(manifest, CHECKED_AT_OPEN):
                logger.warning("%s; it is rebuilt from the stored pages", reason)
                new = self._made_again(manifest, row.first, row.end)
                manifest = tuple(new if each is row else each for each in manifest)
                self._publish(manifest, [row])
            names = {row.name for row in manifest}
            for path in segment_files(self.journal.path):
                if path.name not in names:
                    path.unlink(missing_ok=True)

    def _made_again(self, manifest: Manifest, first: int, end: int) -> SegmentRow:
        """Write a file from the records that it covers, in bounded memory: of an ended page its tombstone."""
        schema = self.catalog.schema
        if not schema.checks:
            raise IndexDamagedError(
                f"a segment of the index at {self.journal.path} is damaged: open it with its checks, to make it again"
            )
        made = Catalog(schema, first)
        for page, raw in self.journal.rows(first, end):
            if page != made.next_id:
                break
            made.add(schema.keys(unpack(raw, page)))
            if fold := made.fold():
                made.take(fold, merged(fold.first, fold.end, fold.parts(), fold.left_out))
        if made.next_id != end:
            raise IndexDamagedError(
                f"page {made.next_id} is missing from the index at {self.journal.path}: delete it, or bring back a copy"
            )
        parts = tables_of([*made.segments, *(batch.fold() for batch in made.batches)])
        return self._written(manifest, first, end, parts, [b""] * len(parts))

    def problems(self) -> list[str]:
        """What is wrong with the files that count, every byte read; or what keeps them from being read."""
        try:
            return [reason for _, reason in self._damaged(self.manifest)][::-1]
        except OSError as error:
            return [str(error)]

    def close(self) -> None:
        """Release the lock file and the maps; nothing may be being merged."""
        self._segments.clear()
        os.close(self._lock)


_RETRY_PAGES = 64  # pages until a process asks again whether it may merge
_ATTEMPTS = 10  # to open the segments of a manifest while other processes switch it
