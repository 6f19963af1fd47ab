"""Records: what was packed comes back; whatever else there is, is an error that can be caught."""

from __future__ import annotations

import contextlib
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.index import record
from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.record import (
    Entry,
    compressed,
    decompressed,
    entry_of,
    forgetting,
    pack,
    plain,
    record_of,
    signatures,
    storable,
    tombstone,
    unpack,
)

NAMES = ("equal", "letters", "third")
TEXT = st.text(max_size=20)

ENTRIES = st.builds(
    Entry,
    url=TEXT,
    site=TEXT,
    spider=TEXT,
    run=TEXT,
    kept_at=st.floats(allow_nan=False),
    title=TEXT,
    signatures=st.dictionaries(st.sampled_from(NAMES), st.binary(max_size=40)),
    # Long ones are packed.
    outline=st.binary(max_size=100) | st.binary(min_size=40, max_size=50).map(lambda raw: raw * 50),
)
IDS = st.lists(st.integers(0, (1 << 32) - 1), max_size=3).map(tuple)


@given(ENTRIES, IDS, IDS)
def test_round_trip(entry: Entry, ended: tuple[int, ...], inside: tuple[int, ...]) -> None:
    raw = pack(record_of(entry, NAMES, ended, inside), 5)
    for form in (raw, memoryview(raw)):
        record = unpack(form, 5)
        assert entry_of(record, NAMES) == entry
        assert (record.ended, record.inside) == (ended, inside)
        for slot, name in enumerate(NAMES):
            assert signatures(form, 5)[slot] == entry.signatures.get(name)


@given(ENTRIES)
def test_a_record_in_the_place_of_another_is_seen(entry: Entry) -> None:
    with pytest.raises(IndexDamagedError):
        unpack(pack(record_of(entry, NAMES, (), ()), 5), 6)


@given(ENTRIES, st.data())
def test_every_changed_bit_is_seen(entry: Entry, data: st.DataObject) -> None:
    raw = bytearray(pack(record_of(entry, NAMES, (1,), ()), 5))
    bit = data.draw(st.integers(0, 8 * len(raw) - 1))
    raw[bit // 8] ^= 1 << bit % 8
    with pytest.raises(IndexDamagedError):
        unpack(bytes(raw), 5)
    with contextlib.suppress(IndexDamagedError):  # read without its checksum
        signatures(bytes(raw), 5)


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(raw: bytes) -> None:
    sealed = zlib.crc32(raw, 5).to_bytes(4, "little") + raw  # as if it had been written so
    with pytest.raises(IndexDamagedError):
        unpack(raw, 5)
    for read in (lambda: unpack(sealed, 5), lambda: signatures(sealed, 5)):
        with contextlib.suppress(IndexDamagedError):
            read()


def test_a_bomb_is_unpacked_no_further_than_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = compressed(bytes(100_000))
    assert decompressed(packed, "it") == bytes(100_000)
    for raw in (packed[:-1], packed + b"x"):
        with pytest.raises(IndexDamagedError, match="it cannot be read"):
            decompressed(raw, "it")
    monkeypatch.setattr(record, "_MOST", 1_000)
    with pytest.raises(IndexDamagedError, match="too large"):
        decompressed(packed, "it")


def test_rows_that_forget() -> None:
    record = record_of(
        Entry(url="u", site="", spider="", run="", kept_at=0, title="", signatures={"equal": b"x"}, outline=b"y"),
        NAMES,
        (3,),
        (4,),
    )
    rest = unpack(tombstone(pack(record, 1), 1), 1)
    assert (rest.signatures, rest.ended, rest.inside, rest.page) == ((None,) * 3, (3,), (), None)
    assert unpack(pack(forgetting(7, 12, 3), 12), 12).ended == (7, 12)


@given(st.text(st.characters(), max_size=20), st.text(st.characters(), max_size=20))
def test_storable_is_idempotent_and_packs(url: str, title: str) -> None:
    entry = Entry(url=url, site="", spider="", run="", kept_at=0, title=title, signatures={}, outline=b"")
    clean = storable(entry)
    assert storable(clean) is clean
    assert (clean.url, clean.title) == (plain(url), plain(title))
    pack(record_of(clean, NAMES, (), ()), 0)
