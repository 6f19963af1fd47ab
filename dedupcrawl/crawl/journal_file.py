"""A file of JSON rows that is only ever appended to, so that a kill costs at most its last, torn row."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, TypeVar

import msgspec

Row = TypeVar("Row")


def append_row(file: IO[bytes], row: Any) -> None:
    """Write `row` as one line and hand it to the operating system at once."""
    file.write(msgspec.json.encode(row) + b"\n")
    file.flush()


def read_rows(path: Path, kind: type[Row]) -> Iterator[Row]:
    """The rows of `path` that are whole; nothing when there is no such file."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for line in file:
            try:
                yield msgspec.json.decode(line, type=kind)
            except msgspec.DecodeError:
                continue
