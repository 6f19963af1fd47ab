"""The tables of an index in Redis: a hash each, or one for each group of a table that has them; and its claimants."""

from __future__ import annotations

import threading
import time
import uuid
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import redis

from dedupcrawl.index.notes import VerdictLog
from dedupcrawl.index.pages import OWNER_BYTES, claim_cell, read_claim
from dedupcrawl.index.record import digest
from dedupcrawl.index.redis_link import Address, Argument, Link
from dedupcrawl.index.redis_scripts import CHANGE, CLEAR, GROUPS
from dedupcrawl.index.tables import Cell, in_turn, parts

FRESH_SECONDS = 1.0
"""Age up to which a process takes what it knows of the server for good when it says that a page is a duplicate."""

_AGREED_SECONDS = 30 * 86_400  # after which a run that nobody heard of is over

Answer = TypeVar("Answer")


class RedisNotes(VerdictLog):
    """The connection of an open index, and its tables.

    Attributes:
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
        for some in parts(field for field in self._fields(table) if field.startswith(beginning)):
            values = zip(some, self.values(table, some), strict=True)
            yield from ((field, raw) for field, raw in values if raw is not None)

    @in_turn
    def _fields(self, table: str) -> list[bytes]:
        return sorted(self.link.ask("HKEYS", self._key(table)))

    def is_restored(self, url: str) -> bool:
        with self.lock:
            if self.is_closed or time.monotonic() - self.read_at >= FRESH_SECONDS:
                return super().is_restored(url)
            if self.pages_restored > len(self._restored):
                self._restored.update(self._fields("restored"))
            return digest(url) in self._restored

    @in_turn
    def settle(self) -> None:
        """Wait until what was sent has arrived."""
        self.link.settle()

    def _key(self, table: str, group: bytes = b"") -> str:
        return self.address.key(table, *([group.hex()] if group else []))


LIFE_SECONDS = 30.0
"""After a claimant's last sign of life it is taken for dead."""

_SCANNED_AT_ONCE = 1000


class RedisClaims:
    """As index.pages.Claimant: alive as long as its key is, which a thread renews until the process ends.

    No lock on a file is seen by another machine, so here a claimant that is killed counts as alive until its key
    expires, and one that cannot reach Redis for that long as dead: that costs a duplicate. All methods but `close` are
    part of a conversation of `link`.

    Attributes:
        owner: The name of this process as a claimant; empty when it is none.
    """

    def __init__(self, address: Address, link: Link) -> None:
        self._address = address
        self._link = link
        self.owner = b""
        self._beat: threading.Thread | None = None
        self._ended = threading.Event()
        self._claims, self._owners = address.key("claims"), address.key("owners")
        self._has_read_all = False
        self._own: set[str] = set()
        self._dead: set[bytes] = set()

    def start(self) -> str:
        """Become a claimant, if this process is none yet; returns its name."""
        if self._beat is None:
            self.owner = self.owner or uuid.uuid4().bytes
            self._live(self._link)
            self._beat = threading.Thread(target=self._beats, name="dedupcrawl-claims", daemon=True)
            self._beat.start()
        return self.owner.hex()

    def kept(self, url: str) -> None:
        """The claim of this process on a page is stored."""
        if self.owner:
            self._own.add(url)

    def again(self) -> None:
        """Say once more that this process lives and what it claims, to a server that has forgotten."""
        if not self.owner:
            return
        self._live(self._link)
        for urls in parts(self._own):
            cells = [claim_cell(url, self.owner) for url in urls]
            self._link.ask("HSET", self._claims, *(part for cell in cells for part in (cell.field, cell.value or b"")))

    def give_up(self, urls: Iterable[str]) -> None:
        """There is no claim of this process on these pages any more."""
        self._own.difference_update(urls)

    def dead(self, excluded: Collection[str]) -> list[tuple[str, bytes]]:
        """The URLs that are claimed by processes that have ended, but those of some claimants, and by whom.

        All claims are read at first, and then only when somebody has died.
        """
        owners: set[bytes] = set(self._link.ask("SMEMBERS", self._owners))
        if not self._has_read_all:
            owners.update(raw[:OWNER_BYTES] for _, raw in self._all())
            if owners:
                self._link.ask("SADD", self._owners, *owners)
            self._has_read_all = True
        looked_at = [owner for owner in owners if owner.hex() not in excluded]
        self._dead = {owner for owner in looked_at if not self._link.ask("EXISTS", self._owner_key(owner))}
        claims = (read_claim(field, raw) for field, raw in dict(self._all() if self._dead else ()).items())
        return [(url, owner) for owner, url in claims if owner in self._dead]

    def bury(self, excluded: Collection[str]) -> None:
        """No claim of those that were found dead is left."""
        if self._dead:
            self._link.ask("SREM", self._owners, *self._dead)
            self._dead = set()

    def close(self) -> None:
        """What is still claimed is nobody's from now on."""
        if self._beat is not None:
            self._ended.set()
            self._beat.join()
            self._beat = None
            self.owner = b""

    def _all(self) -> Iterator[tuple[bytes, bytes]]:
        """All claims; one may come twice."""
        cursor = b"0"
        while True:
            cursor, flat = self._link.ask("HSCAN", self._claims, cursor, "COUNT", _SCANNED_AT_ONCE)
            yield from zip(flat[::2], flat[1::2], strict=True)
            if cursor == b"0":
                return

    def _owner_key(self, owner: bytes) -> str:
        return self._address.key("owner", owner.hex())

    def _live(self, link: Link) -> None:
        link.ask("SET", self._owner_key(self.owner), b"", "PX", int(LIFE_SECONDS * 1000))
        link.ask("SADD", self._owners, self.owner)  # behind it, or it would be reaped alive

    def _beats(self) -> None:
        """Renew the key until `close`, then delete it."""
        link = Link(self._address, 0)
        while not self._ended.wait(LIFE_SECONDS / 3):
            with suppress(OSError, redis.RedisError):  # the index itself says so, and this tries again
                link.talk(lambda: None, lambda: self._live(link))
        with suppress(OSError, redis.RedisError):
            link.talk(lambda: None, lambda: link.ask("DEL", self._owner_key(self.owner)))
        link.drop()
