"""Sorting more rows than memory holds: sorted runs in a file, merged while they are read (Knuth, vol. 3, 5.4).

In memory are one run while rows are added, and a piece of each run while they are merged.
"""

from __future__ import annotations

import errno
import heapq
import os
import struct
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from operator import itemgetter
from typing import IO

Row = tuple[int, bytes]
"""A whole number of 64 bits, and what stands under it: less than 4 GiB."""

_RUN_BYTES = 64 << 20  # of rows that are sorted in memory
_PIECE_BYTES = 1 << 16  # of a run that are read at a time
_HEAD = struct.Struct("<qI")  # number, length of the row
_NUMBER = itemgetter(0)


class ExternalSort:
    """Rows that are read in the order of their numbers; those of one number in the order in which they were added.

    Args:
        file: Empty, to be written and read; a temporary one.
        run_bytes: Rows of so many bytes together are sorted in memory.

    Attributes:
        rows: How many were added.
    """

    def __init__(self, file: IO[bytes], run_bytes: int = _RUN_BYTES) -> None:
        self.rows = 0
        self._file = file
        self._run_bytes = run_bytes
        self._run: list[Row] = []
        self._filled = 0  # bytes of the run
        self._ends = [0]  # of the runs in the file

    def add(self, number: int, row: bytes) -> None:
        """Add a row; not after the first was read.

        Raises:
            OSError: The disk is full.
        """
        self.rows += 1
        self._run.append((number, row))
        self._filled += len(row) + _HEAD.size
        if self._filled >= self._run_bytes:
            self._spill()

    def __iter__(self) -> Iterator[Row]:
        """All rows, ascending."""
        self._run.sort(key=_NUMBER)
        return heapq.merge(*(self._read(at, end) for at, end in pairwise(self._ends)), self._run, key=_NUMBER)

    def _spill(self) -> None:
        self._run.sort(key=_NUMBER)
        try:
            self._file.writelines(part for number, row in self._run for part in (_HEAD.pack(number, len(row)), row))
            self._file.flush()
        except OSError as error:
            raise OSError(error.errno, error.strerror, f"temporary files in {tempfile.gettempdir()}") from error
        self._ends.append(self._ends[-1] + self._filled)
        self._run, self._filled = [], 0

    def _read(self, at: int, end: int) -> Iterator[Row]:
        """The rows of a run, which lies between these places of the file.

        Raises:
            OSError: The file ends before the run.
        """
        piece = memoryview(b"")
        while True:
            number, length = _HEAD.unpack_from(piece) if len(piece) >= _HEAD.size else (0, 0)
            whole = _HEAD.size + length
            if len(piece) >= whole:
                yield number, bytes(piece[_HEAD.size : whole])
                piece = piece[whole:]
            elif at < end:
                more = os.pread(self._file.fileno(), min(max(_PIECE_BYTES, whole), end - at), at)
                if not more:
                    raise OSError(errno.EIO, "one was cut off", f"temporary files in {tempfile.gettempdir()}")
                piece = memoryview(bytes(piece) + more)
                at += len(more)
            else:
                return
