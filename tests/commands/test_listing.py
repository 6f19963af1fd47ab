"""`dedupcrawl index list`: kept and dropped pages as rows, for other tools."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from dedupcrawl.commands.index import command
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.verdict import Verdict
from tests.index.toys import CHECKS, offer, page


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    index = LmdbIndex(tmp_path / "index", CHECKS)
    offer(index, page("http://a.example/0", 1), lambda check, other: None)
    for url, check, request in (
        ("http://a.example/1", "exact", b"asked"),
        ("http://a.example/2", "simhash", b"asked"),
        ("http://a.example/observed", "exact", b""),
        ("http://a.example/withdrawn", "exact", b"asked"),
    ):
        verdict = Verdict(url, "duplicate", "http://a.example/0", check, 1.0, {"probability": 0.97})
        index.record(verdict, run="one", site="a.example", spider="toy", request=request)
    index.close()
    given_back = CliRunner().invoke(
        command, ["restore", "http://a.example/withdrawn", "--index", str(tmp_path / "index")]
    )
    assert given_back.exit_code == 0
    return tmp_path / "index"


def listed(folder: Path, *arguments: str) -> Result:
    result = CliRunner().invoke(command, ["list", *arguments, "--index", str(folder)])
    assert result.exit_code == 0, result.output
    return result


def test_drops_are_rows_of_json(folder: Path) -> None:
    result = listed(folder, "--drops")
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert rows == [
        {"url": url, "duplicate_of": "http://a.example/0", "check": check, "probability": 0.97, "run": "one"}
        for url, check in (("http://a.example/1", "exact"), ("http://a.example/2", "simhash"))
    ]
    assert "2 dropped pages" in result.stderr


def test_a_page_that_was_kept_since_is_no_drop(folder: Path) -> None:
    index = LmdbIndex(folder, CHECKS)
    kept = msgspec.structs.replace(page("http://a.example/1", 2), kept_at=4e9)
    offer(index, kept, lambda check, other: None)
    index.close()
    assert [json.loads(line)["url"] for line in listed(folder, "--drops").stdout.splitlines()] == ["http://a.example/2"]


def test_what_two_crawls_have_dropped_is_one_row(folder: Path) -> None:
    index = LmdbIndex(folder, CHECKS)
    again = Verdict("http://a.example/1", "duplicate", "http://a.example/0", "exact", 1.0, {"probability": 0.97})
    index.record(again, run="two", site="a.example", spider="toy", request=b"asked")
    index.close()
    rows = [json.loads(line) for line in listed(folder, "--drops").stdout.splitlines()]
    assert {row["url"]: row["run"] for row in rows} == {"http://a.example/1": "two", "http://a.example/2": "one"}
    assert len(rows) == 2


def test_drops_are_rows_of_csv_by_the_name_of_the_file(folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "drops.csv"
    listed(folder, "--drops", "--output", str(output))
    with output.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["url"], row["check"]) for row in rows] == [
        ("http://a.example/1", "exact"),
        ("http://a.example/2", "simhash"),
    ]


def test_without_drops_the_pages_that_were_kept_are_listed(folder: Path) -> None:
    rows = [json.loads(line) for line in listed(folder).stdout.splitlines()]
    assert [row["url"] for row in rows] == ["http://a.example/0"]


def test_what_a_spreadsheet_would_take_for_a_formula_is_quoted(tmp_path: Path) -> None:
    index = LmdbIndex(tmp_path / "index", CHECKS)
    verdict = Verdict("=cmd|' /C calc'!A0", "duplicate", "http://a.example/0", "exact", 1.0)
    index.record(verdict, run="one", site="a.example", spider="toy", request=b"asked")
    index.close()
    output = tmp_path / "drops.csv"
    listed(tmp_path / "index", "--drops", "--output", str(output))
    assert "\n'=cmd" in output.read_text().replace("\r", "")
