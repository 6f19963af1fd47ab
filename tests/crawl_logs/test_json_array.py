from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedupcrawl.crawl_logs import jsonl
from dedupcrawl.crawl_logs.tally import LogError, Tally


def read(path: Path, data: bytes) -> tuple[list[dict[str, Any]], Tally]:
    path.write_bytes(data)
    tally = Tally(bytes_read=10)
    rows = pl.concat(jsonl.read_array(path, tally)).to_dicts()
    assert tally.bytes_read == 10 + len(data)
    return [{name: value for name, value in row.items() if value is not None} for row in rows], tally


@pytest.mark.parametrize(("head", "is_one"), [(b"[", True), (b' \n\t[{"a"', True), (b'{"a": []}', False), (b"", False)])
def test_its_first_character_tells(head: bytes, is_one: bool) -> None:
    assert jsonl.matches_array(head) is is_one


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


def test_what_is_no_object_is_named_by_its_place(tmp_path: Path) -> None:
    found, tally = read(tmp_path / "log", b'[{"url": "http://a/"}, 3, "x", [], null, {"url":\n"http://b/"}]')
    assert [(row["line"], row["url"]) for row in found] == [(1, "http://a/"), (6, "http://b/")]
    assert tally.skipped == {"not a JSON object": 4}
    assert [row.line for row in tally.broken] == [2, 3, 4, 5]


def test_bytes_that_are_no_utf8_are_percent_encoded(tmp_path: Path) -> None:
    assert read(tmp_path / "log", b'[{"url": "http://a/\xe9"}]')[0][0]["url"] == "http://a/%E9"


@pytest.mark.parametrize("data", [b'[{"url": "http://a/"},', b"[", b"[1 2]", b'[{"a": 1}] x', b"[" * 100_000])
def test_of_a_broken_array_nothing_can_be_told(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(LogError, match=r"log is a broken JSON array .*: export it again, or as JSON Lines\."):
        read(tmp_path / "log", data)


def test_a_compressed_array_that_was_cut_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="cannot be decompressed"):
        read(tmp_path / "log", gzip.compress(json.dumps([{"url": "http://a/"}] * 9000).encode())[:-20])


def test_a_large_array_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "_SIZE_LIMIT", 30)
    assert len(read(tmp_path / "log", b'[{"url": "http://a.com/"}]    ')[0]) == 1
    with pytest.raises(LogError, match="log is a JSON array over 1 GiB: export JSON Lines instead"):
        read(tmp_path / "log", b'[{"url": "http://a.com/"}]     ')
