"""JSON Lines: our own crawl log, Scrapy feeds, the rows that `dedupcrawl check` prints, and the JSON part of CDXJ.

Likewise a JSON array of objects, as Scrapy's JSON feed exporter writes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from dedupcrawl.crawl_logs.blocks import LineBlock, first_lines, open_log, utf8
from dedupcrawl.crawl_logs.rows import KNOWN_NAMES, LINE, canonical_rows
from dedupcrawl.crawl_logs.tally import LogError, Tally

_NESTED = r"^[\[{]"  # how Polars writes lists and objects, and how some texts begin
_ERRORS = (msgspec.DecodeError, RecursionError, ValueError)


def matches(head: bytes) -> bool:
    """Whether a file that begins with `head` is JSON Lines: one of its first lines that are not empty is an object."""
    first, *others = first_lines(head)
    is_array = first.startswith(b"[")  # whose objects may stand on lines of their own
    return first.startswith(b"{") or (not is_array and any(line.startswith(b'{"') for line in others))


def rows_of(block: LineBlock, path: str, tally: Tally) -> pl.DataFrame:
    """The rows of some lines; a `BlockReader`."""
    return canonical_rows(objects(block, path, tally))


def objects(block: LineBlock, path: str, tally: Tally) -> pl.DataFrame:
    """The known fields of some lines as strings, one column per field, and `LINE`; broken lines are counted."""
    return _frame([(number, _decoded(line)) for number, line in block.texts()], path, tally)


def _decoded(line: bytes) -> Any:
    try:
        return msgspec.json.decode(line)
    except _ERRORS:
        return None


def _frame(values: Sequence[tuple[int, Any]], path: str, tally: Tally) -> pl.DataFrame:
    """As `objects`, of values with their numbers, some of which are no objects."""
    broken = [number for number, value in values if not isinstance(value, dict)]
    tally.skip(path, "not a JSON object", len(broken), broken)
    rows = [(number, value) for number, value in values if isinstance(value, dict)]
    found = [row for _, row in rows]
    names = [name for name in dict.fromkeys(chain.from_iterable(found)) if name.strip().lower() in KNOWN_NAMES]
    columns = {name: pl.Series([row.get(name) for row in found], dtype=pl.String, strict=False) for name in names}
    for name, column in columns.items():
        if column.str.contains(_NESTED).any():
            columns[name] = pl.Series([_plain(row.get(name)) for row in found], dtype=pl.String, strict=False)
    return pl.DataFrame({**columns, LINE: pl.Series([number for number, _ in rows], dtype=pl.Int64)})


def _plain(value: object) -> object:
    """A value without structure: Scrapy's ItemLoader without an output processor writes {"url": ["http://…"]}."""
    value = value[0] if isinstance(value, list) and value else value
    return None if isinstance(value, (list, dict)) else value


_SIZE_LIMIT = 1 << 30  # bytes; an array is one JSON value and is read as one
_OBJECTS_A_BATCH = 100_000


def read_array(path: Path, tally: Tally) -> Iterator[pl.DataFrame]:
    """The objects of the array, in batches of `rows.SCHEMA` and `rows.LINE` (which counts objects, not lines).

    Raises:
        LogError: the file is over 1 GiB, or broken anywhere: what follows the break cannot be told.
    """
    with open_log(path, tally) as content:
        data = content.read(_SIZE_LIMIT + 1)
        if content.damage is not None:
            raise content.damage
    if len(data) > _SIZE_LIMIT:
        raise LogError(f"{path} is a JSON array over 1 GiB: export JSON Lines instead, which are read piece by piece.")
    try:
        items = msgspec.json.decode(utf8(data), type=list[Any])
    except _ERRORS as error:
        raise LogError(f"{path} is a broken JSON array ({error}): export it again, or as JSON Lines.") from error
    for start in range(0, len(items), _OBJECTS_A_BATCH):
        values = list(enumerate(items[start : start + _OBJECTS_A_BATCH], start + 1))
        yield canonical_rows(_frame(values, str(path), tally))
