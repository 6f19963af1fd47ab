"""Tables of cells: what a store keeps besides pages, and one call at a time on it.

A store has to read cells, to list them, and to change some of them in one step if others have not been changed
meanwhile. Everything that is remembered is written over these, once for all stores.
"""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import wraps
from itertools import islice
from threading import RLock
from typing import Concatenate, NamedTuple, ParamSpec, TypeVar

NUMBER_BYTES = 12  # eight of the time, four of the process
ROWS_AT_ONCE = 256  # so short is what others wait for; and no transaction stays open while who reads them thinks
VERDICT, RESTORED, REWRITE, BESIDE = b"v", b"w", b"r", b"a"
"""The kinds of what is known of a URL, with which the fields in the table "urls" begin."""
OF_URL = {"verdicts": VERDICT, "restored": RESTORED, "rewrites": REWRITE, "attachments": BESIDE}
"""What `Index.info` calls them."""
COUNTED = {"due": "due", "unstored": "leases"}
"""What it calls the other tables whose cells it counts."""

Owner = TypeVar("Owner", bound="Tables")
Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")
Item = TypeVar("Item")


class Cell(NamedTuple):
    """A cell of a table, and a value of it."""

    table: str
    group: bytes  # what its cells that are read and removed together begin with; empty in a table without groups
    field: bytes  # the rest of its key
    value: bytes | None = None  # not empty; None: there is no such cell


class Tables(ABC):
    """What every store does for the tables. Threads of a process take turns: `lock` is held during every call."""

    lock: RLock

    def __init__(self) -> None:
        self._last = 0
        self._process = os.urandom(4)

    @abstractmethod
    def check_open(self) -> None:
        """Raise an error when the index cannot be used, or no more."""

    @abstractmethod
    def converse(
        self, work: Callable[Arguments, Answer], /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Answer:
        """What `work` returns on an open index; what the store raises meanwhile becomes an error of the contract."""

    @abstractmethod
    def change(self, cells: Collection[Cell], given: Collection[Cell] = ()) -> list[bytes | None] | None:
        """Set and remove cells in one atomic step, if those that are `given` are as they are said to be.

        Returns:
            None where that was done; else the values that the given cells have.
        """

    def send(self, cells: Collection[Cell]) -> None:
        """As `change`, but who has a server need not wait for it; then it may be done more than once."""
        self.change(cells)

    @abstractmethod
    def values(self, table: str, fields: Sequence[bytes]) -> list[bytes | None]:
        """The values of cells of a table without groups."""

    @abstractmethod
    def groups(self, table: str, groups: Sequence[bytes], beginning: bytes = b"") -> list[dict[bytes, bytes]]:
        """Field → value of the cells of each of these groups whose fields begin so, in order."""

    @abstractmethod
    def cells(self, table: str, beginning: bytes = b"") -> Iterator[Cell]:
        """All cells of a table whose groups are digests, one group after the other, whose fields begin so.

        Those that come or go meanwhile may be missing. On a server all of its keys are looked through.
        """

    def remove(self, cells: Iterable[Cell]) -> int:
        """Remove cells, some hundreds in one step; how many were named."""
        count = 0
        for some in parts(cells):
            self.change([cell._replace(value=None) for cell in some])
            count += len(some)
        return count

    @abstractmethod
    def clear(self, table: str, group: bytes, beginning: bytes = b"") -> None:
        """Remove the cells of a group whose fields begin so; who has a server need not wait for it."""

    @abstractmethod
    def rows(self, table: str, beginning: bytes = b"") -> Iterator[tuple[bytes, bytes]]:
        """(field, value) of the cells of a table without groups whose fields begin so, in order."""

    def _read(self, unpack: Callable[[bytes], Item], raw: bytes) -> Item:
        """What a row says; who has a folder says of damage where it is."""
        return unpack(raw)

    def _number(self) -> bytes:
        """What the value of a row begins with that is recorded now: behind all that this process has recorded.

        It is the time: so nobody has to ask for a number first, and what is recorded may be sent twice.
        """
        self._last = max(time.time_ns(), self._last + 1)
        return self._last.to_bytes(8, "big") + self._process


def in_turn(method: Callable[Concatenate[Owner, Arguments], Answer]) -> Callable[Concatenate[Owner, Arguments], Answer]:
    """One call at a time, on an open index; the store's errors become those of the contract."""

    @wraps(method)
    def call(self: Owner, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        with self.lock:
            return self.converse(method, self, *args, **kwargs)

    return call


def parts(items: Iterable[Item], most: int = ROWS_AT_ONCE) -> Iterator[list[Item]]:
    rest = iter(items)
    while part := list(islice(rest, most)):
        yield part
