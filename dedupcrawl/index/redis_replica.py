"""Replica: a process's own copy of a shared journal, which it searches; what it needs of memory is bounded.

Rows lie in a temporary file and postings, once folded, in others that are mapped, so the system may take their memory
back. In memory stay eight bytes a row and the tail.
"""

from __future__ import annotations

import os
import tempfile
import threading
from array import array
from collections.abc import Iterable, Sequence

import numpy as np

from dedupcrawl.index.background import Background
from dedupcrawl.index.catalog import Catalog, Fold
from dedupcrawl.index.record import renumbered, tombstone, unpack
from dedupcrawl.index.schema import Schema
from dedupcrawl.index.segment import NO_IDS, NO_KEYS, Dropped, Segment, Table, merge_tables

UNNUMBERED = 0
"""The number that rows on the wire are packed with: a row is packed before it is known which number it gets."""

_LENGTH_BYTES = 4


class Replica:
    """Rows 0 … catalog.next_id - 1 and their postings. One thread at a time may use it.

    Args:
        schema: The tables.
        batch_pages: Pages in dictionaries before they are folded.
        lock: Held whenever the replica is used.

    Attributes:
        catalog: The postings.
    """

    def __init__(self, schema: Schema, batch_pages: int, lock: threading.RLock) -> None:
        self.catalog = Catalog(schema, batch_pages)
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
        place, data = self._end, len(raw).to_bytes(_LENGTH_BYTES, "little") + raw
        written = os.pwrite(self._file.fileno(), data, place)
        while written < len(data):
            written += os.pwrite(self._file.fileno(), data[written:], place + written)
        self._end += len(data)
        return place

    def _fold(self) -> None:
        """Fold full batches, beside the caller."""
        fold = None if self._background.busy else self.catalog.fold()
        if fold is not None:
            self._background.start(lambda: self._merge(fold))

    def _merge(self, fold: Fold) -> None:
        tables = tuple(_mapped(parts, out) for parts, out in zip(fold.parts(), fold.left_out(), strict=True))
        with self._lock:
            stay = self.catalog.segments[: fold.stay]
            self.catalog.set_segments([*stay, Segment(fold.first, fold.end, tables)])


def _mapped(parts: Sequence[Table], out: Dropped | None) -> Table:
    """Sorted tables merged into one, in files without a name."""
    with tempfile.TemporaryFile() as key_file, tempfile.TemporaryFile() as id_file:
        for keys, ids in merge_tables(parts, out):
            key_file.write(keys.data)
            id_file.write(ids.data)
        if not key_file.tell():
            return NO_KEYS, NO_IDS
        key_file.flush()
        id_file.flush()
        mapped = np.memmap(key_file, np.uint64, "r"), np.memmap(id_file, np.uint32, "r")
        return np.asarray(mapped[0]), np.asarray(mapped[1])
