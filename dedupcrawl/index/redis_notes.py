"""What an index in Redis remembers besides pages: verdicts, rewrites, states of sites, attachments.

Verdicts and rewrites are appended under ascending numbers to a hash each; another holds the newest number of each URL,
a sorted set the numbers of rewrites behind what they are looked for.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from dedupcrawl.index.record import (
    check_name,
    digest,
    looked_for,
    pack_recorded,
    pack_rewrite,
    plain,
    rewrite_key,
    rewrite_keys,
    unpack_recorded,
    unpack_rewrite,
)
from dedupcrawl.index.redis_claims import RedisClaims, packed
from dedupcrawl.index.redis_journal import RedisJournal
from dedupcrawl.index.redis_link import Address, Link
from dedupcrawl.index.redis_scripts import (
    ATTACH,
    ATTACH_NEW,
    ATTACHED,
    DETACH,
    DROP_OLDER,
    FIRST_OF_RUN,
    RECORD,
    RECORD_REWRITES,
    UPDATE_STATE,
    WITHDRAW,
)
from dedupcrawl.index.rows import Dependent, Recorded, Rewrite
from dedupcrawl.index.turns import in_turn
from dedupcrawl.verdict import Verdict

ROWS_AT_ONCE = 256
FRESH_SECONDS = 1.0
"""Age up to which a process takes what it knows of the server for good when it says that a page is a duplicate."""

_NUMBER_BYTES = 4  # behind the key of a rewrite
_AGREED_SECONDS = 30 * 86_400  # after which a run that nobody heard of is over

Answer = TypeVar("Answer")


class RedisNotes:
    """An open index: its tables, and the part of the contract that has nothing to do with pages.

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
        self._client = uuid.uuid4().bytes
        self._posted = 0
        self._restored: set[bytes] = set()  # digests of URLs; asked for anew when there are more

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

    # Rewrites

    def record_rewrites(self, rewrites: Iterable[Rewrite]) -> None:
        rows = [(pack_rewrite(rewrite), rewrite_keys(rewrite)) for rewrite in rewrites]
        for first in range(0, max(1, len(rows)), ROWS_AT_ONCE):
            self._record_rewrites(rows[first : first + ROWS_AT_ONCE])

    @in_turn
    def _record_rewrites(self, rows: list[tuple[bytes, list[bytes]]]) -> None:
        arguments: list[bytes | int] = []
        for raw, keys in rows:
            arguments += raw, len(keys), *keys
        replaced = self.link.call(RECORD_REWRITES, self._keys("rewrites", "rewrite_keys", "counters"), *arguments)
        self._drop_rewrite_keys(zip(replaced[::2], replaced[1::2], strict=True))

    def _drop_rewrite_keys(self, rows: Iterable[tuple[int, bytes]]) -> None:
        """Of rewrites that are gone. Should this not come to pass, they lead to nothing."""
        gone = [
            key + number.to_bytes(_NUMBER_BYTES, "big")
            for number, raw in rows
            for key in rewrite_keys(unpack_rewrite(raw))
        ]
        if gone:
            self.link.ask("ZREM", self.address.key("rewrite_keys"), *gone)

    @in_turn
    def rewrite(self, url: str) -> Rewrite | None:
        for number in reversed(self._rewrite_numbers(rewrite_key(url))):
            raw = self.link.ask("HGET", self.address.key("rewrites"), number)
            if raw is not None:
                return unpack_rewrite(raw)
        return None

    def rewrites(self) -> Iterator[Rewrite]:
        return (unpack_rewrite(raw) for _, raw in self._numbered("rewrites"))

    def rewrites_of(
        self, spider: str, run: str, *, canonicals: Iterable[str] = (), rules: Iterable[str] = ()
    ) -> Iterator[Rewrite]:
        numbers: set[int] = set()
        for key in looked_for(spider, run, canonicals, rules):
            numbers.update(self._numbers_of(key))
        wanted = sorted(numbers)
        for first in range(0, len(wanted), ROWS_AT_ONCE):
            for raw in self._values_at(self.address.key("rewrites"), wanted[first : first + ROWS_AT_ONCE]):
                if raw is not None:
                    yield unpack_rewrite(raw)

    @in_turn
    def _numbers_of(self, key: bytes) -> list[int]:
        return self._rewrite_numbers(key)

    def _rewrite_numbers(self, key: bytes) -> list[int]:
        """The numbers of the rewrites that are found by `key` or what begins with it, ascending."""
        end = b"[" + key + b"\xff" * (len(rewrite_key("", "", "")) + _NUMBER_BYTES - len(key))
        members = self.link.ask("ZRANGEBYLEX", self.address.key("rewrite_keys"), b"[" + key, end)
        return sorted(int.from_bytes(member[-_NUMBER_BYTES:], "big") for member in members)

    def _drop_older_rewrites(self) -> None:
        """Of each URL and spider the newest stays."""
        older: list[tuple[int, bytes]] = []
        for number, raw in self._numbered("rewrites"):
            rewrite = unpack_rewrite(raw)
            if self._numbers_of(rewrite_key(rewrite.url, rewrite.spider))[-1:] != [number]:
                older.append((number, raw))
            if len(older) == ROWS_AT_ONCE:
                self._drop_rewrites(older)
                older.clear()
        self._drop_rewrites(older)

    @in_turn
    def _drop_rewrites(self, rows: list[tuple[int, bytes]]) -> None:
        if rows:
            self.link.ask("HDEL", self.address.key("rewrites"), *(number for number, _ in rows))
            self._drop_rewrite_keys(rows)

    # Verdicts

    def record(self, verdict: Verdict, *, run: str, site: str, spider: str = "", request: bytes = b"") -> None:
        raw = pack_recorded(Recorded(verdict, run, site, spider, time.time(), request))
        with self.lock:
            self._posted += 1
            self._record(self._posted, digest(plain(verdict.url)), raw)

    @in_turn
    def _record(self, number: int, url: bytes, raw: bytes) -> None:
        keys = [*self._keys("verdicts", "verdict_urls", "clients", "counters")]
        self.link.post(RECORD, keys, self._client, number, url, raw)

    @in_turn
    def verdict(self, url: str) -> Verdict | None:
        raw = self._newest("verdicts", "verdict_urls", url)
        return None if raw is None else unpack_recorded(raw).verdict

    def verdicts(self) -> Iterator[Verdict]:
        return (row.verdict for row in self.recorded())

    def recorded(self) -> Iterator[Recorded]:
        return (unpack_recorded(raw) for _, raw in self._numbered("verdicts"))

    def withdraw(self, urls: Iterable[str], *, refetch: bool = False) -> int:
        wanted = {digest(plain(url)) for url in urls}
        numbers: dict[bytes, list[int]] = {}
        newest: dict[bytes, Recorded] = {}
        for number, raw in self._numbered("verdicts"):
            row = unpack_recorded(raw)
            key = digest(row.verdict.url)
            if key in wanted:
                numbers.setdefault(key, []).append(number)
                newest[key] = row
        return sum(self._withdraw(key, numbers[key], row, refetch) for key, row in newest.items())

    @in_turn
    def _withdraw(self, key: bytes, numbers: list[int], newest: Recorded, refetch: bool) -> int:
        orphan = packed(Dependent(newest.spider, newest.verdict.url, newest.request)) if refetch else (b"", b"")
        keys = self._keys("verdicts", "verdict_urls", "restored", "orphans", "meta")
        done: int = self.link.call(WITHDRAW, keys, key, *orphan, *numbers)
        self.journal.read_at = 0.0
        return done

    def compact(self) -> None:
        older: list[bytes | int] = []
        for number, raw in self._numbered("verdicts"):
            older += digest(unpack_recorded(raw).verdict.url), number
            if len(older) >= 2 * ROWS_AT_ONCE:
                self._drop_older(older)
                older.clear()
        self._drop_older(older)
        self._drop_older_rewrites()

    @in_turn
    def _drop_older(self, pairs: list[bytes | int]) -> None:
        if pairs:
            self.link.call(DROP_OLDER, self._keys("verdicts", "verdict_urls"), *pairs)

    @in_turn
    def is_restored(self, url: str) -> bool:
        field = digest(plain(url))
        if time.monotonic() - self.journal.read_at >= FRESH_SECONDS:
            return bool(self.link.ask("HEXISTS", self.address.key("restored"), field))
        if self.journal.restored > len(self._restored):
            self._restored.update(self.link.ask("HKEYS", self.address.key("restored")))
        return field in self._restored

    def restored(self) -> Iterator[Recorded]:
        seen: set[bytes] = set()
        cursor = b"0"
        while True:
            cursor, found = self._scan(self.address.key("restored"), cursor)
            for key, raw in found:
                if key not in seen:  # a hash that grows meanwhile may give a field twice
                    seen.add(key)
                    yield unpack_recorded(raw)
            if cursor == b"0":
                return

    def refetch(self, dependents: Iterable[Dependent]) -> None:
        self._refetch_all([packed(dependent) for dependent in dependents])

    @in_turn
    def _refetch_all(self, orphans: list[tuple[bytes, bytes]]) -> None:
        for orphan in orphans:
            self.link.ask("HSET", self.address.key("orphans"), *orphan)

    # States of sites

    @in_turn
    def site_state(self, site: str, name: str) -> bytes | None:
        value: bytes | None = self.link.ask("HGET", self.address.key("states"), _state_field(site, name))
        return value

    @in_turn
    def update_site_state(
        self, site: str, name: str, change: Callable[[bytes | None], bytes], guess: bytes | None = None
    ) -> bytes:
        field, old = _state_field(site, name), guess
        while True:
            self.is_asking = True
            try:
                new = change(old)
            finally:
                self.is_asking = False
            arguments = (field, new) if old is None else (field, new, old)
            told: bytes | int | None = self.link.call(UPDATE_STATE, self._keys("states"), *arguments)
            if isinstance(told, int):
                return new
            old = told

    @in_turn
    def first_of_run(self, run: str, name: str, value: bytes) -> bytes:
        key = self.address.key("agreed", digest(plain(run)).hex())
        first: bytes = self.link.call(FIRST_OF_RUN, [key], digest(plain(name)), value, _AGREED_SECONDS)
        return first

    # Attachments

    @in_turn
    def attach(self, url: str, name: str, data: bytes) -> None:
        keys = [self._attached_key(plain(url)), *self._keys("counters")]
        self.link.post(ATTACH, keys, check_name(name), data)

    @in_turn
    def attach_new(self, name: str, rows: Mapping[str, bytes]) -> dict[str, bytes]:
        keys = [*self._keys("counters"), *(self._attached_key(plain(url)) for url in rows)]
        told = self.link.call(ATTACH_NEW, keys, check_name(name), *rows.values()) if rows else ()
        return {url: old for url, old in zip(rows, told, strict=True) if old is not None}

    @in_turn
    def attached(self, urls: Collection[str], beginning: str) -> dict[str, dict[str, bytes]]:
        asked = list(urls)
        told = self.link.call(ATTACHED, [self._attached_key(plain(url)) for url in asked], beginning) if asked else ()
        pairs = ({name.decode(): data for name, data in zip(flat[::2], flat[1::2], strict=True)} for flat in told)
        return dict(zip(asked, pairs, strict=True))

    @in_turn
    def detach(self, url: str, beginning: str) -> None:
        self._detach(plain(url), beginning)

    def _detach(self, url: str, beginning: str = "") -> None:
        """Remove what lies beside a URL; everything, or what begins so."""
        self.link.post(DETACH, [self._attached_key(url), *self._keys("counters")], beginning.encode())

    def attachments(self, url: str) -> dict[str, bytes]:
        return dict(sorted(self.attached([url], "")[url].items()))

    def _attached_key(self, url: str) -> str:
        return self.address.key("attached", digest(url).hex())

    def _newest(self, table: str, urls: str, url: str) -> bytes | None:
        number = self.link.ask("HGET", self.address.key(urls), digest(plain(url)))
        raw: bytes | None = None if number is None else self.link.ask("HGET", self.address.key(table), number)
        return raw

    @in_turn
    def settle(self) -> None:
        """Wait until what was sent has arrived."""
        if self._posted:
            self.link.settle()
            self.link.ask("HDEL", self.address.key("clients"), self._client)

    def notes_info(self) -> dict[str, int]:
        """How much is remembered; within a call."""
        counts = {name: self.link.ask("HLEN", self.address.key(name)) for name in ("verdicts", "restored", "rewrites")}
        attached = self.link.ask("HGET", self.address.key("counters"), "attachments")
        return {**counts, "attachments": int(attached or 0)}


def _state_field(site: str, name: str) -> bytes:
    return digest(plain(site)) + digest(plain(name))
