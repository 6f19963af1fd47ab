"""Records that a catalog has at hand are those of pages that have not ended."""

from __future__ import annotations

from dedupcrawl.core.main_outline import READ_LAST
from dedupcrawl.index.catalog import Catalog
from dedupcrawl.index.record import Record, pack, record_of, tombstone
from dedupcrawl.index.schema import Schema, header_of
from dedupcrawl.index.segment import Segment
from dedupcrawl.index.steps import Kept
from tests.index.conftest import AnyIndex
from tests.index.toys import CHECKS, duplicate_of, offer, page


def a_record(catalog: Catalog, number: int, *ended: int) -> Record:
    """Of a page."""
    return record_of(page(f"http://{number}", number), catalog.schema.names, ended, ())


def test_a_page_that_a_later_record_ends_is_at_hand_no_more() -> None:
    catalog = Catalog(Schema(header_of(CHECKS, 4), CHECKS))
    for number in range(3):
        record = a_record(catalog, number)
        catalog.remember(catalog.add(catalog.schema.keys(record)), record)
    assert list(catalog.at_hand) == [0, 1, 2]
    catalog.add(catalog.schema.keys(a_record(catalog, 3, 1)))
    assert list(catalog.at_hand) == [0, 2]


def test_nothing_is_at_hand_once_segments_of_unknown_pages_count() -> None:
    catalog = Catalog(Schema(header_of(CHECKS, 4), CHECKS))
    record = a_record(catalog, 0)
    catalog.remember(catalog.add(catalog.schema.keys(record)), record)
    known = catalog.batches[0].fold()
    catalog.set_segments([Segment(0, 4, known.tables)])
    assert not catalog.at_hand


def test_the_first_make_room_and_tombstones_take_none() -> None:
    catalog = Catalog(Schema(header_of(CHECKS, 4), CHECKS))
    for number in range(READ_LAST + 1):
        catalog.remember(number, a_record(catalog, number))
    assert list(catalog.at_hand) == list(range(1, READ_LAST + 1))
    raw = pack(a_record(catalog, 0), 0)
    assert catalog.unpack(tombstone(raw, 0), 0).page is None
    assert 0 not in catalog.at_hand


def test_a_search_that_is_under_way_leaves_nothing_of_a_page_that_ends_meanwhile(index: AnyIndex) -> None:
    offer(index, page("http://a", 7))
    index._catalog.at_hand.clear()  # as if many had come since
    found = index.search(page("http://b", 7))
    pages = [row[2] for of_check in found.signed for row in found.accepted(*of_check)]
    assert pages
    assert index.forget(["http://a"]) == 1
    assert index.entry("http://a") is None
    kept = list(map(found.entry_of, pages))
    assert [one.url for one in kept if one] in ([], ["http://a"])  # as it was found, or as it is
    assert isinstance(offer(index, page("http://b", 7)), Kept)
    assert duplicate_of(offer(index, page("http://c", 7))) == "http://b"
