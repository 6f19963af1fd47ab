"""Read files into a Spark dataframe, with the position of each row, so that their order survives any shuffle.

Spark splits a file into pieces (of 128 MB by default); a compressed one (.gz, .bz2) is a single piece. The readers of
the local engine turn logs into the same rows (`training.page_rows`).
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.parse import unquote

import pyarrow as pa  # type: ignore[import-untyped]  # it ships no types
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from dedupcrawl.crawl_logs.blocks import GZIP, LINE_LIMIT, XZ, ZSTD, LineBlock, skip_long_line, utf8
from dedupcrawl.crawl_logs.blocks import head_of as local_head_of
from dedupcrawl.crawl_logs.parquet import known_columns, values
from dedupcrawl.crawl_logs.registry import format_like
from dedupcrawl.crawl_logs.rows import BlockReader, LogRow, canonical_row, usable_rows
from dedupcrawl.crawl_logs.tally import LogError, Tally
from dedupcrawl.training.page_rows import PageRow, SiteRows, page_rows

HEAD_LINES = 100  # first lines by which the format of a file is recognized
_HEAD_OF_A_LINE = 65_536  # bytes of each that are read for this

_COMPRESSED = {GZIP: "gzip", XZ: "xz", ZSTD: "zstd"}
_MOST_OF_A_LINE = 8 * LINE_LIMIT  # most bytes of a line for Hadoop, which silently skips a longer one
_BLOCK_BYTES = 16 << 20  # bytes of lines that are parsed at once


class Piece(NamedTuple):
    """A part of a file that one task reads: the number of the file, and the byte at which the part begins."""

    file: int
    start: int


class TaskReport(NamedTuple):
    """A task's report on some lines of a piece."""

    piece: Piece
    first_line: int  # 1-based position of the first line within the piece
    lines: int  # number of lines; 0 if they need not be counted
    tally: Tally  # counts what was left out of them


def path_of(log: str) -> str:
    """The name of a log for Spark: a URI, which may be a pattern, stays as it is; a local path is escaped."""
    return log if "://" in log else _literal(Path(log).absolute().as_posix(), "file://")


class Files(NamedTuple):
    """The files of some logs."""

    numbers: dict[str, int]  # `bare` URI → number, in the order of the logs
    names: list[str]

    def add(self, spark: SparkSession, log: str) -> list[str]:
        """Add a log, which may be a folder or a pattern; returns the URIs of its files, sorted.

        Raises:
            PySparkException: There is no such log.
            LogError: The log exists, but Spark ignores its files.
        """
        paths = sorted(spark.read.text(path_of(log)).inputFiles())
        if not paths:
            raise LogError(f"Spark finds no file at {log}: it passes over names that begin with '_' or '.'.")
        for file in paths:
            self.numbers[bare(file)] = len(self.names)
            self.names.append(log if len(paths) == 1 else unquote(file))
        return paths


def _literal(path: str, scheme: str = "") -> str:
    return scheme + re.sub(r"([\\*?{}\[\]])", r"\\\1", path)


def head_of(spark: SparkSession, file: str) -> bytes:
    """The first lines of the file at a URI.

    Raises:
        LogError: It is compressed, and Spark does not recognize that.
    """
    text = _text(spark, _literal(unquote(file)))
    lines = text.select(F.substring(F.col("value").cast("binary"), 1, _HEAD_OF_A_LINE)).head(HEAD_LINES)
    data = b"".join(bytes(row[0]) + b"\n" for row in lines)
    for magic, name in _COMPRESSED.items():
        if data.startswith(magic):
            raise LogError(
                f"{unquote(file)} is compressed by {name}, which Spark does not see or read: "
                "unpack it, or take gzip and a name that ends in .gz."
            )
    return data


def lines_of(spark: SparkSession, log: str) -> DataFrame:
    """The lines of a log: columns `file` (URI), `start` (of the piece) and `value` (bytes; null if too long)."""
    value = F.col("value").cast("binary")
    return _text(spark, path_of(log)).select(
        F.col("_metadata.file_path").alias("file"),
        F.col("_metadata.file_block_start").alias("start"),
        F.when(F.octet_length(value) <= LINE_LIMIT, value).alias("value"),
    )


def _text(spark: SparkSession, log: str) -> DataFrame:
    limit = str(_MOST_OF_A_LINE)
    return spark.read.option("mapreduce.input.linerecordreader.line.maxlength", limit).text(log, lineSep="\n")


