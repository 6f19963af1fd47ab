"""RedisJournal: the rows on the server and this process's replica of them, kept one behind the other."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import redis

from dedupcrawl.content.checks.base import Check
from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.redis_address import Address
from dedupcrawl.index.redis_link import Argument, Link
from dedupcrawl.index.redis_replica import Replica
from dedupcrawl.index.redis_scripts import GREET, READ, RESTORE, Script
from dedupcrawl.index.schema import Header, Schema, check_header, header_of, read_header

_RESTORED_AT_ONCE = 256  # rows
_NO_LIMIT = 1 << 62


class RedisJournal:
    """The journal of one index. All methods but `close` are part of a conversation of `link`.

    Args:
        address: Where the index lies.
        link: The connection.
        checks: As in RedisIndex.
        batch_pages: As in RedisIndex.
        lock: Held whenever the journal is used.
        lost: Called when the server had lost what it held, to tell it again what only this process knows.

    Attributes:
        replica: The copy; set by the first `greet`, and anew when the server's journal is another one.
        read_at: When (time.monotonic) the server was last asked for its rows.
        restored: How many pages were restored until then.
        first_id_limit: Pages at and above may belong to this run, whatever was said before the server lost its rows.
    """

    replica: Replica

    def __init__(
        self,
        address: Address,
        link: Link,
        checks: Sequence[Check],
        batch_pages: int,
        lock: threading.RLock,
        lost: Callable[[], None],
    ) -> None:
        self._address = address
        self._link = link
        self._checks = checks
        self._batch_pages = batch_pages
        self._lock = lock
        self._lost = lost
        self._epoch = b""
        self.read_at = 0.0
        self.restored = 0
        self.first_id_limit = _NO_LIMIT
        self.rows_key = address.key("rows")
        self.keys = (address.key("meta"), self.rows_key, address.key("window"))

    def greet(self) -> None:
        """On a new connection: make the index if it is missing, and see whether it is the one that was known.

        A server that has forgotten everything is given the rows back by the first process that finds it so.

        Raises:
            IndexMismatchError: The index was made by other checks or settings.
            ValueError: There is no index, and no checks to make it for.
        """
        known = self.replica.catalog.next_id if self._epoch else 0
        new = msgspec.msgpack.encode(header_of(self._checks, self._batch_pages)) if self._checks else b""
        epoch = uuid.uuid4().bytes
        header, stored_epoch, count, last = self._link.call(GREET, self.keys[:2], new, epoch, known - 1)
        if header is None and count:
            raise IndexDamagedError(
                f"the index at {self._address.where} has no header: delete its keys, or bring it back"
            )
        if header is None:
            raise ValueError(f"there is no index at {self._address.where}: crawl first, or name another prefix")
        read = read_header(header, self._address.where)
        check_header(read, self._checks, self._address.where)
        if not self._epoch:
            self._start(read)
        elif known and stored_epoch == epoch:
            self._restore(epoch, known)
            self._lost()
        elif stored_epoch != self._epoch or count < known or (known and last != self.replica.on_the_wire(known - 1)):
            self._start(read)
            self._lost()
        self._epoch = stored_epoch

    def catch_up(self) -> None:
        """Take over all rows that the replica does not have."""
        while True:
            _, rows, _, count = self._run(READ, [])
            self.replica.extend(rows)
            if self.replica.catalog.next_id >= count:
                return

    def exchange(self, script: Script, keys: Sequence[str], *arguments: Argument) -> bytes:
        """Run a script on the journal and take over the rows that it tells; returns its status."""
        status, rows, *_ = self._run(script, keys, *arguments)
        self.replica.extend(rows)
        found: bytes = status
        return found

    def exchange_more(self, script: Script, keys: Sequence[str], *arguments: Argument) -> tuple[bytes, list[bytes]]:
        """As `exchange`, for a script that tells more: returns its status and that."""
        status, rows, _, *more = self._run(script, keys, *arguments)
        self.replica.extend(rows)
        return status, more[0] if more else []

    def close(self) -> None:
        """Release the replica."""
        if self._epoch:
            self.replica.wait()
            with self._lock:
                self.replica.close()

    def _run(self, script: Script, keys: Sequence[str], *arguments: Argument) -> Any:
        asked_at = time.monotonic()
        answer = self._link.call(script, [*self.keys, *keys], self._epoch, self.replica.catalog.next_id, *arguments)
        if answer[0] == b"lost":
            raise redis.ConnectionError("it has lost what it held")  # so that it is greeted again
        self.read_at = asked_at
        self.restored = answer[2]
        return answer

    def _start(self, header: Header) -> None:
        """Begin with an empty replica; the old one ends with the search that may still be reading it."""
        if self._epoch:
            self.first_id_limit = 0
        self.replica = Replica(Schema(header, self._checks), header.batch_pages, self._lock)

    def _restore(self, epoch: bytes, known: int) -> None:
        """Give the server the rows that it has lost; as far as nobody else adds any."""
        for first in range(0, known, _RESTORED_AT_ONCE):
            rows = [self.replica.on_the_wire(page) for page in range(first, min(known, first + _RESTORED_AT_ONCE))]
            if not self._link.call(RESTORE, self.keys[:2], epoch, first, *rows):
                self._start(read_header(self._link.ask("HGET", self.keys[0], "header"), self._address.where))
                return
