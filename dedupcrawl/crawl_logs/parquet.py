"""Parquet: Common Crawl's columnar index, or a log of ours in that format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import polars as pl

from dedupcrawl.crawl_logs.rows import KNOWN_NAMES, LINE, NAMES, canonical_rows
from dedupcrawl.crawl_logs.tally import LogError, Tally

_ROWS_A_BATCH = 200_000


def matches(head: bytes) -> bool:
    """Whether a file that begins with `head` is Parquet."""
    return head.startswith(b"PAR1")


def read(path: Path, tally: Tally) -> Iterator[pl.DataFrame]:
    """The rows of a Parquet file, only the known columns read, in batches of `rows.SCHEMA` and `rows.LINE`.

    Raises:
        LogError: the file is damaged, or has no URL column.
    """
    read_before, size = tally.bytes_read, path.stat().st_size
    try:
        frame = pl.scan_parquet(path, glob=False)
        names = known_columns(frame.collect_schema().names(), str(path))
        height = frame.select(pl.len()).collect().item()
        for start in range(0, height, _ROWS_A_BATCH):
            batch = frame.select(names).slice(start, _ROWS_A_BATCH).collect()
            tally.bytes_read = read_before + size * min(height, start + _ROWS_A_BATCH) // height
            yield canonical_rows(batch.with_row_index(LINE, offset=start + 1))
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise LogError(f"{path} cannot be read as Parquet ({reason}): copy or export the file again.") from error


def known_columns(columns: Iterable[str], path: str) -> list[str]:
    """Those that are read of all columns of a file.

    Raises:
        LogError: None of them holds URLs.
    """
    names = [name for name in columns if name.lower() in KNOWN_NAMES]
    if not any(name.lower() in NAMES["url"] for name in names):
        raise LogError(f"{path} is Parquet without a url column: rename the column that holds the URLs.")
    return names
