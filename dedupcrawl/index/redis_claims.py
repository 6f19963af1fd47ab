"""Claims in Redis: a claimant is alive as long as its key is, which a thread renews until the process ends.

What claims are for: index.claims. No lock on a file is seen by another machine, so here a claimant that is killed
counts as alive until its key expires, and one that cannot reach Redis for that long as dead: that costs a duplicate.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Collection, Iterator
from contextlib import suppress

import msgspec
import redis

from dedupcrawl.index.record import digest
from dedupcrawl.index.redis_link import Address, Link
from dedupcrawl.index.redis_scripts import ADOPT, CONFIRM, TAKE, TAKEN, TAKEN_BYTES
from dedupcrawl.index.rows import Dependent

LIFE_SECONDS = 30.0
"""After a claimant's last sign of life it is taken for dead."""

_OWNER_BYTES = 16
_SCANNED_AT_ONCE = 1000

_encode = msgspec.msgpack.Encoder().encode
_decode_dependent = msgspec.msgpack.Decoder(Dependent).decode


class RedisClaims:
    """The claims of one index. All methods but `start` and `close` are part of a conversation of `link`.

    Args:
        address: Where the index lies.
        link: The connection of the index.
    """

    def __init__(self, address: Address, link: Link) -> None:
        self._address = address
        self._link = link
        self._owner = b""
        self._beat: threading.Thread | None = None
        self._ended = threading.Event()
        self.key = address.key("claims")
        self.owners_key = address.key("owners")
        self._has_read_all = False
        self.orphans_key = address.key("orphans")
        self._own: set[str] = set()

    @property
    def started(self) -> bool:
        """True when this process claims what it keeps."""
        return bool(self._owner)

    def start(self) -> str:
        """Become a claimant, if this process is none yet; returns its name."""
        if self._beat is None:
            self._owner = self._owner or uuid.uuid4().bytes
            self._live(self._link)
            self._beat = threading.Thread(target=self._beats, name="dedupcrawl-claims", daemon=True)
            self._beat.start()
        return self._owner.hex()

    def claim_of(self, url: str) -> tuple[bytes, bytes]:
        """Field and value of this process's claim on a page; empty when it does not claim."""
        return (digest(url), self._owner + url.encode()) if self._owner else (b"", b"")

    def kept(self, url: str) -> None:
        """The claim of `claim_of` is stored."""
        if self._owner:
            self._own.add(url)

    def again(self) -> None:
        """Say once more that this process lives and what it claims, to a server that has forgotten."""
        if not self._owner:
            return
        self._live(self._link)
        urls = list(self._own)
        for first in range(0, len(urls), _SCANNED_AT_ONCE):
            pairs = [part for url in urls[first : first + _SCANNED_AT_ONCE] for part in self.claim_of(url)]
            self._link.ask("HSET", self.key, *pairs)

    def confirm(self, urls: list[str]) -> None:
        """The pages under these URLs are stored, so nothing depends on them. Claims of other processes stay."""
        if self._owner and urls:
            keys = [self.key, *map(self.dependents_key, urls)]
            self._link.call(CONFIRM, keys, self._owner, *map(digest, urls))
        self._own.difference_update(urls)

    def given_up(self, url: str) -> None:
        """There is no claim of this process on a page any more."""
        self._own.discard(url)

    def dependents_key(self, url: str) -> str:
        """Key of what depends on the page under `url`."""
        return self._address.key("dependents", digest(url).hex())

    def adopt(self, orphan: Dependent, kept_under: str | None) -> None:
        """An orphan was fetched again and judged."""
        keys = [self.key, self.dependents_key(kept_under or ""), self.orphans_key]
        field, value = packed(orphan)
        self._link.call(ADOPT, keys, b"" if kept_under is None else digest(kept_under), field, value)

    def orphans(self, spider: str) -> list[Dependent]:
        """What is to be fetched again by a spider."""
        mine = digest(spider)
        found = {f: raw for f, raw in self._all(self.orphans_key) if f.startswith(mine)}
        return unpacked(list(found.values()))

    def take(self, orphans: list[Dependent], at: bytes) -> list[Dependent]:
        """Of these orphans those that nobody who lives has taken; taken by this process, when it is a claimant.

        Args:
            orphans: From `orphans`.
            at: Names this take, in `redis_scripts.TAKE_BYTES`. What this process took by another name it does not get
                again.
        """
        if not self._owner:
            return orphans
        taken: list[bytes] = []
        taker = self._address.key("owner", ""), self._owner.hex(), at
        for first in range(0, len(orphans), _SCANNED_AT_ONCE):
            fields = [packed(orphan)[0] for orphan in orphans[first : first + _SCANNED_AT_ONCE]]
            taken += self._link.call(TAKE, [self.orphans_key], *taker, *fields)
        return unpacked(taken)

    def dead(self, excluded: Collection[str]) -> dict[bytes, list[str]]:
        """The URLs that are claimed by processes that have ended, by process, but those of some claimants.

        All claims are read at first, and then only when somebody has died.
        """
        owners: set[bytes] = set(self._link.ask("SMEMBERS", self.owners_key))
        if not self._has_read_all:
            owners.update(raw[:_OWNER_BYTES] for _, raw in self._all(self.key))
            if owners:
                self._link.ask("SADD", self.owners_key, *owners)
            self._has_read_all = True
        looked_at = [owner for owner in owners if owner.hex() not in excluded]
        claimed: dict[bytes, list[str]] = {o: [] for o in looked_at if not self._link.ask("EXISTS", self._owner_key(o))}
        if claimed:
            for raw in dict(self._all(self.key)).values():
                if raw[:_OWNER_BYTES] in claimed:
                    claimed[raw[:_OWNER_BYTES]].append(raw[_OWNER_BYTES:].decode())
        return claimed

    def reap(self, owner: bytes) -> None:
        """No claim of a process that is no more is left."""
        self._link.ask("SREM", self.owners_key, owner)

    def info(self) -> dict[str, int]:
        """How many pages are claimed, and how many wait to be fetched again."""
        return {
            "claimed": self._link.ask("HLEN", self.key),
            "orphans": self._link.ask("HLEN", self.orphans_key),
        }

    def close(self) -> None:
        """What is still claimed is nobody's from now on."""
        if self._beat is not None:
            self._ended.set()
            self._beat.join()
            self._beat = None
            self._owner = b""

    def scanned(self, key: str, cursor: bytes) -> tuple[bytes, list[tuple[bytes, bytes]]]:
        """Some fields and values of a hash, from a cursor on, and the next one; b"0" is the first and the end."""
        following, flat = self._link.ask("HSCAN", key, cursor, "COUNT", _SCANNED_AT_ONCE)
        return following, list(zip(flat[::2], flat[1::2], strict=True))

    def _all(self, key: str) -> Iterator[tuple[bytes, bytes]]:
        """All fields and values of a hash; one may come twice."""
        cursor = b"0"
        while True:
            cursor, found = self.scanned(key, cursor)
            yield from found
            if cursor == b"0":
                return

    def _owner_key(self, owner: bytes) -> str:
        return self._address.key("owner", owner.hex())

    def _live(self, link: Link) -> None:
        link.ask("SET", self._owner_key(self._owner), b"", "PX", int(LIFE_SECONDS * 1000))
        link.ask("SADD", self.owners_key, self._owner)  # behind it, or it would be reaped alive

    def _beats(self) -> None:
        """Renew the key until `close`, then delete it."""
        link = Link(self._address, 0)
        while not self._ended.wait(LIFE_SECONDS / 3):
            with suppress(OSError, redis.RedisError):  # the index itself says so, and this tries again
                link.talk(lambda: None, lambda: self._live(link))
        with suppress(OSError, redis.RedisError):
            link.talk(lambda: None, lambda: link.ask("DEL", self._owner_key(self._owner)))
        link.drop()


def packed(dependent: Dependent) -> tuple[bytes, bytes]:
    """Field and value of a dependent, or of an orphan."""
    return digest(dependent.spider) + digest(dependent.url), _encode(dependent)


def unpacked(values: list[bytes]) -> list[Dependent]:
    """The dependents of values, taken or not."""
    return [_decode_dependent(raw[TAKEN_BYTES:] if raw[:1] == TAKEN else raw) for raw in values]
