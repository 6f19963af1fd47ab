"""Pairs of pages in files."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dedupcrawl.crawl_logs.page_files import Markup, read_pairs
from dedupcrawl.crawl_logs.tally import LogError
from dedupcrawl.page import Page

ROW = {
    "kept": {"url": "http://a/1", "title": "One", "text": "a\n\nb"},
    "new": {"url": "http://a/2", "html": "<p>x"},
    "same": True,
}


def test_pages_whole_and_by_url(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl.gz"
    rows = [ROW, {"kept": "http://a/1", "new": "http://a/2"}]
    path.write_bytes(gzip.compress("\n\n".join(map(json.dumps, rows)).encode()))
    whole, named = read_pairs(path)
    assert whole.kept == Page("http://a/1", "One", ("a", "b"))
    assert whole.new == Markup("http://a/2", "<p>x", None)
    assert (whole.same, named.same) == (True, None)
    assert (named.kept, named.new, named.where) == ("http://a/1", "http://a/2", f"{path}, line 3")


def test_a_row_without_a_label_where_labels_are_read(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text(json.dumps({"kept": "http://a/1", "new": "http://a/2"}), encoding="utf-8")
    with pytest.raises(LogError, match="line 1 does not say whether"):
        list(read_pairs(path, labelled=True))


def test_a_file_that_was_cut(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl.gz"
    path.write_bytes(gzip.compress(b"\n".join([json.dumps(ROW).encode()] * 9_000))[:-300])
    with pytest.raises(LogError, match="pairs"):
        list(read_pairs(path))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200))
def test_any_bytes_are_pairs_or_one_error(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_bytes(raw)
    message = str(path)
    try:
        list(read_pairs(path))
    except LogError as error:
        message = str(error)
    assert str(path) in message
