"""Parquet logs; what all formats have in common is in test_registry.py."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]  # it ships no types
import pytest
from pyarrow import parquet as pq

from dedupcrawl.crawl_logs import parquet
from dedupcrawl.crawl_logs.registry import read_log
from dedupcrawl.crawl_logs.tally import LogError, Tally
from tests.crawl_logs.rows import read, said, urls_of


def text(values: Sequence[bytes]) -> pa.Array:
    """What no check has seen: PyArrow does not look at bytes that it is given as text."""
    ends = np.cumsum([0, *map(len, values)], dtype=np.int32)
    return pa.StringArray.from_buffers(len(values), pa.py_buffer(ends), pa.py_buffer(b"".join(values)))


def test_parquet_that_is_cut_or_without_urls_is_an_error(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [1]}), tmp_path / "log")
    (tmp_path / "cut").write_bytes(b"PAR1 and then nothing")
    for name, message in (("log", "without a url column"), ("cut", "cannot be read as Parquet")):
        with pytest.raises(LogError, match=message):
            list(read_log(tmp_path / name, Tally()))


def test_common_crawls_columnar_index(tmp_path: Path) -> None:
    columns = {
        "url_surtkey": ["com,a)/"],
        "url": ["http://a.com/"],
        "fetch_time": pa.array([datetime(2020, 1, 2, 3, 4, 5, 678_901)], pa.timestamp("us")),
        "fetch_status": pa.array([200], pa.int16()),
        "content_digest": ["ABC"],
        "fetch_redirect": pa.array([None], pa.string()),
        "warc_record_length": [700],
    }
    pq.write_table(pa.table(columns), tmp_path / "log")
    (row,) = read(tmp_path / "log")
    at = 1_577_934_245_678
    assert said(row) == {"url": "http://a.com/", "status": 200, "digest": "ABC", "fetched_at": at, "line": 1}


STRAY = [b"http://a.com/caf\xe9", "http://a.com/café".encode(), b"http://a.com/caf\xe8"]
READ = ["http://a.com/caf%E9", "http://a.com/café", "http://a.com/caf%E8"]


def shapes_of_text() -> dict[str, pa.Array]:
    one = text(STRAY)
    return {
        "text": one,
        "large": one.cast(pa.large_binary()).view(pa.large_string()),
        "list": pa.ListArray.from_arrays([0, 1, 2, 3], one),
    }


@pytest.mark.parametrize("shape", ["text", "large", "list"])
def test_text_that_is_no_utf8_is_percent_encoded(tmp_path: Path, shape: str) -> None:
    columns = {
        "url": shapes_of_text()[shape],
        "title": text([b"\xff", b"b", b""]),
        "digest": ["d1", "d2", None],
        "status": pa.array([200, 404, None], type=pa.int16()),
        "run": pa.array(["one", "two", "one"]).dictionary_encode(),
        "bytes": pa.array([b"5", b"6", b"7"]),
        "redirect_to": pa.array([{"a": "x"}] * 3),
    }
    pq.write_table(pa.table(columns), tmp_path / "log")
    tally = Tally()
    names = ("url", "title", "digest", "status", "run", "bytes", "redirect_to")
    rows = [tuple(getattr(row, name) for name in names) for row in read(tmp_path / "log", tally)]
    assert rows == [
        (READ[0], "%FF", "d1", 200, "one", 5, None),
        (READ[1], "b", "d2", 404, "two", 6, None),
    ]
    assert tally.rows == 3
    assert tally.skipped == {"no digest, redirect or canonical link": 1}


def test_rows_before_and_behind_such_text_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "_ROWS_A_BATCH", 4)
    urls = [f"http://a.com/{number}".encode() for number in range(30)]
    urls[13] += b"\xff"
    pq.write_table(
        pa.table({"url": text(urls), "digest": ["x"] * 30}), tmp_path / "log", row_group_size=7, use_dictionary=False
    )
    tally = Tally()
    batches = list(parquet.read(tmp_path / "log", tally))
    rows = [row for batch in batches for row in batch]
    assert [row.url for row in rows] == [f"http://a.com/{number}" + "%FF" * (number == 13) for number in range(30)]
    assert [row.line for row in rows] == list(range(1, 31))
    assert len(batches) > 5
    assert tally.bytes_read == (tmp_path / "log").stat().st_size


@pytest.mark.parametrize("at", range(20, 400, 20))
def test_a_file_changed_anywhere_is_rows_or_an_error(tmp_path: Path, at: int) -> None:
    path = tmp_path / "log"
    pq.write_table(pa.table({"url": text(STRAY * 9), "digest": ["x"] * 27}), path)
    data = bytearray(path.read_bytes())
    data[at % len(data)] ^= 0x55
    path.write_bytes(data)
    with suppress(LogError):
        assert None not in urls_of(path)
