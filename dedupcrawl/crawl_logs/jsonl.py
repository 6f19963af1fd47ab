"""JSON Lines: our own crawl log, Scrapy feeds, the rows that `dedupcrawl check` prints, and the JSON part of CDXJ.

Likewise a JSON array of objects, as Scrapy's JSON feed exporter writes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from dedupcrawl.crawl_logs.blocks import LineBlock, first_lines, open_log, utf8
from dedupcrawl.crawl_logs.rows import KNOWN_NAMES, LINE, LINKS, SIGNATURES, canonical_rows
from dedupcrawl.crawl_logs.tally import LogError, Tally

_SAMPLE = 1_000  # lines of a block that say which fields its rows have; an absent field asked for costs 0.1 µs per row
# May be too rare for a sample: our own log leaves out what a page does not have.
_ALWAYS = ("url", "status", *SIGNATURES, *LINKS, "unique", "alias_held")
_JSON_BEGINS = (b"{", b"[", b'"', b" ", b"\t", b"\r", b"\n")
_LIST = '["'  # Scrapy's ItemLoader without an output processor writes {"url": ["http://…"]}


def matches(head: bytes) -> bool:
    """Whether a file that begins with `head` is JSON Lines: one of its first lines that are not empty is an object."""
    first, *others = first_lines(head)
    is_array = first.startswith(b"[")  # whose objects may stand on lines of their own
    return first.startswith(b"{") or (not is_array and any(line.startswith(b'{"') for line in others))


def rows_of(block: LineBlock, path: str, tally: Tally) -> pl.DataFrame:
    """The rows of some lines; a `BlockReader`."""
    return canonical_rows(objects(block, path, tally))


def objects(block: LineBlock, path: str, tally: Tally) -> pl.DataFrame:
    """The known fields of one block's objects as strings, one column per field, and `LINE`; broken lines are counted.

    Polars reads the block at once. Only where it refuses (a broken line somewhere, blank lines) the lines of this block
    are decoded one by one. So are those of a block with lists, and of one that does not begin like JSON: by its first
    bytes Polars may take it for a compressed file, and unpack it.
    """
    if block.data[:1] not in (b"", *_JSON_BEGINS):
        return _one_by_one(block, path, tally)
    try:
        frame = pl.read_ndjson(block.data, schema=dict.fromkeys(_fields(block.data), pl.String))
    except (pl.exceptions.PolarsError, ValueError):
        return _one_by_one(block, path, tally)
    # Of a list Polars keeps the text.
    if frame.height != block.data.count(b"\n") or any(
        frame[name].str.starts_with(_LIST).any() for name in frame.columns
    ):
        return _one_by_one(block, path, tally)
    return frame.with_row_index(LINE, offset=block.first_line)


def _fields(data: bytes) -> list[str]:
    """Names of the known fields in a sample of the lines, in the file's own spelling."""
    found = dict.fromkeys(_ALWAYS)
    step = max(1, len(data) // _SAMPLE)
    start = 0
    while start < len(data):
        end = data.find(b"\n", start)
        for name in _decoded(data[start:end]) or ():
            if name.strip().lower() in KNOWN_NAMES:
                found[name] = None
        start = end + 1 if end - start >= step else data.find(b"\n", start + step) + 1 or len(data)
    return list(found)


def _one_by_one(block: LineBlock, path: str, tally: Tally) -> pl.DataFrame:
    read = [(number, _decoded(line)) for number, line in block.texts()]
    broken = [number for number, row in read if row is None]
    tally.skip(path, "not a JSON object", len(broken), broken)
    rows = [row for _, row in read if row is not None]
    seen = dict.fromkeys(chain(_ALWAYS, *rows))  # of two spellings of a name the one that is always looked for counts
    names = [name for name in seen if name.strip().lower() in KNOWN_NAMES]
    columns = {name: pl.Series([_as_text(row.get(name)) for row in rows], dtype=pl.String) for name in names}
    return pl.DataFrame(
        {**columns, LINE: pl.Series([number for number, row in read if row is not None], dtype=pl.Int64)}
    )


def _decoded(line: bytes) -> dict[str, Any] | None:
    try:
        row = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError, ValueError):
        return None
    return row if isinstance(row, dict) else None


def _as_text(value: object) -> str | None:
    """A value as the text that Polars makes of it."""
    if isinstance(value, list) and value and isinstance(value[0], str):
        value = value[0]
    if isinstance(value, str):
        return value
    if isinstance(value, float):  # without exponent
        return f"{Decimal(repr(value)):f}".removesuffix(".0")
    if isinstance(value, bool):
        return str(value).lower()
    return None if isinstance(value, (list, dict)) or value is None else str(value)


_SIZE_LIMIT = 1 << 30  # bytes; an array is one JSON value and is read as one
_OBJECTS_A_BATCH = 100_000


def matches_array(head: bytes) -> bool:
    """Whether a file that begins with `head` is a JSON array."""
    return head.lstrip().startswith(b"[")


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
        items = msgspec.json.decode(utf8(data), type=list[msgspec.Raw])
    except (msgspec.DecodeError, RecursionError) as error:
        raise LogError(f"{path} is a broken JSON array ({error}): export it again, or as JSON Lines.") from error
    for start in range(0, len(items), _OBJECTS_A_BATCH):
        # A line end inside a JSON value is white space between tokens: a string cannot hold one.
        lines = [bytes(item).replace(b"\n", b" ") for item in items[start : start + _OBJECTS_A_BATCH]]
        yield canonical_rows(objects(LineBlock(start + 1, b"\n".join(lines) + b"\n"), str(path), tally))
