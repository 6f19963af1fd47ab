"""CDX, CDXJ and Heritrix's crawl.log: made-up rows, and the real samples."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from dedupcrawl.crawl_logs.registry import FORMATS, format_of, read_log
from dedupcrawl.crawl_logs.tally import LogError, Tally


def batches(name: str, path: Path, tally: Tally) -> Iterator[pl.DataFrame]:
    return next(one for one in FORMATS if one.name == name).batches(path, tally)


def rows(name: str, path: Path, data: bytes) -> tuple[list[dict[str, Any]], Tally]:
    path.write_bytes(data)
    tally = Tally()
    found = [row for batch in batches(name, path, tally) for row in batch.drop("fetched_at").to_dicts()]
    return [{name: value for name, value in row.items() if value is not None} for row in found], tally


NINE = b"com,a)/ 20200102030405 http://a.com/ text/html 200 ABC - 12 a.warc.gz\n"
ELEVEN = b"com,a)/ 20200102030405 http://a.com/ text/html 301 ABC http://a.com/x - 700 12 a.warc.gz\n"


def test_cdx_of_nine_and_of_eleven_fields(tmp_path: Path) -> None:
    nine, _ = rows("CDX", tmp_path / "cdx", NINE)
    assert nine == [{"url": "http://a.com/", "status": 200, "digest": "ABC", "line": 1}]
    eleven, _ = rows("CDX", tmp_path / "cdx", ELEVEN)
    assert eleven[0]["redirect_to"] == "http://a.com/x"


def test_cdx_header_names_the_fields(tmp_path: Path) -> None:
    found, _ = rows("CDX", tmp_path / "cdx", b" CDX k a\nABC http://a.com/\n")
    assert found == [{"url": "http://a.com/", "digest": "ABC", "line": 2}]


def test_cdx_broken_lines_and_posts(tmp_path: Path) -> None:
    post = NINE.replace(b"com,a)/", b"com,a)/?__wb_method=post&x=1")
    found, tally = rows("CDX", tmp_path / "cdx", NINE + b"com,a)/ 2020\n" + post + NINE)
    assert [row["line"] for row in found] == [1, 4]
    assert tally.skipped == {"not 9 fields": 1, "not a GET request": 1}
    assert [row.line for row in tally.broken] == [2]


def test_cdx_of_an_unknown_width_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="CDX row of 6 fields: put its header line"):
        rows("CDX", tmp_path / "cdx", b"com,a)/ 20200102030405 http://a.com/ text/html 200 ABC\n")


def test_a_revisit_has_no_status(tmp_path: Path) -> None:
    found, _ = rows("CDX", tmp_path / "cdx", NINE.replace(b"text/html", b"warc/revisit").replace(b"200", b"-"))
    assert found[0].keys() == {"url", "digest", "line"}


def test_cdxj(tmp_path: Path) -> None:
    data = (
        b"!OpenWayback-CDXJ 1.0\n"
        b'com,a)/ 20200102030405 {"url": "http://a.com/", "status": "200", "digest": "X", "length": "700"}\n'
        b"com,a)/ 20200102030405 nothing\n"
        b'com,a)/?__wb_method=post 20200102030405 {"url": "http://a.com/p", "digest": "Y"}\n'
        b'com,a)/b 20200102030406 {"url": "http://a.com/b", "mime": "unk", "digest": "Z"}\n'
    )
    path = tmp_path / "cdxj"
    found, tally = rows("CDXJ", path, data)
    assert found == [
        {"url": "http://a.com/", "status": 200, "digest": "X", "line": 2},
        {"url": "http://a.com/b", "digest": "Z", "line": 5},
    ]
    assert tally.skipped == {"not a JSON object": 1, "not a GET request": 1}
    assert [row.line for row in tally.broken] == [3]
    times = pl.concat(batches("CDXJ", path, Tally()))["fetched_at"].dt.to_string("%H:%M:%S")
    assert times.to_list() == ["03:04:05", "03:04:06"]


HERITRIX = (
    b"2020-01-02T03:04:05.678Z   301        319 http://a.com/old RL http://a.com/ text/html #045 20200102030405344+19 "
    b"sha1:H73U5HIFUNXSLG4IAN2DBRG42U72CW2S - 3t\n"
    b"2020-01-02T03:04:06.678Z   200       1000 http://a.com/new RLR http://a.com/old text/html #045 "
    b"20200102030405344+19 sha1:CMDQ5CRPU6IEYSTTGFYSGS2QWA7W4ONV - -\n"
)


def test_heritrix_tells_redirects_by_the_path_of_their_targets(tmp_path: Path) -> None:
    found, tally = rows("Heritrix crawl.log", tmp_path / "crawl.log", HERITRIX + b"nonsense\n")
    assert found == [
        {"url": "http://a.com/old", "digest": "H73U5HIFUNXSLG4IAN2DBRG42U72CW2S", "status": 301,
         "bytes": 319, "line": 1},
        {"url": "http://a.com/new", "digest": "CMDQ5CRPU6IEYSTTGFYSGS2QWA7W4ONV", "status": 200,
         "bytes": 1000, "line": 2},
        {"url": "http://a.com/old", "redirect_to": "http://a.com/new"},
    ]  # fmt: skip
    assert [row.line for row in tally.broken] == [3]


def test_rows_made_of_other_rows_are_not_counted(tmp_path: Path) -> None:
    path = tmp_path / "crawl.log"
    path.write_bytes(HERITRIX)
    tally = Tally()
    assert sum(batch.height for batch in read_log(path, tally)) == 3
    assert tally.rows == 2


@pytest.mark.parametrize(
    ("name", "log_format", "total", "usable"),
    [
        ("netarchivesuite/crawl-42.log", "Heritrix crawl.log", 157, 165),
        ("netarchivesuite/crawl-9.log", "Heritrix crawl.log", 219, 219),
        ("netarchivesuite/idna-crawl.log", "Heritrix crawl.log", 1547, 407),
        ("pywb/sample_archive/cdx/iana.cdx", "CDX", 171, 171),
        ("pywb/sample_archive/cdx/bad.cdx", "CDX", 4, 4),
        ("pywb/sample_archive/cdx/post-test.cdx", "CDX", 3, 0),
        ("pywb/sample_archive/cdxj/iana.cdxj", "CDXJ", 171, 171),
        ("pywb/sample_archive/cdxj/example-no-digest.cdxj", "CDXJ", 3, 0),
    ],
)
def test_real_samples(shared_data: Path, name: str, log_format: str, total: int, usable: int) -> None:
    path, tally = shared_data / "logs" / name, Tally()
    found = format_of(path)
    assert found is not None
    assert found.name == log_format
    assert sum(batch.height for batch in read_log(path, tally)) == usable
    assert (tally.rows, tally.broken) == (total, [])


def test_cdx_and_cdxj_of_one_archive_say_the_same(shared_data: Path) -> None:
    folder = shared_data / "logs" / "pywb" / "sample_archive"
    one = pl.concat(read_log(folder / "cdx" / "iana.cdx", Tally()))
    other = pl.concat(read_log(folder / "cdxj" / "iana.cdxj", Tally()))
    assert one.drop("redirect_to", "bytes").equals(other.drop("redirect_to", "bytes"))
