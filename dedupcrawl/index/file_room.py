"""File room: a journal's file is longer than it needs to be, so that one that was cut can be told from it.

LMDB leaves pages at the end unwritten that it took and freed again; to read such a page would end in a bus error.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from dedupcrawl.index.errors import explained

if TYPE_CHECKING:
    import lmdb

    Transaction: TypeAlias = "lmdb.Transaction[memoryview]"

_RESERVE = 4096  # LMDB pages by which the file is made longer than it needs to be, when …
_LEAST_RESERVE = 1024  # … it is not so many longer, which is more than one transaction takes
_TAKEN = 32  # of these a cell at most: those on its way in a tree, split, in that of the tables and of free pages, too


class FileRoom:
    """Makes a file longer before it needs to be.

    LMDB is asked how much is in use once for many small transactions of this process in a row.
    """

    def __init__(self, data: Path, env: lmdb.Environment) -> None:
        self._data, self._env = data, env
        self._page_bytes: int = env.stat()["psize"]
        self._length = data.stat().st_size
        self._spare = 0  # pages by which the file is longer than it needs to be, at least, after …
        self._id = -1  # … of the last transaction of this process, and whether it wrote: else the next one has its id
        self._has_written = False

    @property
    def is_cut(self) -> bool:
        """Whether the file is shorter than it must be."""
        return self._length < self.used_bytes

    @property
    def used_bytes(self) -> int:
        """How long it must be."""
        return int(self._env.info()["last_pgno"] + 1) * self._page_bytes

    def begin(self, txn: Transaction) -> None:
        """Make it so long that it cannot be taken for one that was cut, whatever this transaction does."""
        if self._spare < _LEAST_RESERVE or txn.id() != self._id + self._has_written:  # others have written meanwhile
            self.reserve()
        self._id, self._has_written = txn.id(), False

    def reserve(self) -> None:
        """The same, whatever the next transaction does.

        Raises:
            OSError: The disk is full; it is tried again before the next transaction.
        """
        needed = self.used_bytes // self._page_bytes
        if self._length < (needed + _LEAST_RESERVE) * self._page_bytes:
            length = (needed + _LEAST_RESERVE + _RESERVE) * self._page_bytes
            try:
                with open(self._data, "r+b") as data:
                    os.posix_fallocate(data.fileno(), length - 1, 1)  # never makes it shorter
            except OSError as error:
                raise explained(error, self._data.parent) from error
            self._length = length
        self._spare = self._length // self._page_bytes - needed

    def take(self, cells: int, size: int = 0) -> None:
        """So many cells are set or removed, the values of which have so many bytes together."""
        self._has_written = True
        self._spare -= _TAKEN * cells + size // self._page_bytes
