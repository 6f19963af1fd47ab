"""The tables of an index in Redis: a hash each, or one for each group of a table that has them."""

from __future__ import annotations

import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, TypeVar

from dedupcrawl.index.notes import VerdictLog
from dedupcrawl.index.record import digest, plain
from dedupcrawl.index.redis_link import Address, Argument, Link
from dedupcrawl.index.redis_scripts import CHANGE, CLEAR, GROUPS
from dedupcrawl.index.tables import ROWS_AT_ONCE, Cell, in_turn

FRESH_SECONDS = 1.0
"""Age up to which a process takes what it knows of the server for good when it says that a page is a duplicate."""

_AGREED_SECONDS = 30 * 86_400  # after which a run that nobody heard of is over

Answer = TypeVar("Answer")


class RedisNotes(VerdictLog):
    """The connection of an open index, and its tables.

    Attributes:
        address: Where the index lies.
        link: The connection.
        is_closed: True after `close`.
        read_at: When (time.monotonic) the server was last asked for its rows.
        pages_restored: How many pages were restored until then.
    """

    def __init__(self, address: Address, wait: float) -> None:
        super().__init__()
        self.address = address
        self.link = Link(address, wait)
        self.lock = threading.RLock()
        self.is_closed = False
        self.read_at = 0.0
        self.pages_restored = 0
        self._restored: set[bytes] = set()  # digests of URLs; asked for anew when there are more

    @abstractmethod
    def greet(self) -> None:
        """Called first on a new connection."""

    def check_open(self) -> None:
        """Raise ValueError after `close`."""
        if self.is_closed:
            raise ValueError("the index is closed")

    def converse(self, work: Callable[[], Answer]) -> Answer:
        """What `work` returns, begun anew when the connection breaks."""
        return self.link.talk(self.greet, work)

    @in_turn
    def change(self, cells: Collection[Cell], given: Collection[Cell] = ()) -> list[bytes | None] | None:
        there: list[bytes | None] | None = self.link.call(CHANGE, *self._changing(cells, given))
        if any(cell.table == "restored" for cell in cells):
            self.read_at = 0.0
        return there

    def _changing(self, cells: Collection[Cell], given: Collection[Cell]) -> tuple[Any, ...]:
        """Keys and arguments."""
        keys = [self.address.key("meta"), *(self._key(cell.table, cell.group) for cell in (*given, *cells))]
        seconds = _AGREED_SECONDS if any(cell.table == "agreed" for cell in cells) else 0
        arguments: list[Argument] = [seconds, len(given)]
        for cell in given:
            arguments += cell.field, cell.value or b""
        for cell in cells:
            arguments += cell.table, cell.field, cell.value or b""
        return keys, *arguments

    @in_turn
    def send(self, cells: Collection[Cell]) -> None:
        self.link.post(CHANGE, *self._changing(cells, ()))

    @in_turn
    def values(self, table: str, fields: Sequence[bytes]) -> list[bytes | None]:
        found: list[bytes | None] = self.link.ask("HMGET", self._key(table), *fields) if fields else []
        return found

    @in_turn
    def groups(self, table: str, groups: Sequence[bytes], beginning: bytes = b"") -> list[dict[bytes, bytes]]:
        told = self.link.call(GROUPS, [self._key(table, group) for group in groups], beginning) if groups else ()
        return [dict(sorted(zip(flat[::2], flat[1::2], strict=True))) for flat in told]

    @in_turn
    def clear(self, table: str, group: bytes, beginning: bytes = b"") -> None:
        self.link.post(CLEAR, [self.address.key("meta"), self._key(table, group)], table, beginning)

    def rows(self, table: str, beginning: bytes = b"") -> Iterator[tuple[bytes, bytes]]:
        fields = [field for field in self._fields(table) if field.startswith(beginning)]
        for first in range(0, len(fields), ROWS_AT_ONCE):
            some = fields[first : first + ROWS_AT_ONCE]
            yield from (
                (field, raw) for field, raw in zip(some, self.values(table, some), strict=True) if raw is not None
            )

    @in_turn
    def _fields(self, table: str) -> list[bytes]:
        return sorted(self.link.ask("HKEYS", self._key(table)))

    def is_restored(self, url: str) -> bool:
        with self.lock:
            if self.is_closed or time.monotonic() - self.read_at >= FRESH_SECONDS:
                return super().is_restored(url)
            if self.pages_restored > len(self._restored):
                self._restored.update(self._fields("restored"))
            return digest(plain(url)) in self._restored

    @in_turn
    def settle(self) -> None:
        """Wait until what was sent has arrived."""
        self.link.settle()

    def _key(self, table: str, group: bytes = b"") -> str:
        return self.address.key(table, *([group.hex()] if group else []))
