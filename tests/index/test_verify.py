"""Verification finds what is wrong, whatever it is."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

import pytest

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


def test_a_missing_segment() -> None:
    catalog, rows = made()
    catalog.segments = catalog.segments[1:]
    assert problems(catalog, rows) == ["the postings of the pages 0 to 4 are missing"]


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (lambda keys, ids: keys.reverse(), "out of order"),
        (lambda keys, ids: ids.__setitem__(0, 4), "out of order"),
        (lambda keys, ids: ids.__setitem__(0, ids[-1]), "is not what the pages say"),
        (lambda keys, ids: keys.__setitem__(1, keys[1] + 1), "is not what the pages say"),
    ],
)
def test_wrong_postings(changed: Callable[[Any, Any], object], told: str) -> None:
    catalog, rows = made()
    change(catalog, 0, changed)
    found = problems(catalog, rows)
    assert len(found) == 1
    assert told in found[0]
    assert "0 to 4" in found[0]


def test_missing_pages() -> None:
    catalog, rows = made()
    assert problems(catalog, rows[:7]) == ["the pages from 7 on are missing"]
    assert problems(catalog, rows[:3] + rows[4:]) == ["the pages 3 to 4 are missing"]
