"""Verification of an index and of its journal: every invariant, each problem in one sentence."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence

from dedupcrawl.core.postings import are_in_order, checksum
from dedupcrawl.index.catalog import Catalog
from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.journal import Journal
from dedupcrawl.index.record import DIGEST_BYTES, Raw, checked, decompressed, unpack
from dedupcrawl.index.segment import Segment
from dedupcrawl.index.tables import BESIDE, NUMBER_BYTES, RESTORED, REWRITE, VERDICT

Told = Callable[[int, int], None]
"""Called with how many records are done, and how many there are."""

_WORD = (1 << 64) - 1  # a number of 64 bits
_COMPRESSED: dict[str | bytes, int] = {  # kind of what is known of a URL, or table → where in its values
    **dict.fromkeys((VERDICT, REWRITE), NUMBER_BYTES),
    **dict.fromkeys((RESTORED, BESIDE, "states", "agreed"), 0),
}


def table_problems(journal: Journal) -> list[str]:
    """What is wrong with the tables of a journal: each has as many rows as it says, in order, with good checksums.

    What breaks LMDB's tree may end the process.

    Raises:
        IndexDamagedError: LMDB cannot go on, or a page is damaged.
    """
    faults = []
    with journal.lock, journal.explaining(), journal.reading() as txn:
        fetch = journal.fetch(txn)
        for name, table in journal.tables.items():
            expected, count, last, checked_page = txn.stat(table)["entries"], 0, b"", -1
            with txn.cursor(table) as cursor:
                for count, (key, row) in enumerate(cursor, 1):
                    if last >= (last := bytes(key)) or count > expected:
                        break
                    if name == "pages":
                        page = journal.number(key)
                        if page != checked_page:  # else the key is that of a later piece
                            checked(fetch(page), page)
                        checked_page = page
                    elif (kind := last[DIGEST_BYTES : DIGEST_BYTES + 1] if name == "urls" else name) in _COMPRESSED:
                        decompressed(row[_COMPRESSED[kind] :], f"a row of {name}")
                else:
                    if count == expected:
                        continue
            faults.append(f"the table {name} has other rows than it should, or not in order")
    return faults


def problems(catalog: Catalog, rows: Iterable[tuple[int, Raw]], advance: Told | None = None) -> list[str]:
    """What is wrong with an index; empty when it is sound.

    Segments follow each other without a gap, their keys ascend, their pages lie in their range; the journal has every
    record, each with a good checksum; every key of every page that is not ended is posted, and nothing else is. That
    last is compared by a sum of hashes over all postings of a range, so memory stays bounded.

    Args:
        catalog: What one process sees; it must not change meanwhile.
        rows: (id, packed record) of all records below `catalog.next_id`, in order.
        advance: Is told of the records read.
    """
    faults = []
    parts = [*catalog.segments, *(batch.fold() for batch in catalog.batches)]
    end = 0
    for part in parts:
        if part.first != end:
            faults.append(f"the postings of the pages {end} to {part.first} are missing")
        faults += _disorder(part)
        end = part.end
    if end != catalog.next_id:
        faults.append(f"the postings of the pages {end} to {catalog.next_id} are missing")
    return faults or _differences(catalog, parts, rows, advance or (lambda done, total: None))


def _disorder(part: Segment) -> Iterator[str]:
    for table, (keys, pages) in enumerate(part.tables):
        if not are_in_order(keys, pages, part.first, part.end):
            yield f"table {table} of the segment of the pages {part.first} to {part.end} is out of order"


def _differences(
    catalog: Catalog, parts: Sequence[Segment], rows: Iterable[tuple[int, Raw]], advance: Told
) -> list[str]:
    schema = catalog.schema
    ended = bytes(catalog.ended())
    faults = []
    expected = [[0] * len(schema.payload_bits) for _ in parts]
    place = following = 0
    advance(0, catalog.next_id)
    for page, raw in rows:
        if page != following:
            faults.append(f"the pages {following} to {page} are missing")
        following = page + 1
        advance(following, catalog.next_id)
        while page >= parts[place].end:
            place += 1
        try:
            keys = schema.keys(unpack(raw, page))
        except IndexDamagedError as error:
            faults.append(str(error))
            continue
        for table, posted in enumerate(keys):
            left_out = b"" if table == schema.ended else ended
            expected[place][table] += checksum(posted, array("I", [page]) * len(posted), left_out)
    if following < catalog.next_id:
        faults.append(f"the pages from {following} on are missing")
    if faults:
        return faults
    readable = {*(slot for slot, _ in schema.checks), schema.urls, schema.ended, schema.inside}
    for part, sums in zip(parts, expected, strict=True):
        for table in sorted(readable):
            if checksum(*part.tables[table], b"" if table == schema.ended else ended) != sums[table] & _WORD:
                faults.append(f"table {table} of the pages {part.first} to {part.end} is not what the pages say")
    return faults
