"""RedisLeases: who of the processes that share an index on a server is alive, and what they answer for."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Collection, Iterable
from contextlib import suppress

import redis

from dedupcrawl.index.ledger import key_of
from dedupcrawl.index.record import Premise
from dedupcrawl.index.redis_link import Address, Link
from dedupcrawl.index.tables import Cell, parts

LIFE_SECONDS = 30.0
"""After a lessee's last sign of life it is taken for dead."""


class RedisLeases:
    """As index.ledger.Lessee: alive as long as its key is, which a thread renews until the process ends.

    No lock on a file is seen by another machine, so here a lessee that is killed counts as alive until its key
    expires, and one that cannot reach Redis for that long as dead: that costs a duplicate. All methods but `close` are
    part of a conversation of `link`.
    """

    def __init__(self, address: Address, link: Link) -> None:
        self._address = address
        self._link = link
        self.owner = b""
        self._beat: threading.Thread | None = None
        self._ended = threading.Event()
        self._leases, self._owners = address.key("leases"), address.key("owners")
        self._own: dict[bytes, bytes] = {}  # key of a premise → the lease on it

    def start(self) -> str:
        if self._beat is None:
            self.owner = self.owner or uuid.uuid4().bytes
            self._live(self._link)
            self._beat = threading.Thread(target=self._beats, name="dedupcrawl-leases", daemon=True)
            self._beat.start()
        return self.owner.hex()

    def have(self, leases: Iterable[Cell]) -> None:
        """The server has these leases of this process."""
        self._own |= {lease.field: lease.value or b"" for lease in leases}

    def again(self) -> None:
        """Say once more that this process lives and its leases, to a server that has forgotten."""
        if not self.owner:
            return
        self._live(self._link)
        for some in parts(self._own.items()):
            self._link.ask("HSET", self._leases, *(part for lease in some for part in lease))

    def give_up(self, premises: Iterable[Premise]) -> None:
        for premise in premises:
            self._own.pop(key_of(premise), None)

    def dead(self, excluded: Collection[str]) -> set[str]:
        owners: set[bytes] = set(self._link.ask("SMEMBERS", self._owners))
        looked_at = [owner for owner in owners if owner.hex() not in excluded]
        return {owner.hex() for owner in looked_at if not self._link.ask("EXISTS", self._owner_key(owner))}

    def purge(self, dead: Collection[str]) -> None:
        if dead:
            self._link.ask("SREM", self._owners, *map(bytes.fromhex, dead))

    def close(self) -> None:
        """Nobody answers from now on for what is still open."""
        if self._beat is not None:
            self._ended.set()
            self._beat.join()
            self._beat = None
            self.owner = b""

    def _owner_key(self, owner: bytes) -> str:
        return self._address.key("owner", owner.hex())

    def _live(self, link: Link) -> None:
        link.ask("SET", self._owner_key(self.owner), b"", "PX", int(LIFE_SECONDS * 1000))
        link.ask("SADD", self._owners, self.owner)  # behind it, or it would be taken for dead

    def _beats(self) -> None:
        link = Link(self._address, 0)
        while not self._ended.wait(LIFE_SECONDS / 3):
            with suppress(OSError, redis.RedisError):  # the index itself says so, and this tries again
                link.talk(lambda: None, lambda: self._live(link))
        with suppress(OSError, redis.RedisError):
            link.talk(lambda: None, lambda: link.ask("DEL", self._owner_key(self.owner)))
        link.drop()
