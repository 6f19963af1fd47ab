"""What all parts of an index in Redis have in common: one call at a time, and hashes whose rows are numbered."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from dedupcrawl.index.redis_address import Address
from dedupcrawl.index.redis_claims import RedisClaims
from dedupcrawl.index.redis_journal import RedisJournal
from dedupcrawl.index.redis_link import Link

ROWS_AT_ONCE = 256

Owner = TypeVar("Owner", bound="RedisRows")
Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


def in_turn(
    method: Callable[Concatenate[Owner, Arguments], Answer],
) -> Callable[Concatenate[Owner, Arguments], Answer]:
    """One call at a time, on an open index, begun anew when the connection breaks."""

    @wraps(method)
    def call(self: Owner, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        with self.lock:
            if self.is_closed:
                raise ValueError("the index is closed")
            if self.is_asking:
                raise RuntimeError(f"who is asked by the index at {self.address.where} must not call it")
            return self.link.talk(self.journal.greet, lambda: method(self, *args, **kwargs))

    return call


class RedisRows:
    """An open index, and its tables.

    Attributes:
        address: Where the index lies.
        link: The connection.
        lock: Held during every call.
        claims: Which pages are not stored yet, and what waits to be fetched again.
        journal: The pages.
        is_asking: True while others' code runs within a call.
        is_closed: True after `close`.
    """

    journal: RedisJournal

    def __init__(self, address: Address, wait: float) -> None:
        self.address = address
        self.link = Link(address, wait)
        self.lock = threading.RLock()
        self.claims = RedisClaims(address, self.link)
        self.is_asking = self.is_closed = False

    def _keys(self, *names: str) -> list[str]:
        return [self.address.key(name) for name in names]

    @in_turn
    def _scan(self, key: str, cursor: bytes) -> tuple[bytes, list[tuple[bytes, bytes]]]:
        return self.claims.scanned(key, cursor)

    def _numbered(self, table: str) -> Iterator[tuple[int, bytes]]:
        """Numbers and rows of a table that are there now, oldest first."""
        end = self._end(table)
        for first in range(1, end + 1, ROWS_AT_ONCE):
            last = min(end, first + ROWS_AT_ONCE - 1)
            for number, raw in enumerate(self.values(self.address.key(table), first, last + 1), first):
                if raw is not None:
                    yield number, raw

    @in_turn
    def _end(self, table: str) -> int:
        self.link.settle()
        return int(self.link.ask("HGET", self.address.key("counters"), table) or 0)

    def values(self, key: str, first: int, end: int) -> list[bytes | None]:
        """The values of a hash under the numbers first … end - 1."""
        return self._values_at(key, range(first, end))

    @in_turn
    def _values_at(self, key: str, numbers: Sequence[int]) -> list[bytes | None]:
        found: list[bytes | None] = self.link.ask("HMGET", key, *numbers)
        return found
