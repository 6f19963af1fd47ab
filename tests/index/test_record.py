"""Records: what was packed comes back; whatever else there is, is an error that can be caught."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.index import record
from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.record import Entry, compressed, decompressed, pack, record_of, signatures, unpack

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


def test_a_bomb_is_unpacked_no_further_than_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = compressed(bytes(100_000))
    assert decompressed(packed, "it") == bytes(100_000)
    for raw in (packed[:-1], packed + b"x"):
        with pytest.raises(IndexDamagedError, match="it cannot be read"):
            decompressed(raw, "it")
    monkeypatch.setattr(record, "_MOST", 1_000)
    with pytest.raises(IndexDamagedError, match="too large"):
        decompressed(packed, "it")
