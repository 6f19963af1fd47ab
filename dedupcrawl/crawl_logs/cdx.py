"""CDX and CDXJ: the capture indexes of web archives.

CDX has 9 or 11 fields, or those that its header line names, by the letters of
https://iipc.github.io/warc-specifications/specifications/cdx-format/cdx-2015/. CDXJ (pywb, Common Crawl's index server)
has a sorted URL key, a time stamp of 14 digits, and a JSON object.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

import polars as pl

from dedupcrawl.crawl_logs.blocks import LineBlock, first_lines
from dedupcrawl.crawl_logs.delimited import cut
from dedupcrawl.crawl_logs.jsonl import objects
from dedupcrawl.crawl_logs.rows import LINE, BlockReader, canonical_rows, lines_of
from dedupcrawl.crawl_logs.tally import LogError, Tally

_HEADER = re.compile(rb" CDX( [A-Za-z])+\s*\Z")
_ROW = re.compile(rb"\S+ \d{1,14} \S+ \S+ (?:\d{3}|-) ")
WITH_TIME = re.compile(rb"\S+ \d{14} ")  # which no line of prose has
_LETTERS = {"a": "url", "s": "status", "k": "digest", "r": "redirect_to", "b": "fetched_at", "N": "key"}
_WITHOUT_HEADER = {9: "N b a m s k r V g", 11: "N b a m s k r M S V g"}
NOT_GET = "__wb_method="  # how archives key the answers to other requests than GET


def matches(head: bytes) -> bool:
    """Whether a file that begins with `head` is CDX, told by its header line or by one of its first rows."""
    first, *others = first_lines(head)
    if _header_of(head) or _ROW.match(first):
        return True
    return any(_ROW.match(line) and WITH_TIME.match(line) for line in others)


def _header_of(head: bytes) -> bytes | None:
    return next((line for line in head.split(b"\n", 3)[:3] if _HEADER.match(line)), None)


def block_reader(head: bytes, path: str) -> BlockReader:
    """What reads any lines of a CDX file that begins with `head`; answers to a POST are left out.

    Raises:
        LogError: The file has no header line and its rows are of neither 9 nor 11 fields.
    """
    fields = [len(line.split(b" ")) for line in first_lines(head)]
    if header := _header_of(head):
        letters = header.decode().split()[1:]
    elif known := [_WITHOUT_HEADER[count] for count in fields if count in _WITHOUT_HEADER]:
        letters = known[0].split()
    else:
        raise LogError(f"{path} has a CDX row of {fields[0]} fields: put its header line (' CDX N b a …') on top.")
    return partial(_rows_of, [_LETTERS.get(letter, f"_{letter}") for letter in letters])


def _rows_of(names: Sequence[str], block: LineBlock, path: str, tally: Tally) -> pl.DataFrame:
    first, _, rest = block.data.partition(b"\n")
    if _HEADER.match(first):
        block = LineBlock(block.first_line + 1, rest)
    captures = cut(block, " ", names, path, tally)
    if "key" in captures.columns:
        captures = captures.filter(_is_get(captures, pl.col("key"), path, tally))
    return canonical_rows(captures)


def _is_get(captures: pl.DataFrame, key: pl.Expr, path: str, tally: Tally) -> pl.Series:
    """Shape (n,): whether each capture is to be read, by its key; the others are counted."""
    is_get = captures.select(~key.str.contains(NOT_GET, literal=True).fill_null(False)).to_series()
    tally.skip(path, "not a GET request", len(is_get) - int(is_get.sum()))
    return is_get


_CDXJ_ROW = re.compile(rb"\S+ \d{1,17} \{")
_HEADERS = re.compile(rb"^[!@][^\n]*", re.MULTILINE)
_COMMENT = ("!", "@")  # how header lines begin
_KEY_AND_TIME = r"^\S+ (\d{1,17}) "
_OF_THE_RECORD = ("length", "timestamp")  # the record's length in the archive is not the body's


def matches_cdxj(head: bytes) -> bool:
    """Whether a file that begins with `head` is CDXJ, told by one of its first lines that are no headers."""
    first, *others = first_lines(_HEADERS.sub(b"", head))
    return _CDXJ_ROW.match(first) is not None or any(_CDXJ_ROW.match(line) and WITH_TIME.match(line) for line in others)


def rows_of_cdxj(block: LineBlock, path: str, tally: Tally) -> pl.DataFrame:
    """The captures of some lines, answers to a POST left out; a `BlockReader`."""
    lines = lines_of(block)
    is_get = _is_get(lines, pl.col("text").str.extract(r"^(\S+)"), path, tally)
    # Lines are emptied, not removed: what is left still stands on its own line of the file.
    empty = ~is_get | pl.col("text").str.starts_with(_COMMENT[0]) | pl.col("text").str.starts_with(_COMMENT[1])
    json = pl.when(~empty).then(pl.col("text").str.replace(_KEY_AND_TIME, "")).otherwise(pl.lit(""))
    text = lines.select(json.str.join("\n").alias("text"))["text"][0]
    rows = objects(LineBlock(block.first_line, f"{text}\n".encode()), path, tally)
    times = lines.select(LINE, fetched_at=pl.col("text").str.extract(_KEY_AND_TIME))
    rows = rows.drop(*_OF_THE_RECORD, strict=False).with_columns(pl.col(LINE).cast(pl.UInt32))
    return canonical_rows(rows.join(times, on=LINE, how="left", maintain_order="left"))
