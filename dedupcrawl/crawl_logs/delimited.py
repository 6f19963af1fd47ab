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
    """Cut each line of `block` at every `separator`, one ASCII character; quotes mean nothing.

    Lines with another number of fields are counted, empty ones passed over. There is a string column a name (a repeated
    name's later columns are dropped), and `LINE`.
    """
    lines = lines_of(block).filter(pl.col("text") != "")
    fits = pl.col("text").str.count_matches(separator, literal=True) == len(names) - 1
    bad = lines.filter(~fits)[LINE]
    tally.rows += bad.len()
    tally.skip(path, f"not {len(names)} fields", bad.len(), bad)
    fields = pl.col("text").str.split_exact(separator, len(names) - 1)
    cells = lines.filter(fits).select(LINE, fields.alias("field")).unnest("field")
    first = {name: pl.col(f"field_{place}") for place, name in reversed(list(enumerate(names)))}
    values = (pl.when(cell != "").then(cell).alias(name) for name, cell in first.items())
    return cells.select(*values, pl.col(LINE).cast(pl.Int64))


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
        yield canonical_rows(_quoted(block, names, str(path), tally))


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


def _quoted(block: LineBlock, names: Sequence[str], path: str, tally: Tally) -> pl.DataFrame:
    """Rows with quoted fields. A broken one costs its first line: the quote that opened there may be a slip."""
    lines = block.data.decode().split("\n")[:-1]
    numbers, rows, broken = list[int](), list[list[str]](), list[int]()
    at, limit = 0, csv.field_size_limit(_OPEN_QUOTE_LIMIT)  # it is the whole process's
    while at < len(lines):
        begin = at
        reader = csv.reader((f"{lines[number]}\n" for number in range(begin, len(lines))), strict=True)
        try:
            for row in reader:
                if row and len(row) != len(names):
                    raise csv.Error
                if row:  # an empty line is nothing
                    numbers.append(at + block.first_line)
                    rows.append(row)
                at = begin + reader.line_num
        except csv.Error:
            broken.append(at + block.first_line)
            at += 1
    csv.field_size_limit(limit)
    tally.rows += len(broken)
    tally.skip(path, f"not {len(names)} fields", len(broken), broken)
    columns = {name: [row[place] or None for row in rows] for place, name in reversed(list(enumerate(names)))}
    frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
    return frame.with_columns(pl.Series(LINE, numbers, dtype=pl.Int64))
