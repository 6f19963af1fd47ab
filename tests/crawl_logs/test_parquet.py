"""Parquet logs; what all formats have in common is in test_registry.py."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]  # it ships no types
import pytest
from pyarrow import parquet as pq

from dedupcrawl.crawl_logs import parquet
from dedupcrawl.crawl_logs.registry import read_log
from dedupcrawl.crawl_logs.tally import LogError, Tally


def text(values: Sequence[bytes]) -> pa.Array:
    """What no check has seen: PyArrow does not look at bytes that it is given as text."""
    ends = np.cumsum([0, *map(len, values)], dtype=np.int32)
    return pa.StringArray.from_buffers(len(values), pa.py_buffer(ends), pa.py_buffer(b"".join(values)))


def test_parquet_without_urls_is_an_error(tmp_path: Path) -> None:
    pl.DataFrame({"x": [1]}).write_parquet(tmp_path / "log")
    with pytest.raises(LogError, match="without a url column"):
        list(read_log(tmp_path / "log", Tally()))


def test_common_crawls_columnar_index(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "url_surtkey": ["com,a)/"],
            "url": ["http://a.com/"],
            "fetch_time": pl.Series(["2020-01-02T03:04:05"]).str.to_datetime(time_unit="ms"),
            "fetch_status": pl.Series([200], dtype=pl.Int16),
            "content_digest": ["ABC"],
            "fetch_redirect": [None],
            "warc_record_length": [700],
        }
    )
    frame.write_parquet(tmp_path / "log")
    row = pl.concat(read_log(tmp_path / "log", Tally())).row(0, named=True)
    assert {name: value for name, value in row.items() if value is not None} == {
        "url": "http://a.com/", "status": 200, "digest": "ABC",
        "fetched_at": frame["fetch_time"][0],
    }  # fmt: skip


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
    rows = pl.concat(read_log(tmp_path / "log", tally))
    assert rows.select("url", "title", "digest", "status", "run", "bytes", "redirect_to").rows() == [
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
    rows = pl.concat(batches)
    assert rows["url"].to_list() == [f"http://a.com/{number}" + "%FF" * (number == 13) for number in range(30)]
    assert rows["line"].to_list() == list(range(1, 31))
    assert len(batches) > 5
    assert tally.bytes_read == (tmp_path / "log").stat().st_size


def test_without_pyarrow_an_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pq.write_table(pa.table({"url": text(STRAY)}), tmp_path / "log")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(LogError, match=r"log has text that is not UTF-8: pip install pyarrow, which can read it\."):
        list(read_log(tmp_path / "log", Tally()))


@pytest.mark.parametrize("at", range(20, 400, 20))
def test_a_file_changed_anywhere_is_rows_or_an_error(tmp_path: Path, at: int) -> None:
    path = tmp_path / "log"
    pq.write_table(pa.table({"url": text(STRAY * 9), "digest": ["x"] * 27}), path)
    data = bytearray(path.read_bytes())
    data[at % len(data)] ^= 0x55
    path.write_bytes(data)
    with suppress(LogError):
        for rows in read_log(path, Tally()):
            assert rows["url"].null_count() == 0
