from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa  # type: ignore[import-untyped]  # it ships no types
import pytest
from pyarrow import parquet as pq

from dedupcrawl.crawl_logs.registry import read_log
from dedupcrawl.crawl_logs.tally import LogError, Tally
from dedupcrawl.training.page_rows import SiteRows, page_rows
from tests.spark.logs import messy_json_lines, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ARCHIVED = [
    (f"org,b)/{i % 40}", f"202605{i % 28 + 1:02}000000", f"http://www.b.org/{i % 40}", f"{i % 3}{i % 7:031X}")
    for i in range(300)
]


def read_here(logs: list[Path], tally: Tally) -> SiteRows:
    return page_rows([row for log in logs for batch in read_log(log, tally) for row in batch])


def read_by_spark(spark: SparkSession, logs: list[Path], tally: Tally) -> SiteRows:
    from dedupcrawl.spark.reading import REPORT, add_reports, in_order, read_logs

    rows, names = read_logs(spark, [str(log) for log in logs])
    add_reports(tally, rows, names)
    return in_order(rows.where(f"{REPORT} is null").repartition(3).toArrow())


def messy(path: Path) -> None:
    messy_json_lines(path)


def packed(path: Path) -> None:
    messy_json_lines(path)
    path.write_bytes(gzip.compress(path.read_bytes()))


def parquet(path: Path) -> None:
    times = [datetime(2026, 5, 1 + i % 28, 3) if i % 3 else None for i in range(len(rows()))]
    values = [{**row, "fetched_at": None, "fetch_time": at, "other": 1} for row, at in zip(rows(), times, strict=True)]
    names = dict.fromkeys(name for row in values for name in row if name != "fetched_at")
    columns = {name: [row.get(name) for row in values] for name in names}
    pq.write_table(pa.table({**columns, "bytes": pa.array(columns["bytes"], pa.uint32())}), path, row_group_size=50)


def cdx(header: bytes, fields: str) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        lines = [fields.format(*capture).encode() for capture in ARCHIVED]
        lines[9:9] = [b"broken", b"", b"com,a)/?__wb_method=POST " + lines[0].split(b" ", 1)[1], b"\xff" + lines[1]]
        path.write_bytes(header + b"\n".join(lines) + b"\n")

    return write


def cdxj(path: Path) -> None:
    lines = [
        f"{key} {time} " + json.dumps({"url": url, "digest": digest, "status": "200", "length": "5"})
        for key, time, url, digest in ARCHIVED
    ]
    lines[5:5] = ["!meta {}", "org,b)/ 20260501000000 {broken", "org,b)/?__wb_method=POST 20260501000000 {}"]
    path.write_text("\n".join(lines))


def heritrix(path: Path) -> None:
    lines = [
        f"{time[:4]}-{time[4:6]}-{time[6:8]}T00:00:00.000Z   200 {i + 1:10} {url} {'LR' if i % 9 == 0 else 'L'} "
        f"http://www.b.org/from/{i % 20} text/html #01 20260501000000000+1 sha1:{digest} - -"
        for i, (_, time, url, digest) in enumerate(ARCHIVED)
    ]
    path.write_text("\n".join([*lines, "not a line of it"]))


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("log.jsonl", messy),
        ("log.jsonl.gz", packed),
        ("log.parquet", parquet),
        ("11.cdx", cdx(b" CDX N b a m s k r M S V g\n", "{0} {1} {2} text/html 200 {3} - - 10 5 a.warc.gz")),
        ("9.cdx", cdx(b"", "{0} {1} {2} text/html 200 {3} - 5 a.warc.gz")),
        ("index.cdxj", cdxj),
        ("crawl.log", heritrix),
    ],
)
def test_the_same_rows_in_the_same_order(
    spark: SparkSession, tmp_path: Path, name: str, write: Callable[[Path], None]
) -> None:
    """Files are cut into pieces of some lines; names have what is special to Spark's patterns and URIs."""
    log = tmp_path / ".scrapy" / "a b%20[1]" / "day=5" / name
    log.parent.mkdir(parents=True)
    write(log)
    here, there = Tally(), Tally()
    expected = read_here([log], here)
    spark.conf.set("spark.sql.files.maxPartitionBytes", 12_000)
    try:
        found = read_by_spark(spark, [log], there)
    finally:
        spark.conf.unset("spark.sql.files.maxPartitionBytes")
    if write is heritrix:  # rows that are made of others stand after them, at the end of a block
        found, expected = ({site: sorted(some, key=repr) for site, some in one.items()} for one in (found, expected))
    assert found == expected
    assert sum(map(len, found.values())) > 200
    assert (there.rows, there.skipped) == (here.rows, here.skipped)
    assert {broken for broken in here.broken if "/" not in broken.reason} == set(there.broken)


def test_a_line_of_megabytes_is_left_out_and_named(spark: SparkSession, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b'{"url": "http://a.com/", "digest": "1"}\n' + b"x" * 30_000_000 + b"\nbroken\n")
    here, there = Tally(), Tally()
    assert read_by_spark(spark, [log], there) == read_here([log], here)
    assert there.skipped == here.skipped
    assert sorted(there.broken) == sorted(here.broken)


def test_several_logs_are_read_in_their_order_and_a_folder_by_name(spark: SparkSession, tmp_path: Path) -> None:
    logs = [tmp_path / "z.jsonl", tmp_path / "folder" / "b", tmp_path / "folder" / "c", tmp_path / "empty"]
    logs[1].parent.mkdir()
    for number, log in enumerate(logs[:3]):
        log.write_text("".join(f'{{"url": "http://a.com/{i}", "digest": "{number}"}}\n' for i in range(5)) + "broken\n")
    logs[3].touch()
    here, there = Tally(), Tally()
    expected = read_here(logs, here)
    assert read_by_spark(spark, [logs[0], tmp_path / "folder", logs[3]], there) == expected
    assert there.skipped == here.skipped
    assert [(Path(row.path).name, row.line) for row in there.broken] == [("z.jsonl", 6), ("b", 6), ("c", 6)]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"url,digest\nhttp://a.com/,1\n", "is CSV, which Spark cannot split"),
        ("a.jsonl", gzip.compress(b'{"url": "http://a.com/", "digest": "1"}\n', mtime=0), "is compressed by gzip"),
        (
            "a.jsonl.gz",
            gzip.compress(b'{"url": "http://a.com/", "digest": "1"}\n' * 999, mtime=0)[:-9],
            "cannot read a log",
        ),
        ("a.parquet", b"PAR1 and no more", "cannot read a log"),
        ("a.txt", b"garbage", "is not a crawl log in a known format"),
        ("_a.jsonl", b'{"url": "http://a.com/", "digest": "1"}\n', "Spark finds no file at"),
        ("none.jsonl", None, "does not exist: file:/"),
    ],
)
def test_a_log_that_cannot_be_read_is_named(
    spark: SparkSession, tmp_path: Path, name: str, content: bytes | None, message: str
) -> None:
    from dedupcrawl.spark.session import spark_session

    log = tmp_path / name
    if content is not None:
        log.write_bytes(content)
    with pytest.raises(LogError, match=message) as raised, spark_session():
        read_by_spark(spark, [log], Tally())
    assert name in str(raised.value)
    assert "\n" not in str(raised.value)
