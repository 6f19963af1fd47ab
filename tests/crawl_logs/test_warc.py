from __future__ import annotations

import gzip
import io
import re
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.crawl_logs import warc
from dedupcrawl.crawl_logs.blocks import Content
from dedupcrawl.crawl_logs.registry import format_of
from dedupcrawl.crawl_logs.rows import LogRow
from dedupcrawl.crawl_logs.tally import Tally
from dedupcrawl.crawl_logs.warc import Found, records
from tests.crawl_logs.rows import compressed, urls_of
from tests.crawl_logs.rows import read as read_rows

TEXT = "A page about something, long enough to be compared by what it says and not by its bytes. " * 3


def answer(  # noqa: PLR0913 - each may be left out or is a case
    url: str, body: str, status: str = "200 OK", mime: str = "text/html", kind: str = "response", head: str = ""
) -> bytes:
    http = f"HTTP/1.1 {status}\r\nContent-Type: {mime}\r\n{head}\r\n{body}".encode()
    warc = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2020-01-02T03:04:05Z\r\n"
        "WARC-Record-ID: <urn:uuid:11111111-1111-1111-1111-111111111111>\r\n"
        f"Content-Type: application/http; msgtype={kind}\r\nContent-Length: {len(http)}\r\n\r\n"
    )
    return warc.encode() + http + b"\r\n\r\n"


def html(text: str, noise: str = "") -> str:
    return f"<html><head><title>T</title></head><body><p>{text}</p><!-- {noise} --></body></html>"


def read(path: Path, data: bytes) -> list[LogRow]:
    path.write_bytes(data)
    log_format = format_of(path)
    assert log_format is not None
    assert log_format.name == "WARC"
    return read_rows(path)


def test_pages_are_compared_by_their_main_text(tmp_path: Path) -> None:
    rows = read(
        tmp_path / "warc",
        answer("<http://a.com/1>", html(TEXT, "one"))
        + answer("http://a.com/2", html(TEXT, "two"), mime="text/html; charset=x"),
    )
    assert [row.url for row in rows] == ["http://a.com/1", "http://a.com/2"]
    assert len({row.text_digest for row in rows}) == 1
    assert len({row.digest for row in rows}) == 2
    assert [row.title for row in rows] == ["T", "T"]
    assert [datetime.fromtimestamp((row.fetched_at or 0) / 1000, timezone.utc).year for row in rows] == [2020, 2020]


def test_a_redirect_is_told_with_its_target(tmp_path: Path) -> None:
    rows = read(tmp_path / "warc", answer("http://a.com/1", "", "301 Moved", head="Location: /2\r\n"))
    assert [(row.status, row.redirect_to) for row in rows] == [(301, "/2")]


def test_a_revisit_has_the_digest_of_what_it_refers_to(tmp_path: Path) -> None:
    record = answer("http://a.com/1", "", kind="revisit").replace(
        b"WARC-Date", b"WARC-Payload-Digest: sha1:AB\r\nWARC-Date"
    )
    assert [row.digest for row in read(tmp_path / "warc", record)] == ["AB"]


PAGES = [answer(f"http://a.com/{number}", html(f"{number} {TEXT}")) for number in range(4)]


def read_damaged(path: Path, data: bytes) -> tuple[list[str], Tally]:
    path.write_bytes(data)
    tally = Tally()
    return [(url or "")[-1] for url in urls_of(path, tally)], tally


@pytest.mark.parametrize("garbage", [b"garbage\r\n\r\n\x00\x01" * 50, b"x" * 200_000])
def test_what_is_no_record_costs_itself_alone(tmp_path: Path, garbage: bytes) -> None:
    found, tally = read_damaged(tmp_path / "warc", b"".join(PAGES[:2]) + garbage + b"".join(PAGES[2:]) + garbage)
    assert found == list("0123")
    assert tally.skipped == {"not a WARC record": 2}
    assert tally.rows == 6


@pytest.mark.parametrize("length", [b"1", b"77777"])
def test_a_record_of_a_wrong_length_costs_itself_alone(tmp_path: Path, length: bytes) -> None:
    wrong = re.sub(rb"Length: \d+", b"Length: " + length, PAGES[1])
    found, tally = read_damaged(tmp_path / "warc", PAGES[0] + wrong + b"".join(PAGES[2:]))
    assert found == list("023")
    assert sum(tally.skipped.values()) == 1


@pytest.mark.parametrize("kind", ["response", "request"])
def test_a_large_record_that_promises_more_than_the_file_has_is_said_to_hide_the_rest(
    tmp_path: Path, kind: str
) -> None:
    wrong = re.sub(rb"Length: \d+", b"Length: 99999999", answer("http://a.com/1", html(TEXT), kind=kind))
    found, tally = read_damaged(tmp_path / "warc", PAGES[0] + wrong + b"".join(PAGES[2:]))
    assert found == ["0"]
    assert tally.skipped == {"its Content-Length reaches beyond the end of the file: what follows it is not read": 1}


