"""Crawl logs as rows of a Spark dataframe: the same rows as `page_rows`, by the same readers, and their order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from typing import NamedTuple

import msgspec
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]  # it ships no types
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from dedupcrawl.crawl_logs.parquet import known_columns
from dedupcrawl.crawl_logs.registry import format_like
from dedupcrawl.crawl_logs.rows import LINE, BlockReader, canonical_rows, usable_rows
from dedupcrawl.crawl_logs.tally import LogError, Tally
from dedupcrawl.spark.lines import Files, Piece, Told, bare, head_of, lines_of, path_of, piece_blocks
from dedupcrawl.training.page_rows import SIGNED_ROWS, SiteNames, signed_rows

ORDER = ("file", "start", "row")
"""Columns by which rows sort in the order of the logs: number of the file, its piece, place among the piece's rows."""

TOLD = "told"
"""The column of the rows that are no page's, null in all others: a packed `Told`, beside which all is null."""

_TYPES = {  # of the others: string; times in ms
    "fault": "short",
    "names_own": "boolean",
    "alias_held": "boolean",
    "simhash": "long",
    "importance": "double",
    "fetched_at": "long",
}
SCHEMA = ", ".join(f"{name} {_TYPES.get(name, 'string')}" for name in SIGNED_ROWS) + (
    f", file int, start long, row long, {TOLD} binary"
)
_ARROW = {"string": pa.string(), "short": pa.int16(), "double": pa.float64(), "long": pa.int64(), "boolean": pa.bool_()}
_FIELDS = [(name, _ARROW[_TYPES.get(name, "string")]) for name in SIGNED_ROWS]
_ARROW_SCHEMA = pa.schema(
    [*_FIELDS, ("file", pa.int32()), ("start", pa.int64()), ("row", pa.int64()), (TOLD, pa.binary())]
)

_PLACE = ("_file_path", "_file_block_start", "_row_index")  # of a Parquet row, as Spark's metadata has it


class LogRows(NamedTuple):
    """Rows of some logs.

    Attributes:
        rows: Columns of `SIGNED_ROWS` in Spark's types, `ORDER` and `TOLD`.
        names: Of the files, by number, for people.
    """

    rows: DataFrame
    names: Sequence[str]


def read_logs(spark: SparkSession, logs: Sequence[str]) -> LogRows:
    """Read logs: Parquet and all formats that are lines without memory (JSON Lines, CDX, CDXJ, Heritrix).

    Args:
        spark: The session.
        logs: Paths or URIs as Spark takes them, in the order in which they were written. One that is a folder or a
            pattern is one log of several files, all of one format, in the order of their names.

    Raises:
        LogError: A log cannot be read, or is of another format.
    """
    frames, files = [], Files({}, [])
    for log in logs:
        frame = _read(spark, log, files)
        if frame is not None:
            frames.append(frame)
    empty = spark.createDataFrame([], SCHEMA)
    return LogRows(reduce(DataFrame.unionAll, frames, empty), files.names)


def _read(spark: SparkSession, log: str, files: Files) -> DataFrame | None:
    """The rows of one log; None of an empty one."""
    found = files.add(spark, log)
    head = next((head for file in found if (head := head_of(spark, file)).strip()), b"")
    log_format = format_like(head, log)
    if log_format is None:
        return None
    if log_format.name == "Parquet":
        return _parquet(spark, log, files)
    if log_format.block_reader is None:
        raise LogError(
            f"{log} is {log_format.name}, which Spark cannot split: "
            "convert it to Parquet or JSON Lines, or take --engine local."
        )
    read = partial(_of_lines, log_format.block_reader(head, log), files)
    return lines_of(spark, log).mapInArrow(read, SCHEMA)


def _parquet(spark: SparkSession, log: str, files: Files) -> DataFrame:
    frame = spark.read.parquet(path_of(log))
    known = [F.col(f"`{name}`") for name in known_columns([name for name in frame.columns if "`" not in name], log)]
    place = [F.col(f"_metadata{name.replace('_', '.', 1)}").alias(name) for name in _PLACE]
    return frame.select(*known, *place).mapInArrow(partial(_of_parquet, files), SCHEMA)


def _of_lines(read: BlockReader, files: Files, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What a task makes of its lines."""

    def found() -> Iterator[_Found]:
        for piece, block, tally in piece_blocks(batches, files):
            read_it = partial(read, block, files.names[piece.file], tally)
            yield _Found(piece, block.first_line, block.data.count(b"\n"), tally, read_it)

    return _rows(found(), files.names)


def _of_parquet(files: Files, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What a task makes of its rows; they are numbered within the file already."""

    def found() -> Iterator[_Found]:
        for batch in batches:
            frame = pl.DataFrame(pa.Table.from_batches([batch]))
            for (file, start), part in frame.group_by("_file_path", "_file_block_start", maintain_order=True):
                rows = part.with_columns((pl.col("_row_index") + 1).alias(LINE)).drop(_PLACE)
                piece = Piece(files.numbers[bare(str(file))], int(str(start)))
                yield _Found(piece, int(rows[LINE][0]), 0, Tally(), partial(canonical_rows, rows))

    return _rows(found(), files.names)


class _Found(NamedTuple):
    """A block of a piece: its first line, how many lines it counts for, and what reads its rows into the tally."""

    piece: Piece
    first_line: int
    lines: int
    tally: Tally
    read: Callable[[], pl.DataFrame]


def _rows(blocks: Iterator[_Found], names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """The rows of `SCHEMA` of some blocks."""
    sites, before, row = SiteNames(), Piece(-1, 0), 0
    for piece, first_line, lines, tally, read in blocks:
        row = row if piece == before else 0
        before = piece
        rows = signed_rows(usable_rows(read(), names[piece.file], tally), sites)
        placed = rows.with_columns(
            pl.lit(piece.file, pl.Int32).alias("file"),
            pl.lit(piece.start, pl.Int64).alias("start"),
            pl.int_range(row, row + pl.len(), dtype=pl.Int64).alias("row"),
            pl.lit(None, pl.Binary).alias(TOLD),
        )
        row += rows.height
        yield from placed.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(_ARROW_SCHEMA).to_batches()
        told = msgspec.msgpack.encode(Told.of(piece, first_line, lines, tally))
        yield pa.RecordBatch.from_pylist([{TOLD: told}], schema=_ARROW_SCHEMA)


def tells(rows: DataFrame) -> list[Told]:
    """What the tasks said of what they read."""
    said = rows.where(F.col(TOLD).isNotNull()).select(TOLD).collect()
    return [msgspec.msgpack.decode(bytes(row[0]), type=Told) for row in said]


def in_order(table: pa.Table) -> pl.DataFrame:
    """Rows of `SCHEMA` that went through Spark → the columns of `SIGNED_ROWS` in the order of the logs."""
    frame = pl.DataFrame(table).sort(*ORDER)
    return frame.select(*SIGNED_ROWS).cast(pl.Schema(SIGNED_ROWS))