def piece_blocks(batches: Iterator[pa.RecordBatch], files: Files) -> Iterator[tuple[TaskReport, LineBlock]]:
    """Split a task's part of `lines_of` into blocks of some megabytes, each within one piece and with its report.

    Bytes that are not UTF-8 are percent-encoded.
    """
    piece, next_line, lines, size, tally = Piece(-1, 0), 1, list[bytes](), 0, Tally()
    for batch in batches:
        for file, start, value in zip(*(batch[name].to_pylist() for name in ("file", "start", "value")), strict=True):
            here = Piece(files.numbers[bare(file)], start)
            if here != piece or size >= _BLOCK_BYTES:
                if lines:
                    yield TaskReport(piece, next_line, len(lines), tally), _block(next_line, lines)
                next_line = 1 if here != piece else next_line + len(lines)
                piece, lines, size, tally = here, [], 0, Tally()
            if value is None:
                skip_long_line(tally, files.names[here.file], next_line + len(lines))
            lines.append(value or b"")
            size += len(lines[-1])
    if lines:
        yield TaskReport(piece, next_line, len(lines), tally), _block(next_line, lines)


def _block(first_line: int, lines: Sequence[bytes]) -> LineBlock:
    return LineBlock(first_line, utf8(b"\n".join(lines) + b"\n"))


def bare(uri: str) -> str:
    """A file's URI in one spelling, because Spark writes both `file:/a` and `file:///a`."""
    scheme, colon, rest = uri.partition(":")
    return f"{scheme}{colon}{rest.lstrip('/')}"


def add_reports(tally: Tally, rows: DataFrame, names: Sequence[str]) -> None:
    """Add the tasks' reports to `tally`, with line numbers that count from the beginnings of the files."""
    packed = rows.where(F.col(REPORT).isNotNull()).select(REPORT).collect()
    reports = [pickle.loads(bytes(row[0])) for row in packed]  # safe: our own tasks have pickled them
    piece, before, lines = Piece(-1, 0), 0, 0  # before: number of lines in the file's earlier pieces
    for one in sorted(reports, key=lambda report: (report.piece, report.first_line)):
        if one.piece != piece:
            before = before + lines if one.piece.file == piece.file else 0
            piece, lines = one.piece, 0
        lines += one.lines
        tally.rows += one.tally.rows - one.tally.skipped.total()
        for reason, count in one.tally.skipped.items():
            broken = [row for row in one.tally.broken if row.reason == reason]
            numbers = [row.line + before for row in broken]
            tally.skip(names[piece.file], reason, count, numbers, broken[0].unit if broken else "line")


ORDER = ("file", "start", "row")
"""Columns that sort rows in the order of the logs: number of the file, start of the piece, rising number within it."""

REPORT = "report"
"""The column with a pickled `TaskReport`. Rows that have one have no other values; it is null in the rows of pages."""

PLACE = (("file", pa.int32()), ("start", pa.int64()), ("row", pa.int64()))
"""`ORDER` with the types. The tasks that read leave "row" empty, and `numbered` fills it in."""
_COLUMNS = PageRow.__struct_fields__
_TYPES = {  # the others are strings
    "content": pa.int64(),
    "fault": pa.int16(),
    "kept_in": pa.int64(),
    "names_own": pa.bool_(),
    "alias_held": pa.bool_(),
    "simhash": pa.int64(),
    "importance": pa.float64(),
    "fetched_at": pa.int64(),
}
_FIELDS = [(name, _TYPES.get(name, pa.string())) for name in ("site", *_COLUMNS)]
_ARROW_SCHEMA = pa.schema([*_FIELDS, *PLACE, (REPORT, pa.binary())])
SCHEMA = from_arrow_schema(_ARROW_SCHEMA)

_PLACE = ("_file_path", "_file_block_start", "_row_index")  # of a Parquet row, from Spark's metadata


def read_logs(spark: SparkSession, logs: Sequence[str]) -> tuple[DataFrame, Sequence[str]]:
    """Read logs: Parquet, and all formats whose lines can be read independently (JSON Lines, CDX, CDXJ, Heritrix).

    `logs` are paths or URIs as Spark takes them, in the order in which they were written. A folder or a pattern is one
    log of several files, which have one format, in the order of their names.

    Returns:
        Rows with `site`, the fields of `PageRow` in Spark's types, `ORDER` and `REPORT`; and the names of the files.

    Raises:
        LogError: A log cannot be read, or has another format.
    """
    frames, files = [], Files({}, [])
    for log in logs:
        frame = _read(spark, log, files)
        if frame is not None:
            frames.append(numbered(frame))
    empty = spark.createDataFrame([], SCHEMA)
    return reduce(DataFrame.unionAll, frames, empty), files.names


