"""A file of JSON rows that is only ever appended to, so that a kill costs at most its last, torn row."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, TypeVar

import msgspec

logger = logging.getLogger(__name__)

Row = TypeVar("Row")


class JournalFile:
    """Appends rows. When the disk fails it says so once and stays silent: a crawl goes on without its memory.

    Args:
        path: Made when it is missing; None for a journal that remembers nothing.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._file: IO[bytes] | None = None
        if path is not None:
            self._file = path.open("ab+")
            if self._file.tell():
                self._file.seek(-1, 2)
                if self._file.read(1) != b"\n":  # torn by a kill
                    self._file.write(b"\n")

    def append(self, row: Any) -> None:
        """Write `row` as one line and hand it to the operating system at once."""
        if self._file is None:
            return
        try:
            self._file.write(msgspec.json.encode(row) + b"\n")
            self._file.flush()
        except OSError as error:
            logger.error(
                "%s cannot be written: %s. Whoever resumes this crawl will not know everything.", self._path, error
            )
            self.close()

    def close(self) -> None:
        """Close the file; further rows are lost."""
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):  # of what could not be written, which has been said
                file.close()


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
