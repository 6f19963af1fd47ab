from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dedupcrawl.crawl_logs import jsonl
from dedupcrawl.crawl_logs.blocks import LineBlock, line_blocks
from dedupcrawl.crawl_logs.tally import LogError, Tally
from tests.crawl_logs.rows import said


def rows(path: Path, data: bytes) -> tuple[list[dict[str, Any]], Tally]:
    path.write_bytes(data)
    tally = Tally()
    found = [
        row for block in line_blocks(path, tally) for batch in [jsonl.rows_of(block, str(path), tally)] for row in batch
    ]
    return [said(row) for row in found], tally


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("9" * 50, "9" * 50),
        ("12.0", "12"),
        ("1e20", "1" + "0" * 20),
        ("[" * 900 + "]" * 900, None),
        ('["q"]', "q"),
        ('"{x"', None),
        ('"[\\"a\\"]"', None),
    ],
)
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


@given(st.lists(st.binary(max_size=40)))
@example([b"x\x01\x06"])  # what is compressed begins so
def test_never_raises(lines: list[bytes]) -> None:
    data = b"".join(line.replace(b"\n", b"") + b"\n" for line in lines).decode("utf-8", "replace").encode()
    jsonl.rows_of(LineBlock(1, data), "log", Tally())


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
