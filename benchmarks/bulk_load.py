"""Fills an index with pages that nobody asks about, for benchmarks that need a large one.

The same rows and the same segments as page by page: rows go into the journal many to a transaction, and their postings
are sorted at once instead of being merged again at each level.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from dedupcrawl.index.catalog import Batch, tables_of
from dedupcrawl.index.journal import Transaction
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.record import Entry, pack, record_of, unpack
from dedupcrawl.index.segment import Segment, merge_from, merged

_ROWS = 4096  # of a transaction
_RUN_PAGES = 1 << 17  # whose postings are sorted in memory


def load(index: LmdbIndex, entries: Sequence[Entry]) -> None:
    """Append rows; what is kept is `entries`, all of which must be of different URLs."""
    journal, names = index.journal, index._catalog.schema.names

    def append(txn: Transaction) -> None:
        first = journal.count(txn)
        for number, entry in enumerate(rows, first):
            journal.append(txn, number, pack(record_of(entry, names, (), ()), number))

    rest = iter(entries)
    while rows := list(islice(rest, _ROWS)):
        with journal.lock:
            journal.writing(append)


def fold(index: LmdbIndex) -> None:
    """Make the postings of all whole batches of rows that have no segment yet, and let the index see them."""
    index._store.catalog.wait()
    store, journal, batch_pages = index._store, index.journal, index._catalog.schema.batch_pages
    with store.locked():
        with journal.lock, journal.reading() as txn:
            count = journal.count(txn)
            store._load(txn)
        manifest = store.manifest
        begin, end = manifest[-1].end if manifest else 0, count // batch_pages * batch_pages
        if end <= begin:
            return
        stay = merge_from([row.end - row.first for row in manifest], end - begin, batch_pages)
        runs = [store._open(row) for row in manifest[stay:]]
        for first in range(begin, end, _RUN_PAGES):
            runs.append(_run(index, first, min(first + _RUN_PAGES, end)))
        parts = tables_of(runs)
        row = store._written(manifest, runs[0].first, end, parts, [b""] * len(parts))
        store._publish((*manifest[:stay], row), manifest[stay:])
    index._look()


def _run(index: LmdbIndex, first: int, end: int) -> Segment:
    """Sorted postings of some rows, in a file without a name."""
    schema = index._catalog.schema
    batch = Batch(first, schema.payload_bits)
    for page, raw in index.journal.rows(first, end):
        batch.add(schema.keys(unpack(raw, page)))
    segment = batch.fold()
    return merged(first, end, [[table] for table in segment.tables], [b""] * len(segment.tables))
