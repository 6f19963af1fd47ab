"""CSV (RFC 4180) and TSV (no quoting), with a header line that names a URL column."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from dedupcrawl.crawl_logs.blocks import line_blocks
from dedupcrawl.crawl_logs.rows import NAMES, LogRow, rows_of_values
from dedupcrawl.crawl_logs.tally import Tally

_OPEN_QUOTE_LIMIT = 1 << 20  # characters of a field; beyond it, the quote that is open was never meant as one
_CHARACTERS_A_BATCH = 7 << 20  # as many as a block of lines has bytes
_CHARACTERS_A_ROW = 100  # that it counts as at least, whatever is in it


def matches(separator: str, head: bytes) -> bool:
    """Whether the first line names a URL column among fields that are separated so."""
    return any(name in NAMES["url"] for name in _header(head.partition(b"\n")[0], separator))


def read(separator: str, path: Path, tally: Tally) -> Iterator[list[LogRow]]:
    """The rows of a file of fields that are separated so, in batches of `rows.LogRow`.

    Between commas a field may be quoted, and then span lines.
    """
    blocks = line_blocks(path, tally, blanks=True)
    lines = chain.from_iterable(enumerate(block.data.decode().split("\n")[:-1], block.first_line) for block in blocks)
    names = _header(next(lines)[1].encode(), separator)
    plain = ((number, text.rstrip("\r").split("\t")) for number, text in lines)
    rows = _quoted(lines, len(names)) if separator == "," else plain
    while True:
        limit = csv.field_size_limit(_OPEN_QUOTE_LIMIT)  # it is the whole process's
        try:
            batch = list(_next_of(rows))
        finally:
            csv.field_size_limit(limit)
        values = ((number, named(names, row)) for number, row in batch if row != [""])
        yield rows_of_values(values, f"not {len(names)} fields", str(path), tally)
        if not batch:
            return


def named(names: Sequence[str], row: Sequence[str]) -> dict[str, str | None] | None:
    """A row by the names of its columns, the first of two with one name; None if it has another number of fields."""
    if len(row) != len(names):
        return None
    return {name: value or None for name, value in zip(names[::-1], row[::-1], strict=True)}


def _next_of(rows: Iterator[tuple[int, list[str]]]) -> Iterator[tuple[int, list[str]]]:
    """As many of the rows as come together."""
    size = 0
    for row in rows:
        yield row
        size += _CHARACTERS_A_ROW + len(row[1]) + sum(map(len, row[1]))  # a field is a separator, too
        if size >= _CHARACTERS_A_BATCH:
            return


def _quoted(lines: Iterator[tuple[int, str]], width: int) -> Iterator[tuple[int, list[str]]]:
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
            yield taken[0][0], []
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
