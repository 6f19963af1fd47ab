"""Rows of columns; CDX, CDXJ and Heritrix's crawl.log: the real samples."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dedupcrawl.crawl_logs import blocks, delimited
from dedupcrawl.crawl_logs.registry import FORMATS, format_of
from dedupcrawl.crawl_logs.tally import LogError, Tally
from tests.crawl_logs.rows import read, said
from tests.fixtures import table_of


def rows(path: Path, data: bytes) -> tuple[list[dict[str, Any]], Tally]:
    path.write_bytes(data)
    tally = Tally()
    separator = "," if path.suffix == ".csv" else "\t"
    found = [row for batch in delimited.read(separator, path, tally) for row in batch]
    return [said(row) for row in found], tally


@table_of("logs_and_training", "the_header_tells")
def test_the_header_tells(head: str, is_csv: bool, is_tsv: bool) -> None:
    assert (delimited.matches(",", head.encode()), delimited.matches("\t", head.encode())) == (is_csv, is_tsv)
    assert not delimited.matches(",", b"x" * 200_000), "no name is so long"


field = st.text(st.sampled_from('ab,"\n\té'), max_size=6)


@example(table=[("", ""), ('"\n\n"', "")], size=8)
@given(table=st.lists(st.tuples(field, field), min_size=1, max_size=12), size=st.integers(8, 60))
def test_what_the_csv_module_writes_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, table: list[tuple[str, str]], size: int
) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([("url", "title"), *(("u" + a, "t" + b) for a, b in table)])
    path = tmp_path_factory.mktemp("log") / "log.csv"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "_BLOCK_BYTES", size)
        found, tally = rows(path, text.getvalue().encode())
    assert [(row["url"], row["title"]) for row in found] == [(f"u{a}".strip(), f"t{b}".strip()) for a, b in table]
    assert not tally.skipped
    lines = text.getvalue().split("\n")
    assert all(lines[row["line"] - 1].lstrip('"').startswith("u") for row in found)


def test_an_unclosed_quote_does_not_swallow_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "_OPEN_QUOTE_LIMIT", 100)
    monkeypatch.setattr(blocks, "_BLOCK_BYTES", 64)
    data = b'url,title\nhttp://a/,"open\n' + b"".join(b"http://b/%d,x\n" % number for number in range(50))
    found, tally = rows(tmp_path / "log.csv", data)
    assert [row["url"] for row in found] == [f"http://b/{number}" for number in range(50)]
    assert [row.line for row in tally.broken] == [2]
    assert [row["line"] for row in found] == list(range(3, 53))


fields = st.text("ab\"' é%\\", max_size=4)


@given(st.lists(st.lists(fields, min_size=1, max_size=4), min_size=1, max_size=8))
def test_lines_are_cut_at_every_tab_and_quotes_mean_nothing(
    tmp_path_factory: pytest.TempPathFactory, lines: list[list[str]]
) -> None:
    data = "".join("\t".join(row) + "\n" for row in [["url", "title", "digest"], *lines]).encode()
    found, tally = rows(tmp_path_factory.mktemp("log") / "log.tsv", data)
    good = [(number, row) for number, row in enumerate(lines, 2) if len(row) == 3]
    read = [(row["line"], [row.get(name, "") for name in ("url", "title", "digest")]) for row in found]
    assert read == [(number, [field.strip() for field in row]) for number, row in good]
    bad = [number for number, row in enumerate(lines, 2) if len(row) != 3 and row != [""]]
    assert tally.skipped == ({"not 3 fields": len(bad)} if bad else {})
    assert [row.line for row in tally.broken] == bad[:5]


@pytest.mark.parametrize("separator", [",", "\t"])
@pytest.mark.parametrize(
    ("width", "row", "count", "most"),
    [(2, "http://a/{mark}" + "x" * 900_000, 40, 30), (3_001, "http://a/{mark}" + "{mark}" * 2_999, 4_000, 3_000)],
    ids=["of long fields", "of thousands of empty fields"],
)
def test_large_rows_come_in_small_batches(  # noqa: PLR0913 - each is a case
    tmp_path: Path, separator: str, width: int, row: str, count: int, most: int
) -> None:
    path = tmp_path / "log"
    header = separator.join(["url", *(f"x{n}" for n in range(width - 1))])
    path.write_text(header + "\n" + f"{row.format(mark=separator)}\n" * count, encoding="utf-8")
    batches = [len(batch) for batch in delimited.read(separator, path, Tally())]
    assert sum(batches) == count
    assert max(batches) < most


def test_cdx_of_an_unknown_width_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "cdx"
    path.write_bytes(b"com,a)/ 20200102030405 http://a.com/ text/html 200 ABC\n")
    (cdx,) = (one for one in FORMATS if one.name == "CDX")
    with pytest.raises(LogError, match="CDX row of 6 fields: put its header line"):
        list(cdx.batches(path, Tally()))


@table_of("logs_and_training", "real_samples_are_read_whole")
def test_real_samples_are_read_whole(shared_data: Path, name: str, log_format: str, total: int, usable: int) -> None:
    path, tally = shared_data / "logs" / name, Tally()
    found = format_of(path)
    assert found is not None
    assert found.name == log_format
    assert len(read(path, tally)) == usable
    assert (tally.rows, tally.broken) == (total, [])


def test_cdx_and_cdxj_of_one_archive_say_the_same(shared_data: Path) -> None:
    folder = shared_data / "logs" / "pywb" / "sample_archive"
    one, other = (
        [msgspec.structs.replace(row, redirect_to=None, bytes=None, line=None) for row in read(folder / name)]
        for name in ("cdx/iana.cdx", "cdxj/iana.cdxj")
    )
    assert one == other
