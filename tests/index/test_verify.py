"""Verification finds what is wrong, whatever it is."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

import pytest

from dedupcrawl.core.postings import Tail
from dedupcrawl.index.catalog import Catalog
from dedupcrawl.index.record import pack, record_of
from dedupcrawl.index.schema import Schema, header_of
from dedupcrawl.index.segment import Segment
from dedupcrawl.index.verify import problems
from tests.index.toys import CHECKS, page

Rows = list[tuple[int, bytes]]


def made() -> tuple[Catalog, Rows]:
    """Two segments of four pages and a tail of two; page 1 was replaced by page 6."""
    catalog = Catalog(Schema(header_of(CHECKS, 4), CHECKS))
    rows: Rows = []
    for number in range(10):
        entry = page(f"http://{number if number != 6 else 1}", number + 1, b"abc")
        record = record_of(entry, catalog.schema.names, (1,) if number == 6 else (), ())
        rows.append((number, pack(record, number)))
        catalog.add(catalog.schema.keys(record))
    catalog.set_segments([batch.fold() for batch in catalog.batches[:2]])
    return catalog, rows


def change(catalog: Catalog, table: int, changed: Callable[[Any, Any], object]) -> None:
    """Change arrays of the first segment in place."""
    first = catalog.segments[0]
    tables = [(array("Q", keys), array("I", ids)) for keys, ids in first.tables]
    changed(*tables[table])
    catalog.set_segments([Segment(first.first, first.end, tuple(tables)), *catalog.segments[1:]])


def without_first_segment(catalog: Catalog, rows: Rows) -> None:
    catalog.segments = catalog.segments[1:]


def without_tail(catalog: Catalog, rows: Rows) -> None:
    catalog.batches = []


def without_a_posting_of_the_tail(catalog: Catalog, rows: Rows) -> None:
    keys, pages = catalog.batches[0].tails[0].table()
    tail = Tail(catalog.schema.payload_bits[0])
    for key, owner in zip(keys[1:], pages[1:], strict=True):
        tail.add(array("Q", [key]), owner)
    catalog.batches[0].tails[0] = tail


def without_postings_of_the_replaced(catalog: Catalog, rows: Rows) -> None:
    first = catalog.segments[0]
    left = [[row for row in zip(*table, strict=True) if row[1] != 1] for table in first.tables]
    kept = tuple((array("Q", [key for key, _ in rows]), array("I", [page for _, page in rows])) for rows in left)
    catalog.set_segments([Segment(first.first, first.end, kept), catalog.segments[1]])


def with_other_rows(catalog: Catalog, rows: Rows) -> None:
    rows[3], rows[9] = (3, b"noise"), (9, rows[8][1])


def first_segment(changed: Callable[[Any, Any], object]) -> Callable[[Catalog, Rows], None]:
    return lambda catalog, rows: change(catalog, 0, changed)


DISORDER = "table 0 of the segment of the pages 0 to 4 is out of order"
OTHER = "table 0 of the pages {} is not what the pages say"


@pytest.mark.parametrize(
    ("damaged", "told"),
    [
        (lambda catalog, rows: None, []),
        (without_first_segment, ["the postings of the pages 0 to 4 are missing"]),
        (without_tail, ["the postings of the pages 8 to 10 are missing"]),
        (first_segment(lambda keys, ids: keys.reverse()), [DISORDER]),
        (first_segment(lambda keys, ids: ids.__setitem__(0, 4)), [DISORDER]),
        (first_segment(lambda keys, ids: ids.__setitem__(0, ids[-1])), [OTHER.format("0 to 4")]),
        (first_segment(lambda keys, ids: keys.__setitem__(1, keys[1] + 1)), [OTHER.format("0 to 4")]),
        (without_a_posting_of_the_tail, [OTHER.format("8 to 10")]),
        (without_postings_of_the_replaced, []),
        (with_other_rows, ["kept page 3 fails its checksum", "kept page 9 fails its checksum"]),
        (lambda catalog, rows: rows.__delitem__(slice(7, None)), ["the pages from 7 on are missing"]),
        (lambda catalog, rows: rows.__delitem__(3), ["the pages 3 to 4 are missing"]),
    ],
)
def test_each_problem_is_one_sentence(damaged: Callable[[Catalog, Rows], None], told: list[str]) -> None:
    catalog, rows = made()
    damaged(catalog, rows)
    assert problems(catalog, rows) == told