def test_what_follows_a_large_record_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warc, "RECORD_LIMIT", 200_000)
    large = answer("http://a.com/1", "x" * 300_000 + PAGES[0].decode())  # a page may well hold what looks like a record
    found, tally = read_damaged(tmp_path / "warc", large + b"".join(PAGES[2:]))
    assert found == ["2", "3"]
    assert tally.skipped == {warc.TOO_LARGE: 1}
    assert read_damaged(tmp_path / "warc", PAGES[0] + large[:-4])[1].skipped == {warc.TOO_LARGE: 1}


@compressed
@pytest.mark.parametrize("cut", [1, 30, 200])
def test_of_a_compressed_file_that_was_cut_all_before_is_read(
    tmp_path: Path, compress: Callable[[bytes], bytes], cut: int
) -> None:
    found, tally = read_damaged(tmp_path / "warc", b"".join(compress(record) for record in PAGES)[:-cut])
    assert found[:3] == list("012")
    assert tally.rows == len(found) + sum(tally.skipped.values()) <= 4  # the one that was cut may be told apart
    assert [(unread.unit, unread.line) for unread in tally.unread] == [("record", tally.rows + 1)]


def test_records_that_are_not_whole_are_skipped_and_named(tmp_path: Path) -> None:
    path = tmp_path / "warc"
    declared = answer("http://a.com/2", html(TEXT)).replace(b"WARC-Date", b"WARC-Truncated: length\r\nWARC-Date")
    encoded = answer("http://a.com/3", html(TEXT), head="Content-Encoding: gzip\r\n")
    path.write_bytes(
        answer("http://a.com/1", html(TEXT)) + declared + encoded + answer("http://a.com/4", html(TEXT))[:-99]
    )
    tally = Tally()
    assert urls_of(path, tally) == ["http://a.com/1"]
    assert tally.rows == 4
    assert sum(tally.skipped.values()) == 3
    assert [(row.unit, row.line) for row in tally.broken] == [("record", 2), ("record", 3), ("record", 4)]
    assert [row.reason for row in tally.broken][::2] == [
        "the record was truncated when it was written (WARC-Truncated: length)",
        "the record is cut short",
    ]


def test_a_body_of_which_only_the_beginning_would_be_compared_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "warc"
    path.write_bytes(answer("http://a.com/1", html(TEXT)) + answer("http://a.com/2", html(TEXT) + "more"))
    monkeypatch.setattr(warc, "_BODY_LIMIT", len(html(TEXT).encode()))
    tally = Tally()
    assert urls_of(path, tally) == ["http://a.com/1"]
    assert [row.line for row in tally.broken] == [2]


def test_encoded_content_is_decoded(tmp_path: Path) -> None:
    body = gzip.compress(html(TEXT).encode())
    http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n" + body
    head = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.com/2\r\nContent-Type: application/http\r\n"
    record = head + b"Content-Length: %d\r\n\r\n" % len(http) + http + b"\r\n\r\n"
    rows = read(tmp_path / "warc", answer("http://a.com/1", html(TEXT)) + record)
    assert len({row.text_digest for row in rows}) == 1
    assert [row.title for row in rows] == ["T", "T"]


def test_hostile_records_are_skipped(tmp_path: Path) -> None:
    rows = read(
        tmp_path / "warc",
        answer("javascript:alert(1)", html(TEXT))
        + answer("http://a.com/" + "x" * 100_000, html(TEXT))
        + answer("http://a.com/1", "<" * 100_000)
        + answer("http://a.com/\udcff".encode("utf-8", "surrogateescape").decode("latin-1"), html(TEXT)),
    )
    assert len(rows) == 2


def found(data: bytes) -> list[Found]:
    file = io.BytesIO(data)
    return list(records(Content(file, file.read1, Tally())))


def record(block: bytes, promised: int | None = None) -> bytes:
    length = len(block) if promised is None else promised
    return b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: %d\r\n\r\n%b\r\n\r\n" % (length, block)


bodies = st.lists(st.binary(max_size=300) | st.integers(60_000, 200_000).map(bytes) | st.just(record(b"in another")))


@given(bodies)
def test_whole_records_are_found_whatever_they_hold(given_blocks: list[bytes]) -> None:
    assert [one.data + b"\r\n\r\n" for one in found(b"".join(map(record, given_blocks)))] == list(
        map(record, given_blocks)
    )


@given(st.lists(st.binary(max_size=40) | st.integers(0, 10**9).map(lambda length: record(b"x", length))))
def test_of_any_bytes_each_is_looked_at_once(parts: list[bytes]) -> None:
    data = b"".join(parts)
    taken = found(data)
    assert sum(len(one.data) for one in taken) <= len(data)
    whole = [one.data for one in taken if not one.problem]
    assert all(one.startswith(b"WARC/") and one in data for one in whole)


def test_claims_of_large_records_take_no_time_each() -> None:
    claims = record(b"x", 60 << 20) * 20_000
    assert len(found(claims)) == 20_000
    assert len(found(b"WARC/1.0\r\nx" * 100_000)) == 100_000
