"""CDXJ: a sorted URL key, a time stamp of 14 digits, and a JSON object (pywb, Common Crawl's index server)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from dedupcrawl.crawl_logs.blocks import LineBlock, first_lines, line_blocks
from dedupcrawl.crawl_logs.cdx import NOT_GET, WITH_TIME, without_record_mime
from dedupcrawl.crawl_logs.jsonl import objects
from dedupcrawl.crawl_logs.rows import LINE, canonical_rows, lines_of
from dedupcrawl.crawl_logs.tally import Tally

_ROW = re.compile(rb"\S+ \d{1,17} \{")
_HEADERS = re.compile(rb"^[!@][^\n]*", re.MULTILINE)
_COMMENT = ("!", "@")  # how header lines begin
_KEY_AND_TIME = r"^\S+ (\d{1,17}) "
_OF_THE_RECORD = ("length", "timestamp")  # the record's length in the archive is not the body's


def matches(head: bytes) -> bool:
    """Whether a file that begins with `head` is CDXJ, told by one of its first lines that are no headers."""
    first, *others = first_lines(_HEADERS.sub(b"", head))
    return _ROW.match(first) is not None or any(_ROW.match(line) and WITH_TIME.match(line) for line in others)


def read(path: Path, tally: Tally) -> Iterator[pl.DataFrame]:
    """The captures of a CDXJ file, in batches of `rows.SCHEMA` and `rows.LINE`; answers to a POST are left out."""
    for block in line_blocks(path, tally):
        yield rows_of(block, str(path), tally)


def rows_of(block: LineBlock, path: str, tally: Tally) -> pl.DataFrame:
    """The captures of some lines; a `BlockReader`."""
    lines = lines_of(block)
    other = pl.col("text").str.extract(r"^(\S+)").str.contains(NOT_GET, literal=True).fill_null(False)
    left_out = lines.filter(other)[LINE]
    tally.rows += left_out.len()
    tally.skip(path, "not a GET request", left_out.len())
    # Lines are emptied, not removed: what is left still stands on its own line of the file.
    empty = other | pl.col("text").str.starts_with(_COMMENT[0]) | pl.col("text").str.starts_with(_COMMENT[1])
    json = pl.when(~empty).then(pl.col("text").str.replace(_KEY_AND_TIME, "")).otherwise(pl.lit(""))
    text = lines.select(json.str.join("\n").alias("text"))["text"][0]
    rows = objects(LineBlock(block.first_line, f"{text}\n".encode()), path, tally)
    times = lines.select(LINE, fetched_at=pl.col("text").str.extract(_KEY_AND_TIME))
    rows = rows.drop(*_OF_THE_RECORD, strict=False).with_columns(pl.col(LINE).cast(pl.UInt32))
    return canonical_rows(without_record_mime(rows.join(times, on=LINE, how="left", maintain_order="left")))
