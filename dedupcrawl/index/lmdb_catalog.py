"""LmdbCatalog: what one process knows of an index in a folder, kept abreast of what all processes do to it."""

from __future__ import annotations

from pathlib import Path

from dedupcrawl.index.background import Background
from dedupcrawl.index.catalog import Catalog, Fold
from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.journal import Journal, Transaction
from dedupcrawl.index.record import unpack
from dedupcrawl.index.schema import Schema
from dedupcrawl.index.segment_store import Manifest, SegmentStore

_RETRY_PAGES = 64  # pages until a process asks again whether it may merge
_ATTEMPTS = 10  # to open the segments of a manifest while other processes switch it


class LmdbCatalog:
    """A catalog that follows the journal, and the segments that any process makes of it. One thread may use it.

    Args:
        path: The index's folder.
        journal: Its journal.
        schema: Its schema.
        batch_pages: Pages in memory before they are folded.

    Attributes:
        catalog: The catalog.
        store: The segment files.
        seen: The last transaction whose effects the catalog knows; -1: none.

    Raises:
        IndexDamagedError: The journal is damaged. Damaged segments are made again, with a warning.
    """

    def __init__(self, path: Path, journal: Journal, schema: Schema, batch_pages: int) -> None:
        self._path = path
        self._journal = journal
        self.catalog = Catalog(schema, batch_pages)
        self.seen = -1
        self._retry_at = 0
        self._background = Background()
        self.store = SegmentStore(journal, schema, batch_pages)
        try:
            self.store.recover()
        except BaseException:
            self.store.close()
            raise

    def wait(self) -> None:
        """Return when nothing is being merged."""
        self._background.wait()

    def close(self) -> None:
        """Release the segments; nothing may be being merged."""
        self.store.close()

    def snapshot(self) -> Transaction:
        """A read transaction; the catalog knows everything that it sees."""
        for _ in range(_ATTEMPTS):
            txn = self._journal.reading()
            try:
                if txn.id() != self.seen:
                    self.catch_up(txn, txn.id())
                return txn
            except FileNotFoundError:
                txn.abort()  # another process has switched the manifest and removed a segment since
            except BaseException:
                txn.abort()
                raise
        raise IndexDamagedError(f"a segment of the index at {self._path} is missing: open it again, to make it anew")

    def catch_up(self, txn: Transaction, seen: int) -> None:
        """Take over what other processes, and merges of this one, have done."""
        segments = self.store.load(txn)
        if segments is not None:
            self.catalog.set_segments(segments)
        fetch = self._journal.fetch(txn)
        for page in range(self.catalog.next_id, self._journal.count(txn)):
            self.catalog.add(unpack(fetch(page), page))
        self.seen = seen

    def fold(self) -> None:
        """Fold full batches, beside the caller, unless another process is at it."""
        if self._background.busy or self.catalog.next_id < self._retry_at:
            return
        fold = self.catalog.fold()
        if fold is None:
            return
        self._retry_at = self.catalog.next_id + min(_RETRY_PAGES, self.catalog.batch_pages)
        if not self.store.try_lock():
            return
        with self._journal.reading() as txn:
            current = self.store.is_current(txn)
        if current:
            manifest = self.store.manifest
            self._background.start(lambda: self._merge(fold, manifest))
        else:
            self.store.unlock()

    def _merge(self, fold: Fold, manifest: Manifest) -> None:
        try:
            self.store.merge(fold, manifest)
        finally:
            self.store.unlock()
