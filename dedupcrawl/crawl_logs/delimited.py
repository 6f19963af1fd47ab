"""CSV (RFC 4180) and TSV (no quoting), with a header line that names a URL column."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import chain
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
    tally.skip(path, f"not {len(names)} fields", bad.len(), bad)
    fields = pl.col("text").str.split_exact(separator, len(names) - 1)
    cells = lines.filter(fits).select(LINE, fields.alias("field")).unnest("field")
    first = {name: pl.col(f"field_{place}") for place, name in reversed(list(enumerate(names)))}
    values = (pl.when(cell != "").then(cell).alias(name) for name, cell in first.items())
    return cells.select(*values, pl.col(LINE).cast(pl.Int64))


_OPEN_QUOTE_LIMIT = 1 << 20  # characters of a field; beyond it, the quote that is open was never meant as one
_CHARACTERS_A_BATCH = 16 << 20  # as many as a block of lines has bytes
_CHARACTERS_A_ROW = 100  # that it counts as at least, whatever is in it


def matches(separator: str, head: bytes) -> bool:
    """Whether the first line names a URL column among fields that are separated so."""
    return any(name in NAMES["url"] for name in _header(head.partition(b"\n")[0], separator))


def read(separator: str, path: Path, tally: Tally) -> Iterator[pl.DataFrame]:
    """The rows of a file of fields that are separated so, in batches of `rows.SCHEMA` and `rows.LINE`.

    Between commas a field may be quoted, and then span lines.
    """
    blocks = line_blocks(path, tally, blanks=True)
    lines = chain.from_iterable(enumerate(block.data.decode().split("\n")[:-1], block.first_line) for block in blocks)
    names = _header(next(lines)[1].encode(), separator)
    broken = list[int]()
    rows = _quoted_rows(lines, len(names), broken) if separator == "," else _plain_rows(lines, len(names), broken)
    while True:
        limit = csv.field_size_limit(_OPEN_QUOTE_LIMIT)  # it is the whole process's
        try:
            batch = list(_next_of(rows))
        finally:
            csv.field_size_limit(limit)
        tally.skip(str(path), f"not {len(names)} fields", len(broken), broken)
        broken.clear()
        columns = {name: [row[at] or None for _, row in batch] for at, name in reversed(list(enumerate(names)))}
        frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
        yield canonical_rows(frame.with_columns(pl.Series(LINE, [number for number, _ in batch], dtype=pl.Int64)))
        if not batch:
            return


def _next_of(rows: Iterator[tuple[int, list[str]]]) -> Iterator[tuple[int, list[str]]]:
    """As many of the rows as come together."""
    size = 0
    for row in rows:
        yield row
        size += _CHARACTERS_A_ROW + sum(map(len, row[1]))
        if size >= _CHARACTERS_A_BATCH:
            return


def _plain_rows(lines: Iterator[tuple[int, str]], width: int, broken: list[int]) -> Iterator[tuple[int, list[str]]]:
    """Number and fields of each line; quotes mean nothing."""
    for number, line in lines:
        row = line.rstrip("\r").split("\t")
        if len(row) == width:
            yield number, row
        elif row != [""]:
            broken.append(number)


def _quoted_rows(lines: Iterator[tuple[int, str]], width: int, broken: list[int]) -> Iterator[tuple[int, list[str]]]:
    """Number of its first line, and fields, of each row. A broken one costs that line: its open quote may be a slip."""
    again, taken = deque[tuple[int, str]](), list[tuple[int, str]]()

    def texts() -> Iterator[str]:
        while line := again.popleft() if again else next(lines, None):
            taken.append(line)
            yield f"{line[1]}\n"

    while True:
        try:
            for row in csv.reader(texts(), strict=True):
                if row and len(row) != width:
                    raise csv.Error
                if row:  # an empty line is nothing
                    yield taken[0][0], row
                taken.clear()
            return
        except csv.Error:
            broken.append(taken[0][0])
            again.extendleft(reversed(taken[1:]))
            taken.clear()


def _header(line: bytes, separator: str) -> list[str]:
    try:
        names = next(
            csv.reader([line.decode("utf-8", "replace").rstrip("\r\n").removeprefix("#")], delimiter=separator), []
        )
    except csv.Error:  # a field over the module's limit: no column is called that
        return []
    return [name.strip().lower() for name in names]