def numbered(rows: DataFrame) -> DataFrame:
    """Fill in "row", the last column of `ORDER`, of rows that are still in the order in which tasks read them."""
    return rows.withColumn("row", F.monotonically_increasing_id())


def check_formats(logs: Sequence[str]) -> None:
    """Check the formats of local files before Spark is started.

    Raises:
        LogError: `read_logs` could not read one of them.
    """
    for log in logs:
        if Path(log).is_file():
            _block_reader(local_head_of(Path(log)), log)


def _block_reader(head: bytes, log: str) -> BlockReader | Literal["Parquet"] | None:
    """The reader for a log that begins with `head`; None for an empty log."""
    log_format = format_like(head, log)
    if log_format is None:
        return None
    if log_format.name == "Parquet":
        return "Parquet"
    if log_format.block_reader is None:
        raise LogError(
            f"{log} is {log_format.name}, which Spark cannot split: "
            "convert it to Parquet or JSON Lines, or take --engine local."
        )
    return log_format.block_reader(head, log)


def _read(spark: SparkSession, log: str, files: Files) -> DataFrame | None:
    paths = files.add(spark, log)
    head = next((head for file in paths if (head := head_of(spark, file)).strip()), b"")
    reader = _block_reader(head, log)
    if reader == "Parquet":
        return _parquet(spark, log, files)
    return None if reader is None else lines_of(spark, log).mapInArrow(partial(_of_lines, reader, files), SCHEMA)


def _parquet(spark: SparkSession, log: str, files: Files) -> DataFrame:
    frame = spark.read.parquet(path_of(log))
    columns = [F.col(f"`{name}`") for name in known_columns([name for name in frame.columns if "`" not in name], log)]
    place = [F.col(f"_metadata{name.replace('_', '.', 1)}").alias(name) for name in _PLACE]
    return frame.select(*columns, *place).mapInArrow(partial(_of_parquet, files), SCHEMA)


def _of_lines(read: BlockReader, files: Files, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    rows = (
        (report, partial(read, block, files.names[report.piece.file], report.tally))
        for report, block in piece_blocks(batches, files)
    )
    return _rows(rows, files.names)


def _of_parquet(files: Files, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Convert a task's Parquet rows, which Spark has numbered within their file, to rows of `SCHEMA`."""

    def found() -> Iterator[_Found]:
        for batch in batches:
            pieces = dict[Piece, list[LogRow]]()
            for row in values(batch):
                file, start, number = (row.pop(name) for name in _PLACE)
                piece = Piece(files.numbers[bare(file.decode())], start)
                pieces.setdefault(piece, []).append(canonical_row(row, number + 1))
            for piece, rows in pieces.items():
                yield TaskReport(piece, rows[0].line or 0, 0, Tally()), partial(list, rows)

    return _rows(found(), files.names)


_Found = tuple[TaskReport, Callable[[], list[LogRow]]]
"""A block of a piece: its report, and the function that reads its rows and counts in the report's tally."""


def _rows(blocks: Iterator[_Found], names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Convert blocks to rows of `SCHEMA`, each followed by its report."""
    for report, read in blocks:
        file, start = report.piece
        pages = page_rows(usable_rows(read(), names[file], report.tally))
        rows = [(site, row) for site, some in pages.items() for row in some]
        columns = {"site": [site for site, _ in rows]}
        columns |= {name: [getattr(row, name) for _, row in rows] for name in _COLUMNS}
        place = {"file": [file] * len(rows), "start": [start] * len(rows)}
        nothing = dict.fromkeys(("row", REPORT), [None] * len(rows))
        yield from pa.table({**columns, **place, **nothing}, schema=_ARROW_SCHEMA).to_batches()
        yield pa.RecordBatch.from_pylist([{REPORT: pickle.dumps(report)}], schema=_ARROW_SCHEMA)


def in_order(table: pa.Table) -> SiteRows:
    """Convert rows of `SCHEMA` back to `PageRow`s: site → its rows in the order of the logs."""
    table = table.sort_by([(name, "ascending") for name in ORDER])
    rows: SiteRows = {}
    for site, *row in zip(*(table[name].to_pylist() for name in ("site", *_COLUMNS)), strict=True):
        rows.setdefault(site, []).append(PageRow(*row))
    return rows
