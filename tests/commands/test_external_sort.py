from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryFile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.commands.external_sort import ExternalSort

ROWS = st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 3), st.binary(max_size=40)), max_size=60)


@given(ROWS, st.integers(1, 300))
def test_sorted_as_python_sorts_whatever_fits_into_memory(rows: list[tuple[int, bytes]], run_bytes: int) -> None:
    with TemporaryFile() as file:
        sort = ExternalSort(file, run_bytes)
        for number, row in rows:
            sort.add(number, row)
        assert sort.rows == len(rows)
        assert list(sort) == sorted(rows, key=lambda row: row[0])


def test_rows_longer_than_what_is_read_at_a_time() -> None:
    with TemporaryFile() as file:
        sort = ExternalSort(file, 1)
        rows = [(number, bytes([number]) * 200_000) for number in (2, 0, 1)]
        for number, row in rows:
            sort.add(number, row)
        assert list(sort) == sorted(rows)


def test_a_file_that_somebody_cut_off_is_an_error() -> None:
    with TemporaryFile() as file:
        sort = ExternalSort(file, 1)
        sort.add(1, b"one")
        sort.add(2, b"two")
        file.truncate(20)
        with pytest.raises(OSError, match="one was cut off"):
            list(sort)


def test_no_room_is_said_with_the_folder() -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    with full.open("wb", buffering=0) as file:
        sort = ExternalSort(file, 1)
        with pytest.raises(OSError, match="temporary files in"):
            sort.add(0, b"row")
