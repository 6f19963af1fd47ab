"""Parquet: Common Crawl's columnar index, or a log of ours in that format.

Some writers, Spark among them, write as text whatever bytes they have. Polars refuses text that is not UTF-8; PyArrow,
where it is installed, hands it over as bytes, which are then percent-encoded as in the other formats.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import polars as pl

from dedupcrawl.crawl_logs.rows import KNOWN_NAMES, LINE, NAMES, canonical_rows
from dedupcrawl.crawl_logs.tally import LogError, Tally

_ROWS_A_BATCH = 200_000


def read(path: Path, tally: Tally) -> Iterator[pl.DataFrame]:
    """The rows of a Parquet file, only the known columns read, in batches of `rows.SCHEMA` and `rows.LINE`.

    Raises:
        LogError: the file is damaged, or has no URL column, or text that is not UTF-8 and there is no PyArrow.
    """
    read_before, size = tally.bytes_read, path.stat().st_size
    try:
        frame = pl.scan_parquet(path, glob=False)
        names = known_columns(frame.collect_schema().names(), str(path))
        height, start = frame.select(pl.len()).collect().item(), 0
        for batch in _batches(frame.select(names), height, path):
            yield canonical_rows(batch.with_row_index(LINE, offset=start + 1))
            start += batch.height
            tally.bytes_read = read_before + size * start // height
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise LogError(f"{path} cannot be read as Parquet ({reason}): copy or export the file again.") from error


def _batches(frame: pl.LazyFrame, height: int, path: Path) -> Iterator[pl.DataFrame]:
    """All rows: by Polars, and by PyArrow from the first batch on that Polars refuses for its text."""
    for start in range(0, height, _ROWS_A_BATCH):
        try:
            batch = frame.slice(start, _ROWS_A_BATCH).collect()
        except pl.exceptions.ComputeError as error:
            if "utf-8" not in str(error).lower():
                raise
            yield from _with_text_as_bytes(path, frame.collect_schema().names(), start)
            return
        yield batch


def _with_text_as_bytes(path: Path, names: list[str], start: int) -> Iterator[pl.DataFrame]:
    """The rows from `start` on, text as binary columns; what is neither text, bytes, number nor time is left out."""
    try:
        import pyarrow as pa  # type: ignore[import-untyped]  # it ships no types
        from pyarrow import parquet
    except ImportError as error:
        raise LogError(f"{path} has text that is not UTF-8: pip install pyarrow, which can read it.") from error

    def as_bytes(column: Any) -> Any:
        """A column without text; None of another type."""
        if pa.types.is_dictionary(column.type):
            words = as_bytes(column.dictionary)
            return None if words is None else words.take(column.indices)
        if pa.types.is_list(column.type) and pa.types.is_string(column.type.value_type):  # Scrapy's ItemLoader
            return column.cast(pa.list_(pa.binary()))
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            return column.cast(pa.large_binary())
        is_simple = pa.types.is_primitive(column.type) or pa.types.is_binary(column.type)
        return column if is_simple else None

    try:
        with parquet.ParquetFile(path) as file:
            for rows in file.iter_batches(_ROWS_A_BATCH, columns=names):
                if start < rows.num_rows:
                    columns = zip(rows.schema.names, map(as_bytes, rows.slice(start).columns), strict=True)
                    yield pl.DataFrame({name: pl.from_arrow(column) for name, column in columns if column is not None})
                start = max(0, start - rows.num_rows)
    except (pa.ArrowException, OSError) as error:
        raise LogError(f"{path} cannot be read as Parquet ({error}): copy or export the file again.") from error


def known_columns(columns: Iterable[str], path: str) -> list[str]:
    """Those that are read of all columns of a file; a LogError where none of them holds URLs."""
    names = [name for name in columns if name.lower() in KNOWN_NAMES]
    if not any(name.lower() in NAMES["url"] for name in names):
        raise LogError(f"{path} is Parquet without a url column: rename the column that holds the URLs.")
    return names
