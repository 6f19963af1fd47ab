from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dedupcrawl.crawl_logs.blocks import LineBlock
from dedupcrawl.crawl_logs.page_files import Body, page_of, read_pairs, stored_pages, stored_rows
from dedupcrawl.crawl_logs.tally import LogError, Tally
from dedupcrawl.page import Page
from tests.crawl_logs.test_warc import answer
from tests.crawls.site import page, prose


def stored(path: Path, data: bytes) -> tuple[list[Page | Body], Tally]:
    path.write_bytes(data)
    tally = Tally()
    return list(stored_pages([path], tally)), tally


def test_text_is_a_page_and_html_is_markup(tmp_path: Path) -> None:
    rows = [
        {"url": "http://a/1", "text": "one\ntwo", "title": "T", "other": 1},
        {"url": "http://a/2", "html": "<p>x", "text": "not this"},
        {"url": "http://a/3", "text": ""},
    ]
    found, tally = stored(tmp_path / "pages", "".join(json.dumps(row) + "\n" for row in rows).encode())
    assert found == [
        Page("http://a/1", title="T", paragraphs=("one", "two")), Body("http://a/2", "<p>x", None), Page("http://a/3"),
    ]  # fmt: skip
    assert (tally.rows, tally.broken, tally.bytes_read) == (3, [], (tmp_path / "pages").stat().st_size)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (b"{", "not a JSON object"),
        (b"3", "the row must be an object, not a number"),
        (b'{"text": "x"}', 'the row has no "url"'),
        (b'{"url": 3, "text": "x"}', "url must be a string, not a number"),
        (b'{"url": "http://a/"}', "neither html nor text"),
        (b'{"url": "http://a/", "text": null}', "neither html nor text"),
        (b'{"url": "http://a/\xff", "text": "x"}', "not UTF-8"),
        (b'{"url": "http://a/", "text": ' + b"[" * 100_000, "nested too deeply"),
    ],
)
def test_a_broken_row_is_named_and_the_others_read(tmp_path: Path, row: bytes, reason: str) -> None:
    good = b'{"url": "http://a/1", "text": "x"}\n'
    found, tally = stored(tmp_path / "pages", good + b"\n" + row + b"\n" + good)
    assert [one.url for one in found] == ["http://a/1"] * 2
    assert [(broken.line, broken.reason) for broken in tally.broken] == [(3, reason)]
    assert tally.rows == 3


@given(st.binary(max_size=60) | st.text('{}[]":,ur l\\d8f0', max_size=40).map(str.encode))
def test_any_bytes_are_pages_or_counted(data: bytes) -> None:
    tally = Tally()
    block = LineBlock(1, b'{"url": "http://a/", "text": "x' + data.replace(b"\n", b" ") + b'"}\n' + data + b"\n")
    found = list(stored_rows(block, "pages", tally))
    assert len(found) + tally.skipped.total() == tally.rows == len(list(block.texts()))


def test_lone_surrogates_become_what_can_be_encoded(tmp_path: Path) -> None:
    ((one, other), _) = stored(
        tmp_path / "pages",
        b'{"url": "http://a/\\ud800", "text": "x \\udfff"}\n{"url": "http://a/2", "html": "<p>\\ud800"}\n',
    )
    assert one == Page("http://a/?", title="", paragraphs=("x ?",))
    assert other == Body("http://a/2", "<p>?", None)


def test_of_a_warc_the_pages_that_came_well(tmp_path: Path) -> None:
    records = [
        answer("http://a/1", page(prose(1))),
        answer("http://a/404", page(prose(2)), status="404 Not Found"),
        answer("http://a/3", "plain", mime="text/plain"),
        answer("http://a/4", page(prose(4))).replace(b"WARC-Date", b"WARC-Truncated: length\r\nWARC-Date"),
        answer("http://a/5", page(prose(5))),
    ]
    found, tally = stored(tmp_path / "pages.warc.gz", b"".join(map(gzip.compress, records)))
    assert [one.url for one in found] == ["http://a/1", "http://a/3", "http://a/5"]
    assert page_of(found[1]).paragraphs == ("plain",)
    assert tally.rows == 4
    assert [(row.line, row.unit) for row in tally.broken] == [(4, "record")]
    assert prose(1).split(".")[0] in "".join(page_of(found[0]).paragraphs)


def test_files_are_read_in_order_each_by_what_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(answer("http://a/1", page(prose(1))))
    (tmp_path / "b.warc").write_bytes(gzip.compress(b'{"url": "http://a/2", "text": "x"}\n'))
    tally = Tally()
    found = list(stored_pages([tmp_path / "a.txt", tmp_path / "b.warc", tmp_path / "a.txt"], tally))
    assert [one.url for one in found] == ["http://a/1", "http://a/2", "http://a/1"]
    assert tally.bytes_read == sum((tmp_path / name).stat().st_size for name in ("a.txt", "b.warc", "a.txt"))


def test_pairs_behind_damage_are_missed(tmp_path: Path) -> None:
    """Who compares the pairs of a file, or learns from them, must not take half of them for all."""
    path = tmp_path / "pairs"
    path.write_bytes(gzip.compress(b'{"kept": "http://a/1", "new": "http://a/2"}\n' * 99)[:-9])
    with pytest.raises(LogError, match=r"pairs: nothing was read from about line \d+ on: the file was cut off there"):
        list(read_pairs(path))


ROW = {
    "kept": {"url": "http://a/1", "title": "One", "text": "a\n\nb"},
    "new": {"url": "http://a/2", "html": "<p>x"},
    "same": True,
}


def test_a_pair_is_two_whole_pages_or_two_urls(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl.gz"
    rows = [ROW, {"kept": "http://a/1", "new": "http://a/2"}]
    path.write_bytes(gzip.compress("\n\n".join(map(json.dumps, rows)).encode()))
    whole, named = read_pairs(path)
    assert whole.kept == Page("http://a/1", title="One", paragraphs=("a", "b"))
    assert whole.new == Body("http://a/2", "<p>x", None)
    assert (whole.same, named.same) == (True, None)
    assert (named.kept, named.new, named.where) == ("http://a/1", "http://a/2", f"{path}, line 3")


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
