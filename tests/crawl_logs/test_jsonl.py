"""JSON Lines and Parquet."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]  # it ships no types
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet as pq

from dedupcrawl.crawl_logs import jsonl, parquet
from dedupcrawl.crawl_logs.blocks import LineBlock, line_blocks
from dedupcrawl.crawl_logs.registry import read_log
from dedupcrawl.crawl_logs.tally import LogError, Tally
from tests.crawl_logs.rows import read as read_imported
from tests.crawl_logs.rows import said, urls_of
from tests.fixtures import table_of


def rows(path: Path, data: bytes) -> tuple[list[dict[str, Any]], Tally]:
    path.write_bytes(data)
    tally = Tally()
    found = [
        row for block in line_blocks(path, tally) for batch in [jsonl.rows_of(block, str(path), tally)] for row in batch
    ]
    return [said(row) for row in found], tally


@table_of("logs_and_training", "a_digest_may_be_a_number_of_any_length_or_in_a_list_and_is_no_json")
def test_a_digest_may_be_a_number_of_any_length_or_in_a_list_and_is_no_json(
    tmp_path: Path, value: str, text: str | None
) -> None:
    found, _ = rows(tmp_path / "log", b'{"url":"http://a/","digest":%b}\n' % value.encode())
    assert found[0].get("digest") == text


def test_nesting_without_end_is_one_broken_line(tmp_path: Path) -> None:
    data = b'{"url":"http://a/","x":' + b"[" * 200_000 + b'\n{"url":"http://b/"}\n'
    found, tally = rows(tmp_path / "log", data)
    assert found == [{"url": "http://b/", "line": 2}]
    assert [row.line for row in tally.broken] == [1]


scalars = st.none() | st.booleans() | st.text("abc1é ", min_size=1, max_size=5) | st.integers(-(10**6), 10**6)
objects = st.dictionaries(st.sampled_from(["url", "digest", "title", "other"]), scalars, max_size=5)


@given(st.lists(objects, min_size=1))
def test_values_are_what_they_are_in_python(found: list[dict[str, Any]]) -> None:
    block = LineBlock(3, b"".join(msgspec.json.encode(row) + b"\n" for row in found))
    rows = jsonl.rows_of(block, "log", Tally())
    assert [row.line for row in rows] == list(range(3, 3 + len(found)))
    for name in ("url", "digest", "title"):
        values = [row.get(name) for row in found]
        expected = [None if it is None or isinstance(it, bool) else str(it).strip() or None for it in values]
        assert [getattr(row, name) for row in rows] == expected


def read(path: Path, data: bytes) -> tuple[list[dict[str, Any]], Tally]:
    path.write_bytes(data)
    tally = Tally(bytes_read=10)
    rows = [said(row) for batch in jsonl.read_array(path, tally) for row in batch]
    assert tally.bytes_read == 10 + len(data)
    return rows, tally


@settings(max_examples=40)
@given(
    st.lists(st.fixed_dictionaries({"url": st.text('/a\n"{}[],é\\', min_size=1).map("http://a".__add__)}), min_size=1),
    st.sampled_from([None, 1]),
    st.integers(1, 3),
)
def test_however_it_is_written_each_object_is_a_row(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, str]], indent: int | None, at_once: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonl, "_OBJECTS_A_BATCH", at_once)
        path = tmp_path_factory.getbasetemp() / "array.json"
        found, tally = read(path, json.dumps(rows, indent=indent, ensure_ascii=False).encode())
    assert [row["line"] for row in found] == list(range(1, len(rows) + 1))
    assert [row["url"] for row in found] == [row["url"].strip() for row in rows]
    assert tally.broken == []


@pytest.mark.parametrize("data", [b'[{"url": "http://a/"},', b"[", b"[1 2]", b'[{"a": 1}] x', b"[" * 100_000])
def test_of_a_broken_array_nothing_can_be_told(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(LogError, match=r"log is a broken JSON array .*: export it again, or as JSON Lines\."):
        read(tmp_path / "log", data)


def test_a_large_array_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "_SIZE_LIMIT", 30)
    assert len(read(tmp_path / "log", b'[{"url": "http://a.com/"}]    ')[0]) == 1
    with pytest.raises(LogError, match="log is a JSON array over 1 GiB: export JSON Lines instead"):
        read(tmp_path / "log", b'[{"url": "http://a.com/"}]     ')


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
    (row,) = read_imported(tmp_path / "log")
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
    rows = [tuple(getattr(row, name) for name in names) for row in read_imported(tmp_path / "log", tally)]
    assert rows == [(READ[0], "%FF", "d1", 200, "one", 5, None), (READ[1], "b", "d2", 404, "two", 6, None)]
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
