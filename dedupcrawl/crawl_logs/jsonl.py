"""JSON Lines: our own crawl log, Scrapy feeds, the rows that `dedupcrawl check` prints, and the JSON part of CDXJ.

Likewise a JSON array of objects, as Scrapy's JSON feed exporter writes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from dedupcrawl.crawl_logs.blocks import LineBlock, first_lines, open_log, utf8
from dedupcrawl.crawl_logs.rows import KNOWN_NAMES, LINE, canonical_rows
from dedupcrawl.crawl_logs.tally import LogError, Tally

_decode = msgspec.json.Decoder(dict[str, Any]).decode


def matches(head: bytes) -> bool:
    """Whether a file that begins with `head` is JSON Lines: one of its first lines that are not empty is an object."""
    first, *others = first_lines(head)
    is_array = first.startswith(b"[")  # whose objects may stand on lines of their own
    return first.startswith(b"{") or (not is_array and any(line.startswith(b'{"') for line in others))


def rows_of(block: LineBlock, path: str, tally: Tally) -> pl.DataFrame:
    """The rows of some lines; a `BlockReader`."""
    return canonical_rows(objects(block.texts(), path, tally))


def objects(texts: Iterable[tuple[int, bytes | str | msgspec.Raw]], path: str, tally: Tally) -> pl.DataFrame:
    """The known fields of numbered objects as strings, one column per field, and `LINE`; what is none is counted."""
    numbers, rows, broken = list[int](), list[dict[str, Any]](), list[int]()
    for number, line in texts:
        try:
            rows.append(_decode(line))
        except (msgspec.DecodeError, RecursionError, ValueError):
            broken.append(number)
        else:
            numbers.append(number)
    tally.skip(path, "not a JSON object", len(broken), broken)
    names = [name for name in dict.fromkeys(chain.from_iterable(rows)) if name.strip().lower() in KNOWN_NAMES]
    columns = {name: pl.Series([_as_text(row.get(name)) for row in rows], dtype=pl.String) for name in names}
    return pl.DataFrame({**columns, LINE: pl.Series(numbers, dtype=pl.Int64)})


def _as_text(value: object) -> str | None:
    """What a field says; of a list, as Scrapy's ItemLoader writes without an output processor, its first value."""
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, bool):
        return str(value).lower()
    return None if isinstance(value, (list, dict)) or value is None else str(value)


_SIZE_LIMIT = 1 << 30  # bytes; an array is one JSON value and is read as one
_OBJECTS_A_BATCH = 100_000


def matches_array(head: bytes) -> bool:
    """Whether a file that begins with `head` is a JSON array."""
    return head.lstrip().startswith(b"[")


def read_array(path: Path, tally: Tally) -> Iterator[pl.DataFrame]:
    """The objects of the array, in batches of `rows.SCHEMA` and `rows.LINE` (which counts objects, not lines)."""
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
        numbered = enumerate(items[start : start + _OBJECTS_A_BATCH], start + 1)
        yield canonical_rows(objects(numbered, str(path), tally))
