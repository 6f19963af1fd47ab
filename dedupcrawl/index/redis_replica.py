"""Replica: this process's copy of the rows on a server; and what rows are known by there, without their postings."""

from __future__ import annotations

import os
import tempfile
import threading
from array import array
from collections.abc import Iterable, Sequence

import numpy as np

from dedupcrawl.content.checks.base import Keys
from dedupcrawl.content.symbols import fmix64
from dedupcrawl.index.catalog import Background, Catalog, Fold
from dedupcrawl.index.record import Record, pack, renumbered, tombstone, unpack
from dedupcrawl.index.rows import Entry
from dedupcrawl.index.schema import Schema, url_key
from dedupcrawl.index.segment import merged

NOTHING = (b"", b"")
"""In the place of a row and its tokens, or of another pair, where there is none."""

_UNNUMBERED = 0  # rows on the wire are packed with it: a row is packed before it is known which number it gets
_LENGTH_BYTES = 4


def numbered(raw: bytes, page: int) -> bytes:
    """The packed record of a row as the server has it."""
    return renumbered(raw, _UNNUMBERED, page)


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
            record = unpack(raw, _UNNUMBERED)
            keys = self.catalog.schema.keys(record)
            self._places.append(self._write(numbered(raw, page)))
            for ended in record.ended:
                if ended < page:
                    self._places[ended] = self._write(tombstone(self.fetch(ended), ended))
            self.catalog.add(keys)
            self._fold()

    def fetch(self, page: int) -> bytes:
        """The packed record of a row."""
        place = self._places[page]
        length = int.from_bytes(os.pread(self._file.fileno(), _LENGTH_BYTES, place), "little")
        return os.pread(self._file.fileno(), length, place + _LENGTH_BYTES)

    def on_the_wire(self, page: int) -> bytes:
        """The row as the server has it."""
        return renumbered(self.fetch(page), page, _UNNUMBERED)

    def packed(self, record: Record) -> tuple[bytes, bytes]:
        """A new row as the server is to have it, and its tokens."""
        schema = self.catalog.schema
        return pack(record, _UNNUMBERED), write_set(schema, schema.keys(record))

    def tombstone(self, page: int | None) -> tuple[bytes | int, bytes]:
        """Number and tombstone of a page that is replaced or forgotten."""
        if page is None:
            return NOTHING
        return page, renumbered(tombstone(self.fetch(page), page), page, _UNNUMBERED)

    def wait(self) -> None:
        """Return when nothing is being folded. The lock must be free."""
        self._background.wait()

    def close(self) -> None:
        """Release the files."""
        self.catalog.set_segments([])
        self._file.close()

    def _write(self, raw: bytes) -> int:
        place = self._end
        left = memoryview(len(raw).to_bytes(_LENGTH_BYTES, "little") + raw)
        end = place + len(left)
        while left:  # the kernel takes what it takes at a time
            left = left[os.pwrite(self._file.fileno(), left, end - len(left)) :]
        self._end = end
        return place

    def _fold(self) -> None:
        """Fold full batches, beside the caller."""
        fold = None if self._background.busy else self.catalog.fold()
        if fold is not None:
            self._background.start(lambda: self._merge(fold))

    def _merge(self, fold: Fold) -> None:
        segment = merged(fold.first, fold.end, fold.parts(), fold.left_out)
        with self._lock:
            self.catalog.take(fold, segment)


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


def write_set(schema: Schema, keys: Sequence[Keys]) -> bytes:
    """Tokens of everything that a row is posted under, by table."""
    sets = [
        tokens(table, found >> np.uint64(bits))
        for table, (found, bits) in enumerate(zip(keys, schema.payload_bits, strict=True))
        if found.size
    ]
    return b"".join(sets)


def read_set(schema: Schema, entry: Entry, replaces: int | None) -> list[WireProbe]:
    """What would make the search of an offer find something else.

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
