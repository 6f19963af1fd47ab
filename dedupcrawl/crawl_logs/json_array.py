"""A JSON array of objects, as Scrapy's JSON feed exporter writes it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import polars as pl

from dedupcrawl.crawl_logs.blocks import LineBlock
from dedupcrawl.crawl_logs.compressed import open_log
from dedupcrawl.crawl_logs.encoding import utf8
from dedupcrawl.crawl_logs.jsonl import objects
from dedupcrawl.crawl_logs.rows import canonical_rows
from dedupcrawl.crawl_logs.tally import LogError, Tally

_SIZE_LIMIT = 1 << 30  # bytes; an array is one JSON value and is read as one
_OBJECTS_A_BATCH = 100_000


def matches(head: bytes) -> bool:
    """Whether a file that begins with `head` is a JSON array."""
    return head.lstrip().startswith(b"[")


def read(path: Path, tally: Tally) -> Iterator[pl.DataFrame]:
    """The objects of the array, in batches of `rows.SCHEMA` and `rows.LINE` (which counts objects, not lines).

    Raises:
        LogError: the file is over 1 GiB, or broken anywhere: what follows the break cannot be told.
    """
    with open_log(path) as (content, _):
        data = content.read(_SIZE_LIMIT + 1)
    if len(data) > _SIZE_LIMIT:
        raise LogError(f"{path} is a JSON array over 1 GiB: export JSON Lines instead, which are read piece by piece.")
    tally.bytes_read += path.stat().st_size
    try:
        items = msgspec.json.decode(utf8(data), type=list[msgspec.Raw])
    except (msgspec.DecodeError, RecursionError) as error:
        raise LogError(f"{path} is a broken JSON array ({error}): export it again, or as JSON Lines.") from error
    for start in range(0, len(items), _OBJECTS_A_BATCH):
        # A line end inside a JSON value is white space between tokens: a string cannot hold one.
        lines = [bytes(item).replace(b"\n", b" ") for item in items[start : start + _OBJECTS_A_BATCH]]
        yield canonical_rows(objects(LineBlock(start + 1, b"\n".join(lines) + b"\n"), str(path), tally))
