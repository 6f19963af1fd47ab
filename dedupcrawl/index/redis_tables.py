"""RedisTables: the tables of an index on a server, one hash for each, or for each group of one."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import Any

from dedupcrawl.index.redis_link import CHANGE, CLEAR, GROUPS, Address, Argument, Link
from dedupcrawl.index.tables import Answer, Arguments, Cell, Tables, in_turn, parts

_AGREED_SECONDS = 30 * 86_400  # after which a run that nobody heard of is over
_KEYS_AT_ONCE = 1_000  # that a server looks through


class RedisTables(Tables):
    """What is done with them is part of a conversation with the server."""

    def __init__(self, url: str, wait: float) -> None:
        super().__init__()
        self.address = Address(url)
        self.link = Link(self.address, wait)
        self.lock = threading.RLock()
        self.is_closed = False

    @abstractmethod
    def greet(self) -> None:
        """Begin a conversation on a new connection."""

    def key(self, table: str, group: bytes = b"") -> str:
        return self.address.key(table, *([group.hex()] if group else []))

    def check_open(self) -> None:
        if self.is_closed:
            raise ValueError("the index is closed")

    def converse(
        self, work: Callable[Arguments, Answer], /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Answer:
        self.check_open()
        return self.link.talk(self.greet, partial(work, *args, **kwargs))

    def change(self, cells: Collection[Cell], given: Collection[Cell] = ()) -> list[bytes | None] | None:
        return self._change(cells, given, self._number() if given else b"")

    @in_turn
    def _change(self, cells: Collection[Cell], given: Collection[Cell], number: bytes) -> list[bytes | None] | None:
        """Done once, however often it is sent under its number: an answer may be lost, and what is given is changed."""
        there: list[bytes | None] | None = self.link.call(CHANGE, *self._changing(cells, given, number))
        return there

    def _changing(self, cells: Collection[Cell], given: Collection[Cell] = (), number: bytes = b"") -> tuple[Any, ...]:
        keys = [self.key("meta"), *(self.key(cell.table, cell.group) for cell in (*given, *cells))]
        seconds = _AGREED_SECONDS if any(cell.table == "agreed" for cell in cells) else 0
        arguments: list[Argument] = [seconds, len(given)]
        for cell in given:
            arguments += cell.field, cell.value or b""
        for cell in cells:
            arguments += cell.table, cell.field, cell.value or b""
        return [*keys, self.address.key("done", self._process.hex())], *arguments, number

    @in_turn
    def send(self, cells: Collection[Cell]) -> None:
        self.link.post(CHANGE, *self._changing(cells))

    @in_turn
    def values(self, table: str, fields: Sequence[bytes]) -> list[bytes | None]:
        found: list[bytes | None] = self.link.ask("HMGET", self.key(table), *fields) if fields else []
        return found

    @in_turn
    def groups(self, table: str, groups: Sequence[bytes], beginning: bytes = b"") -> list[dict[bytes, bytes]]:
        told = self.link.call(GROUPS, [self.key(table, group) for group in groups], beginning) if groups else ()
        return [dict(sorted(zip(flat[::2], flat[1::2], strict=True))) for flat in told]

    def cells(self, table: str, beginning: bytes = b"") -> Iterator[Cell]:
        at: bytes | None = b"0"
        told = set[bytes]()  # a server may tell a key twice
        while at is not None:
            at, keys = self._keys(table, at)
            for some in parts({bytes.fromhex(key.rpartition(b":")[2].decode()) for key in keys} - told):
                told.update(some)
                for group, fields in zip(some, self.groups(table, some, beginning), strict=True):
                    yield from (Cell(table, group, field, raw) for field, raw in fields.items())

    @in_turn
    def _keys(self, table: str, at: bytes) -> tuple[bytes | None, list[bytes]]:
        """Keys of the groups of a table, from where a search has come to; and where it is now, None at its end."""
        following, keys = self.link.ask("SCAN", at, "MATCH", f"{self.key(table)}:*", "COUNT", _KEYS_AT_ONCE)
        return None if following == b"0" else following, keys

    @in_turn
    def clear(self, table: str, group: bytes, beginning: bytes = b"") -> None:
        self.link.post(CLEAR, [self.key("meta"), self.key(table, group)], table, beginning)

    def rows(self, table: str, beginning: bytes = b"") -> Iterator[tuple[bytes, bytes]]:
        for some in parts(field for field in self._fields(table) if field.startswith(beginning)):
            values = zip(some, self.values(table, some), strict=True)
            yield from ((field, raw) for field, raw in values if raw is not None)

    @in_turn
    def _fields(self, table: str) -> list[bytes]:
        return sorted(self.link.ask("HKEYS", self.key(table)))

    @in_turn
    def settle(self) -> None:
        self.link.settle()
