"""Segment files: what was written comes back, and nothing else is taken for it."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.index.segment import (
    NO_IDS,
    NO_KEYS,
    SegmentDamagedError,
    Table,
    dropped,
    open_segment,
    sort_table,
    verify_segment,
    write_segment,
)


def some_table(postings: int, seed: int, first: int = 0, end: int = 50) -> Table:
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, 1 << 64, postings, dtype=np.uint64)
    return sort_table(keys, rng.integers(first, end, postings).astype(np.uint32))


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "a.segment"
    parts = [[some_table(7, 1), some_table(4, 2)], [], [(NO_KEYS, NO_IDS)], [some_table(3, 3)]]
    write_segment(path, 0, 50, parts, [None] * 4)
    return path


def test_round_trip(written: Path) -> None:
    segment = open_segment(written)
    verify_segment(written)
    assert (segment.first, segment.end) == (0, 50)
    assert [keys.size for keys, _ in segment.tables] == [11, 0, 0, 3]
    expected = {(key, page) for part in (some_table(7, 1), some_table(4, 2)) for key, page in zip(*part, strict=True)}
    keys, ids = segment.tables[0]
    assert set(zip(keys, ids, strict=True)) == expected
    assert (keys[1:] >= keys[:-1]).all()
    assert not keys.flags.writeable


def test_left_out_pages_are_not_written(tmp_path: Path) -> None:
    part = some_table(500, 4, 100, 120)
    out = dropped(100, 120, np.arange(105, 200, dtype=np.uint64))
    write_segment(tmp_path / "a.segment", 100, 120, [[part], [part]], [out, None])
    verify_segment(tmp_path / "a.segment")
    (_, some), (_, every) = open_segment(tmp_path / "a.segment").tables
    assert some.max() == 104
    assert some.size == np.count_nonzero(part[1] < 105)
    assert every.size == 500


def test_a_mapped_file_stays_valid_when_it_is_removed(written: Path) -> None:
    segment = open_segment(written)
    before = segment.tables[0][0].tolist()
    written.unlink()
    assert segment.tables[0][0].tolist() == before
    with pytest.raises(FileNotFoundError):
        open_segment(written)


def test_every_cut_is_seen_at_open(written: Path) -> None:
    for size in range(written.stat().st_size - 1, -1, -1):
        os.truncate(written, size)
        with pytest.raises(SegmentDamagedError, match=r"a\.segment"):
            open_segment(written)


def test_every_changed_byte_is_seen(written: Path) -> None:
    good = written.read_bytes()
    padding = 0
    for place in range(len(good)):
        bad = bytearray(good)
        bad[place] ^= 1 << place % 8
        written.write_bytes(bad)
        try:
            verify_segment(written)
        except SegmentDamagedError:
            continue
        padding += 1
    assert padding == 4 + 4, "only what fills the ids up to 8 bytes may differ"


@given(st.binary(max_size=200))
def test_any_bytes_are_no_segment(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("bytes") / "a.segment"
    path.write_bytes(data)
    with pytest.raises(SegmentDamagedError):
        open_segment(path)


def test_nothing_is_left_of_a_failed_write(tmp_path: Path) -> None:
    wrong = (np.zeros(3, dtype=np.uint64), np.zeros(2, dtype=np.uint32))
    with pytest.raises(IndexError):
        write_segment(tmp_path / "a.segment", 0, 9, [[wrong, wrong]], [None])
    assert list(tmp_path.iterdir()) == []
