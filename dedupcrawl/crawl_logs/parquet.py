"""Parquet, read with PyArrow: Common Crawl's columnar index, or a crawl log in that format.

Some writers, such as Spark, write arbitrary bytes as text. So this module reads text as bytes, and percent-encodes
those that are not UTF-8, as the other formats do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]  # it ships no types
from pyarrow import parquet

from dedupcrawl.crawl_logs.rows import KNOWN_NAMES, NAMES, LogRow, canonical_row
from dedupcrawl.crawl_logs.tally import LogError, Tally

_ROWS_A_BATCH = 50_000  # set by hand, to bound memory


def read(path: Path, tally: Tally) -> Iterator[list[LogRow]]:
    """Read the known columns of a Parquet file in batches of rows.

    Raises:
        LogError: The file is damaged, or has no URL column.
    """
    read_before, size = tally.bytes_read, path.stat().st_size
    try:
        with parquet.ParquetFile(path) as file:
            names, height, line = known_columns(file.schema_arrow.names, str(path)), file.metadata.num_rows, 1
            for batch in file.iter_batches(_ROWS_A_BATCH, columns=names):
                yield [canonical_row(row, line + number) for number, row in enumerate(values(batch))]
                line += batch.num_rows
                tally.bytes_read = read_before + size * (line - 1) // max(height, 1)
    except (pa.ArrowException, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise LogError(f"{path} cannot be read as Parquet ({reason}): copy or export the file again.") from error


def values(batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    """The rows of a batch, without columns that hold neither text, bytes, numbers nor times."""
    columns = {
        name: column
        for name, one in zip(batch.schema.names, batch.columns, strict=True)
        if (column := _as_bytes(one)) is not None
    }
    lists = [column.to_pylist() for column in columns.values()]
    return (dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True))


def _as_bytes(column: Any) -> Any:
    """A column with its text converted to bytes; None if its type is not supported."""
    if pa.types.is_dictionary(column.type):
        words = _as_bytes(column.dictionary)
        return None if words is None else words.take(column.indices)
    if pa.types.is_list(column.type) and pa.types.is_string(column.type.value_type):  # Scrapy's ItemLoader
        return column.cast(pa.list_(pa.binary()))
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return column.cast(pa.large_binary())
    if pa.types.is_timestamp(column.type):
        return column.cast(pa.timestamp("ms", column.type.tz), safe=False)
    is_simple = pa.types.is_primitive(column.type) or pa.types.is_binary(column.type)
    return column if is_simple else None


def known_columns(columns: Iterable[str], path: str) -> list[str]:
    """The known ones among the columns of a file.

    Raises:
        LogError: None of them holds URLs.
    """
    names = [name for name in columns if name.lower() in KNOWN_NAMES]
    if not any(name.lower() in NAMES["url"] for name in names):
        raise LogError(f"{path} is Parquet without a url column: rename the column that holds the URLs.")
    return names
