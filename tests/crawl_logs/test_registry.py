from __future__ import annotations

import gzip
import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pyarrow as pa  # type: ignore[import-untyped]  # it ships no types
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet as pq

from dedupcrawl.crawl_logs.registry import format_of, read_log
from dedupcrawl.crawl_logs.rows import LogRow
from dedupcrawl.crawl_logs.tally import LogError, Tally
from tests.crawl_logs.rows import compressed, read, urls_of


@pytest.mark.parametrize("data", [b"", b"\n\n", gzip.compress(b"")], ids=["nothing", "blank", "compressed"])
def test_an_empty_log_has_no_rows(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(data)
    assert format_of(path) is None
    assert list(read_log(path, Tally())) == []


@pytest.mark.parametrize("data", [b"hello\n", b"\x00\x01\x02", b"http://a/\nhttp://b/\n"])
def test_an_unknown_format_says_what_is_known(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "log"
    path.write_bytes(data)
    with pytest.raises(
        LogError,
        match=r"log is not a crawl log in a known format \(Parquet, .*its url column\)\. .*crawl-log\.jsonl",
    ):
        format_of(path)


@given(st.binary(max_size=200), st.sampled_from([b"", b"{", b"[", b"url\t", b"url,x\n", b" CDX a k\n", b"PAR1"]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_rows_or_an_error(tmp_path: Path, data: bytes, start: bytes) -> None:
    path = tmp_path / "log"
    path.write_bytes(start + data)
    with suppress(LogError):
        for rows in read_log(path, Tally()):
            assert all(isinstance(row, LogRow) for row in rows)


@pytest.mark.parametrize("data", [b'{"url": "http://a.com/", "digest": "1"}\n', b'"URL",digest\r\nhttp://a.com/,1\r\n'])
def test_a_byte_order_mark_hides_no_format(tmp_path: Path, data: bytes) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"\xef\xbb\xbf" + data)
    assert urls_of(log) == ["http://a.com/"]


URL = b"http://a.com/caf%s"
STRAY = {
    "CSV": b"url,digest\n" + URL + b",d\n",
    "TSV": b"url\tdigest\n" + URL + b"\td\n",
    "JSON Lines": b'{"url": "' + URL + b'", "digest": "d"}\n',
    "JSON array": b'[{"url": "' + URL + b'", "digest": "d"}]',
    "CDX": b"k 20200101000000 " + URL + b" text/html 200 d - 0 w\n",
    "CDXJ": b'com,a)/ 20200101000000 {"url": "' + URL + b'", "digest": "d"}\n',
    "Heritrix crawl.log": b"2020-01-01T00:00:00.000Z 200 5 "
    + URL
    + b" L - text/html #001 20200101000000000+1 sha1:d - -\n",
    "WARC": b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: " + URL + b"\r\nWARC-Payload-Digest: sha1:d\r\n"
    b"Content-Type: application/http\r\nContent-Length: 32\r\n\r\nHTTP/1.1 200 OK\r\nX-Pad: 12\r\n\r\nx\r\n\r\n",
}  # fmt: skip


@pytest.mark.parametrize("kind", [*STRAY, "Parquet"])
def test_urls_that_differ_in_bytes_that_are_no_utf8_stay_apart(tmp_path: Path, kind: str) -> None:
    urls = []
    for end in (b"\xe9", b"\xe8", "é".encode()):
        path = tmp_path / "log"
        if kind == "Parquet":
            pq.write_table(pa.table({"url": [URL.replace(b"%s", end)], "digest": [b"\xff"]}), path)
        else:
            path.write_bytes(STRAY[kind].replace(b"%s", end))
        log_format = format_of(path)
        assert log_format is not None
        assert log_format.name == kind
        urls += urls_of(path)
    assert urls == ["http://a.com/caf%E9", "http://a.com/caf%E8", "http://a.com/café"]


LINES = [kind for kind in STRAY if kind not in {"JSON array", "WARC"}]


@pytest.mark.parametrize("kind", LINES)
@compressed
def test_of_a_compressed_log_that_was_cut_the_whole_lines_are_read(
    tmp_path: Path, kind: str, compress: Callable[[bytes], bytes]
) -> None:
    """A line that was cut must not become a row: what is left of its URL is another page's."""
    names = [random.Random(number).randbytes(12).hex().encode() for number in range(500)]
    header, row = STRAY[kind].split(b"\n", 1) if kind in {"CSV", "TSV"} else (b"", STRAY[kind])
    lines = [row.replace(b"%s", name) for name in names]
    if header:
        lines[0] = header + b"\n" + lines[0]
    data = b"".join(compress(b"".join(lines[at : at + 20])) for at in range(0, len(lines), 20))
    read = []
    for share in (0.31, 0.61, 0.97):
        path, tally = tmp_path / "log", Tally()
        path.write_bytes(data[: int(share * len(data))])
        urls = urls_of(path, tally)
        assert urls == [f"http://a.com/caf{name.decode()}" for name in names[: len(urls)]]
        assert (tally.rows, tally.broken) == (len(urls), [])
        (unread,) = tally.unread
        assert unread.start == len(urls) + 1 + bool(header)
        assert unread.reason.startswith("the file was cut off there; copy")
        read.append(len(urls))
    assert 0 < read[0] < read[1] < read[2] < 500


@pytest.mark.parametrize("kind", ["JSON Lines", "CDX", "CDXJ", "Heritrix crawl.log"])
@pytest.mark.parametrize("broken", [b'ml"}\n', b"x 1 2\n\ngarbage\n", b"com,a)/ 2020 http://a.com/ 200\n"])
def test_a_broken_first_line_does_not_refuse_the_others(tmp_path: Path, kind: str, broken: bytes) -> None:
    path, tally = tmp_path / "log", Tally()
    path.write_bytes(broken + STRAY[kind].replace(b"%s", b"") * 2)
    log_format = format_of(path)
    assert log_format is not None
    assert log_format.name == kind
    assert len(read(path, tally)) == 2
    assert tally.skipped.total() == len(broken.splitlines()) - broken.count(b"\n\n")
