"""What all parts of an index in Redis have in common: one call at a time, and hashes whose rows are numbered."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from dedupcrawl.index.redis_address import Address
from dedupcrawl.index.redis_claims import RedisClaims
from dedupcrawl.index.redis_journal import RedisJournal
from dedupcrawl.index.redis_link import Link
from dedupcrawl.index.turns import in_turn

ROWS_AT_ONCE = 256

Answer = TypeVar("Answer")


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

    @property
    def where(self) -> str:
        """The server and the keys on it, without a password."""
        return self.address.where

    def check_open(self) -> None:
        """Raise ValueError after `close`."""
        if self.is_closed:
            raise ValueError("the index is closed")

    def converse(self, work: Callable[[], Answer]) -> Answer:
        """What `work` returns, begun anew when the connection breaks."""
        return self.link.talk(self.journal.greet, work)

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
