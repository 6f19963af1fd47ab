"""Cutting lines at a separator: what CSV, TSV and CDX have in common."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from dedupcrawl.crawl_logs.blocks import LineBlock
from dedupcrawl.crawl_logs.rows import LINE, lines_of
from dedupcrawl.crawl_logs.tally import Tally


def cut(block: LineBlock, separator: str, names: Sequence[str], path: str, tally: Tally) -> pl.DataFrame:
    """Cut each line of `block` at every `separator`; quotes mean nothing.

    Args:
        block: Lines, the header not among them.
        separator: One ASCII character.
        names: Of the fields, in order; a repeated name's later columns are dropped.
        path: The log's name for the tally's examples.
        tally: Where lines with another number of fields are counted; empty lines are passed over.

    Returns:
        A string column a name, and `LINE`.
    """
    lines = lines_of(block).with_columns(
        ok=pl.col("text").str.count_matches(separator, literal=True) == len(names) - 1,
        empty=pl.col("text") == "",
    )
    if lines["ok"].all() and not lines["empty"].any():
        good, data = lines, block.data
    else:
        bad = lines.filter(~pl.col("ok") & ~pl.col("empty"))[LINE]
        tally.rows += bad.len()
        tally.skip(path, f"not {len(names)} fields", bad.len(), bad)
        good = lines.filter(pl.col("ok") & ~pl.col("empty"))
        data = "".join(good.select(pl.col("text").str.join("\n"))["text"]).encode()
    if good.is_empty():
        return pl.DataFrame(schema={**dict.fromkeys(names, pl.String), LINE: pl.Int64})
    return parsed(data, separator, names, quote=None).with_columns(good[LINE])


def parsed(data: bytes, separator: str, names: Sequence[str], *, quote: str | None) -> pl.DataFrame:
    """Polars' own CSV reader without header, all columns strings; of a repeated name the first column stays.

    Raises:
        polars.exceptions.PolarsError: a row has more fields than `names`, or a quote is not closed.
    """
    columns = [f"{position}" for position in range(len(names))]
    frame = pl.read_csv(
        data,
        has_header=False,
        separator=separator,
        quote_char=quote,
        schema=dict.fromkeys(columns, pl.String),
    )
    first = {name: column for column, name in reversed(list(zip(columns, names, strict=True)))}
    return frame.select(pl.col(column).alias(name) for name, column in first.items())
