"""JSON Lines: dedupcrawl's crawl log, Scrapy feeds, the rows that `dedupcrawl check` prints, and the JSON part of CDXJ.

The module also reads a JSON array of objects, as Scrapy's JSON feed exporter writes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from dedupcrawl.crawl_logs.blocks import LineBlock, first_lines, open_log, utf8
from dedupcrawl.crawl_logs.rows import LogRow, rows_of_values
from dedupcrawl.crawl_logs.tally import LogError, Tally

NOT_OBJECT = "not a JSON object"
_ERRORS = (msgspec.DecodeError, RecursionError, ValueError)


def matches(head: bytes) -> bool:
    """Whether a file that begins with `head` is JSON Lines: one of its first lines is an object."""
    first, *others = first_lines(head)
    is_array = first.startswith(b"[")  # an array may have each object on its own line
    return first.startswith(b"{") or (not is_array and any(line.startswith(b'{"') for line in others))


def rows_of(block: LineBlock, path: str, tally: Tally) -> list[LogRow]:
    """The rows in a block of lines; a `BlockReader`."""
    return rows_of_values(((number, decoded(line)) for number, line in block.texts()), NOT_OBJECT, path, tally)


def decoded(text: bytes | msgspec.Raw) -> dict[str, Any] | None:
    """The JSON object in a text, or None if it is not one."""
    try:
        value = msgspec.json.decode(text)
    except _ERRORS:
        return None
    return value if isinstance(value, dict) else None


_SIZE_LIMIT = 1 << 30  # bytes; an array is a single JSON value and must be read at once
_OBJECTS_A_BATCH = 100_000  # set by hand, to bound memory


def read_array(path: Path, tally: Tally) -> Iterator[list[LogRow]]:
    """Read the objects of a JSON array in batches of rows, whose `line` counts objects.

    Raises:
        LogError: The file is over 1 GiB, or broken anywhere: there is no way to read on after the break.
    """
    with open_log(path, tally) as content:
        data = content.read(_SIZE_LIMIT + 1)
        if content.damage is not None:
            raise content.damage
    if len(data) > _SIZE_LIMIT:
        raise LogError(f"{path} is a JSON array over 1 GiB: export JSON Lines instead, which are read piece by piece.")
    try:
        items = msgspec.json.decode(utf8(data), type=list[msgspec.Raw])
    except _ERRORS as error:
        raise LogError(f"{path} is a broken JSON array ({error}): export it again, or as JSON Lines.") from error
    for start in range(0, len(items), _OBJECTS_A_BATCH):
        objects = map(decoded, items[start : start + _OBJECTS_A_BATCH])
        yield rows_of_values(enumerate(objects, start + 1), NOT_OBJECT, str(path), tally)
