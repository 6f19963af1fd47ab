"""Records: what was packed comes back; whatever else there is, is an error that can be caught."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.index import record
from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.record import (
    Entry,
    Recorded,
    compressed,
    decompressed,
    pack,
    pack_row,
    record_of,
    signatures,
    unpack,
    unpack_row,
)
from dedupcrawl.verdict import Verdict

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


@pytest.mark.parametrize("request_bytes", [b"", b"r" * 500])
def test_a_verdict_comes_back_with_all_names_of_its_evidence(request_bytes: bytes) -> None:
    differs = [{"at": 3, "says": "lone \ud800", "kind": "other", "unknown name": [1, {"place": None}]}]
    doubt = {"probability": 0.25, "differs": differs, "of another version": {"one_host": 1.0}}
    verdict = Verdict("http://a", "unique", None, "title", 0.5, {"in_doubt": doubt, "symbols": 3})
    row = Recorded(verdict, "run", "site", "spider", 1.5, request_bytes)
    packed = pack_row(row)
    assert b"probability" not in packed
    differs[0]["says"] = "lone ?"
    assert unpack_row(Recorded, packed) == row
    for cut in (packed[:-1], packed + b"x", b""):
        with pytest.raises(IndexDamagedError):
            unpack_row(Recorded, cut)


def test_a_bomb_is_unpacked_no_further_than_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = compressed(bytes(100_000))
    assert decompressed(packed, "it") == bytes(100_000)
    for raw in (packed[:-1], packed + b"x"):
        with pytest.raises(IndexDamagedError, match="it cannot be read"):
            decompressed(raw, "it")
    monkeypatch.setattr(record, "_MOST", 1_000)
    with pytest.raises(IndexDamagedError, match="too large"):
        decompressed(packed, "it")
