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

_OPEN_QUOTE_LIMIT = 1 << 20  # most characters of a field; in a longer one, the open quote is taken for a slip
_CHARACTERS_A_BATCH = 7 << 20  # as many as a block of lines has bytes
_CHARACTERS_A_ROW = 100  # counted for each row in addition to its text


def matches(separator: str, head: bytes) -> bool:
    """Whether the first line, split by this separator, names a URL column."""
    return any(name in NAMES["url"] for name in _header(head.partition(b"\n")[0], separator))


def read(separator: str, path: Path, tally: Tally) -> Iterator[list[LogRow]]:
    """Read the rows of a CSV or TSV file in batches.

    If the separator is a comma, fields may be quoted and then span several lines.
    """
    blocks = line_blocks(path, tally, blanks=True)
    lines = chain.from_iterable(enumerate(block.data.decode().split("\n")[:-1], block.first_line) for block in blocks)
    names = _header(next(lines)[1].encode(), separator)
    plain = ((number, text.rstrip("\r").split("\t")) for number, text in lines)
    rows = _quoted(lines, len(names)) if separator == "," else plain
    while True:
        limit = csv.field_size_limit(_OPEN_QUOTE_LIMIT)  # this applies to the whole process
        try:
            batch = list(_next_of(rows))
        finally:
            csv.field_size_limit(limit)
        values = ((number, named(names, row)) for number, row in batch if row != [""])
        yield rows_of_values(values, f"not {len(names)} fields", str(path), tally)
        if not batch:
            return


def named(names: Sequence[str], row: Sequence[str]) -> dict[str, str | None] | None:
    """Column → value of a row; of two columns with one name the first counts. None if the number of fields differs."""
    if len(row) != len(names):
        return None
    return {name: value or None for name, value in zip(names[::-1], row[::-1], strict=True)}


def _next_of(rows: Iterator[tuple[int, list[str]]]) -> Iterator[tuple[int, list[str]]]:
    size = 0
    for row in rows:
        yield row
        size += _CHARACTERS_A_ROW + len(row[1]) + sum(map(len, row[1]))  # a separator for each field
        if size >= _CHARACTERS_A_BATCH:
            return


def _quoted(lines: Iterator[tuple[int, str]], width: int) -> Iterator[tuple[int, list[str]]]:
    """Number of the first line, and fields, of each row. A broken row costs one line: its open quote may be a slip."""
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
                if row:  # not an empty line
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
    except csv.Error:  # a field over the module's limit, which is no name of a column
        return []
    return [name.strip().lower() for name in names]
