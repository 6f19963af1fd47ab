"""Rows, and what all formats have in common."""

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
from dedupcrawl.crawl_logs.rows import COLUMNS, NAMES, URL_LIMIT, LogRow, canonical_row, usable_rows
from dedupcrawl.crawl_logs.tally import LogError, Tally
from tests.crawl_logs.rows import compressed, read, said, urls_of
from tests.fixtures import table_of

AT = 1_577_934_245_000  # 2020-01-02T03:04:05Z in milliseconds


def one(**columns: object) -> dict[str, object]:
    """What a row of these values says."""
    return said(canonical_row(columns))


def test_a_name_that_is_not_known_says_nothing() -> None:
    assert one(url="http://a/", other=1) == {"url": "http://a/"}
    assert one(**{f"x{number}": number for number in range(1_000)}, url="u", **{"y" * 10_000: 1}) == {"url": "u"}


@pytest.mark.parametrize(("column", "name"), [(c, n) for c, names in NAMES.items() for n in names if c in COLUMNS])
def test_every_name_of_a_column_is_known(column: str, name: str) -> None:
    value = {"fetched_at": "2020-01-02T03:04:05Z", "alias_held": "False", "unique": "true"}.get(column, "200")
    expected = {"fetched_at": AT, "status": 200, "bytes": 200, "importance": 200.0}
    expected |= {"alias_held": False, "unique": True}
    assert one(**{f" {name.upper()}": value}) == {column: expected.get(column, value)}


@pytest.mark.parametrize(
    "nothing", ["", "-", " ", "0000000000000000", "[]", "{}", "false", "NULL", "None", "\\N", "nan"]
)
def test_what_is_not_said_is_null(nothing: str) -> None:
    assert one(url=nothing, digest=nothing, simhash=nothing, redirect=nothing, duplicate_of=nothing) == {}


@pytest.mark.parametrize(
    ("said", "counts"), [("nan", None), ("1e999", None), ("-3", 0.0), ("1e300", 1e15), ("2.5", 2.5)]
)
def test_importance_can_be_added_up(said: str, counts: float | None) -> None:
    assert one(importance=said).get("importance") == counts
    assert one(importance=float(said)).get("importance") == counts


@pytest.mark.parametrize("column", ["alias_held", "unique"])
@table_of("logs_and_training", "true_and_false_as_logs_write_them")
def test_true_and_false_as_logs_write_them(column: str, said: object, counts: bool | None) -> None:
    assert one(**{column: said}).get(column) is counts


def test_what_is_neither_true_nor_false_is_taken_for_neither_and_its_line_is_told() -> None:
    tally, alias = Tally(), {"url": "http://a.com/1", "alias_of": "http://a.com/2"}
    told = [canonical_row({**alias, "alias_held": it}, line) for line, it in enumerate(["yes", "maybe", "", "2"], 2)]
    rows = usable_rows(told, "log.csv", tally)
    assert [row.alias_held for row in rows] == [True, None]
    assert tally.skipped == {"alias_held is neither true nor false": 2}
    assert [row.line for row in tally.broken] == [3, 5]


@table_of("logs_and_training", "a_time_is_read_however_a_log_writes_it")
def test_a_time_is_read_however_a_log_writes_it(time: str) -> None:
    told = one(fetched_at=time)["fetched_at"]
    assert isinstance(told, int)
    assert told // 1000 * 1000 == AT


def test_a_text_is_digested_where_there_is_no_signature() -> None:
    texts = zip(["a b\nc", "abc", "abd", "abc", "", None], [None, None, None, "x", None, None], strict=True)
    rows = [canonical_row({"text": text, "digest": digest}) for text, digest in texts]
    first, second, third, fourth, empty, none = (row.text_digest for row in rows)
    assert first == second != third
    assert fourth is None
    assert empty == "da39a3ee5e6b4b0d3255bfef95601890afd80709"
    assert none is None


def test_rows_that_cannot_be_used_are_counted_by_reason() -> None:
    urls = [
        None, "javascript:void(0)", "data:text/html,hi", "dns:example.com", "HTTPS://例え.jp/ä",
        "http://a/" + "x" * URL_LIMIT, "http:///nohost", "http://a/", "http://b/",
    ]  # fmt: skip
    digests, links = ["x"] * 7 + [None, None], [None] * 8 + ["/c"]
    columns = enumerate(zip(urls, digests, links, strict=True), 1)
    rows = [
        canonical_row({"url": url, "digest": digest, "redirect_to": to}, line) for line, (url, digest, to) in columns
    ]
    tally = Tally()
    usable = usable_rows(rows, "log", tally)
    assert [row.url for row in usable] == ["HTTPS://例え.jp/ä", "http://b/"]
    assert tally.rows == 9
    assert tally.skipped == {
        "no URL": 1,
        "not an http URL": 4,
        f"URL longer than {URL_LIMIT} bytes": 1,
        "no digest, redirect or canonical link": 1,
    }
    assert [(row.line, row.reason.split()[0]) for row in tally.broken] == [(1, "no"), (6, "URL")]


_GOOD = """a a.com. BÜCHER.de:80 例え。テスト 💩.la कि.भारत [::1]:80 u:p@v@a.com a_b.-c-.com
caf%E9.com %e9 ｃａｆｅ－1.com"""
_BAD = """.. . - [::1 [x] a..b :80 u@ a:b a.com:80x * 。 <a> {a} {{host}} %7Ba%7D.com a%zz.com ｛a｝.com $host a,b
'a' "a" (a) a;b a=b a&b.com a! a+b ~a *.a.com `a`"""
GOOD = _GOOD.split()
BAD = [*_BAD.split(), "a b", "a\tb", "\u200b"]


def test_a_url_whose_host_is_none_is_left_out() -> None:
    """Each would be a site of its own, with a file of rules: `.toml`, `[.toml`, `{a}.toml`."""
    urls = [f"http://{host}{end}" for host in (*GOOD, *BAD) for end in ("/", "", "?x", "\\x", "#x")]
    tally = Tally()
    usable = usable_rows([canonical_row({"url": url, "digest": "x"}) for url in urls], "", tally)
    assert [row.url for row in usable] == urls[: 5 * len(GOOD)]
    assert tally.skipped == {"not an http URL": 5 * len(BAD)}


def test_values_that_do_not_fit_are_null() -> None:
    assert one(status="abc", bytes="99999999999999999999999", importance="many", fetched_at="yesterday") == {}


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
        LogError, match=r"log is not a crawl log in a known format \(Parquet, .*its url column\)\. .*crawl-log\.jsonl"
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
        assert unread.line == len(urls) + 1 + bool(header)
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
