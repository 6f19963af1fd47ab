"""The claimants of an index on a server."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress

import redis

from dedupcrawl.index.pages import OWNER_BYTES, claim_cell
from dedupcrawl.index.redis_link import Address, Link
from dedupcrawl.index.tables import parts

LIFE_SECONDS = 30.0
"""After a claimant's last sign of life it is taken for dead."""

_SCANNED_AT_ONCE = 1_000  # claims


class RedisClaims:
    """As index.pages.Claimant: alive as long as its key is, which a thread renews until the process ends.

    No lock on a file is seen by another machine, so here a claimant that is killed counts as alive until its key
    expires, and one that cannot reach Redis for that long as dead: that costs a duplicate. All methods but `close` are
    part of a conversation of `link`.
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

    def start(self) -> str:
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
        self._own.difference_update(urls)

    def dead(self, excluded: Collection[str]) -> set[str]:
        """Who they are is read from all claims the first time: one that was buried alive may have claimed more."""
        owners: set[bytes] = set(self._link.ask("SMEMBERS", self._owners))
        if not self._has_read_all:
            owners.update(raw[:OWNER_BYTES] for raw in self._all_claims())
            if owners:
                self._link.ask("SADD", self._owners, *owners)
            self._has_read_all = True
        looked_at = [owner for owner in owners if owner.hex() not in excluded]
        return {owner.hex() for owner in looked_at if not self._link.ask("EXISTS", self._owner_key(owner))}

    def _all_claims(self) -> Iterator[bytes]:
        """In the conversation that goes on: one of its own would hide that the server has lost what was asked for."""
        cursor: bytes | int = 0
        while cursor != b"0":
            cursor, flat = self._link.ask("HSCAN", self._claims, cursor, "COUNT", _SCANNED_AT_ONCE)
            yield from flat[1::2]

    def bury(self, dead: Collection[str]) -> None:
        if dead:
            self._link.ask("SREM", self._owners, *map(bytes.fromhex, dead))

    def close(self) -> None:
        """What is still claimed is nobody's from now on."""
        if self._beat is not None:
            self._ended.set()
            self._beat.join()
            self._beat = None
            self.owner = b""

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
