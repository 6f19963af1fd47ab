"""CSV (RFC 4180) and TSV (no quoting), with a header line that names a URL column."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from dedupcrawl.crawl_logs.blocks import LineBlock, line_blocks
from dedupcrawl.crawl_logs.rows import LINE, NAMES, canonical_rows, lines_of
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


_OPEN_QUOTE_LIMIT = 1 << 20  # bytes of one row; beyond it, the quote that is open was never meant as one


def matches_csv(head: bytes) -> bool:
    """Whether the first line names a URL column among fields separated by commas."""
    return _names_url(head, ",")


def matches_tsv(head: bytes) -> bool:
    """Whether the first line names a URL column among fields separated by tabs."""
    return _names_url(head, "\t")


def read_tsv(path: Path, tally: Tally) -> Iterator[pl.DataFrame]:
    """The rows of a tab-separated file, in batches of `rows.SCHEMA` and `rows.LINE`."""
    for names, block in _under_header(line_blocks(path, tally), "\t"):
        yield canonical_rows(cut(block, "\t", names, str(path), tally))


def read_csv(path: Path, tally: Tally) -> Iterator[pl.DataFrame]:
    """The rows of a comma-separated file, in batches of `rows.SCHEMA` and `rows.LINE`; a field may span lines."""
    for names, block in _under_header(_whole_rows(line_blocks(path, tally, blanks=True)), ","):
        if b'"' in block.data:
            yield canonical_rows(_quoted(block, names, str(path), tally))
        else:
            yield canonical_rows(cut(block, ",", names, str(path), tally))


def _names_url(head: bytes, separator: str) -> bool:
    line = head.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0]
    return any(name in NAMES["url"] for name in _header(line, separator))


def _header(line: bytes, separator: str) -> list[str]:
    try:
        names = next(
            csv.reader([line.decode("utf-8", "replace").rstrip("\r\n").removeprefix("#")], delimiter=separator), []
        )
    except csv.Error:  # a field over the module's limit: no column is called that
        return []
    return [name.strip().lower() for name in names]


def _under_header(blocks: Iterator[LineBlock], separator: str) -> Iterator[tuple[list[str], LineBlock]]:
    """The column names with every block, the first one less its first line."""
    names: list[str] | None = None
    for line, data in blocks:
        if names is None:
            header, _, rest = data.partition(b"\n")
            names = _header(header, separator)
            yield names, LineBlock(line + 1, rest)
        else:
            yield names, LineBlock(line, data)


def _whole_rows(blocks: Iterator[LineBlock]) -> Iterator[LineBlock]:
    """Move the block ends to where no quote is open: a row whose field holds line ends is never in two blocks."""
    line, held = 1, b""
    for block in blocks:
        line, data = (line, held + block.data) if held else block
        end = _start_of_open_row(data) if data.count(b'"') % 2 else len(data)
        if len(data) - end > _OPEN_QUOTE_LIMIT:
            end = len(data)
        held = data[end:]
        yield LineBlock(line, data[:end])
        line += data.count(b"\n", 0, end)
    if held:
        yield LineBlock(line, held)


def _start_of_open_row(data: bytes) -> int:
    """Offset of the last line at whose beginning no quote is open; `data` has an odd number of quotes."""
    quotes, end = 0, len(data)
    while quotes % 2 == 0:
        start = data.rfind(b"\n", 0, end - 1) + 1
        quotes += data.count(b'"', start, end)
        end = start
    return end


def _quoted(block: LineBlock, names: list[str], path: str, tally: Tally) -> pl.DataFrame:
    """Rows with quoted fields: Polars at once, and only where it refuses row by row."""
    quotes = lines_of(block)["text"].str.count_matches('"', literal=True).cast(pl.Int64)
    begins = (quotes.cum_sum() - quotes) % 2 == 0
    try:
        frame = parsed(block.data, ",", names, quote='"')
    except pl.exceptions.PolarsError:
        return _row_by_row(block, names, path, tally)
    numbers = begins.arg_true().cast(pl.Int64) + block.first_line
    if frame.height != numbers.len():
        return _row_by_row(block, names, path, tally)
    empty = pl.all_horizontal(pl.all().is_null())
    return frame.with_columns(numbers.alias(LINE).to_frame()).filter(~empty)


def _row_by_row(block: LineBlock, names: list[str], path: str, tally: Tally) -> pl.DataFrame:
    lines = block.data.decode().split("\n")[:-1]
    rows: list[list[str]] = []
    numbers: list[int] = []
    broken: list[int] = []
    at = 0
    while at < len(lines):
        end, size, quotes = at, 0, 0
        while end < len(lines) and size <= _OPEN_QUOTE_LIMIT:
            size += len(lines[end])
            quotes += lines[end].count('"')
            end += 1
            if quotes % 2 == 0:
                break
        row = _row(lines[at:end]) if quotes % 2 == 0 else None
        if row is not None and len(row) == len(names):
            rows.append(row)
            numbers.append(at + block.first_line)
        elif row != []:  # an empty line is nothing
            broken.append(at + block.first_line)
            end = at + 1  # the quote that opened here may be a slip of this line alone
        at = end
    tally.rows += len(broken)
    tally.skip(path, f"not {len(names)} fields", len(broken), broken)
    columns = {name: [row[position] for row in rows] for position, name in reversed(list(enumerate(names)))}
    frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
    return frame.with_columns(pl.Series(LINE, numbers, dtype=pl.Int64))


def _row(lines: list[str]) -> list[str] | None:
    try:
        return next(csv.reader([line + "\n" for line in lines], strict=True), [])
    except csv.Error:
        return None
