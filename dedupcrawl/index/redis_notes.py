"""What an index in Redis remembers besides pages: verdicts, states of sites, attachments, and `redis_rewrites`.

Verdicts are appended under ascending numbers to one hash; another holds the newest number of each URL.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping

from dedupcrawl.index.journal import digest
from dedupcrawl.index.note_rows import check_name, pack_recorded, unpack_recorded
from dedupcrawl.index.record import plain
from dedupcrawl.index.redis_address import Address
from dedupcrawl.index.redis_claims import packed
from dedupcrawl.index.redis_note_scripts import (
    ATTACH,
    ATTACH_NEW,
    DETACH,
    DROP_OLDER,
    FIRST_OF_RUN,
    RECORD,
    UPDATE_STATE,
    WITHDRAW,
)
from dedupcrawl.index.redis_rewrites import RedisRewrites
from dedupcrawl.index.redis_rows import ROWS_AT_ONCE
from dedupcrawl.index.rows import Dependent, Recorded
from dedupcrawl.index.turns import in_turn
from dedupcrawl.verdict import Verdict

FRESH_SECONDS = 1.0
"""Age up to which a process takes what it knows of the server for good when it says that a page is a duplicate."""

_AGREED_SECONDS = 30 * 86_400  # after which a run that nobody heard of is over


class RedisNotes(RedisRewrites):
    """The part of the contract Index that has nothing to do with pages."""

    def __init__(self, address: Address, wait: float) -> None:
        super().__init__(address, wait)
        self._client = uuid.uuid4().bytes
        self._posted = 0
        self._restored: set[bytes] = set()  # digests of URLs; asked for anew when there are more

    # Verdicts

    def record(self, verdict: Verdict, *, run: str, site: str, spider: str = "", request: bytes = b"") -> None:
        """Remember a verdict of duplicate; the newest of a URL counts. It is sent at once and not waited for."""
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
        """The newest recorded verdict on this URL."""
        raw = self._newest("verdicts", "verdict_urls", url)
        return None if raw is None else unpack_recorded(raw).verdict

    def verdicts(self) -> Iterator[Verdict]:
        """All recorded verdicts, oldest first."""
        return (row.verdict for row in self.recorded())

    def recorded(self) -> Iterator[Recorded]:
        """The same with where and when they fell."""
        return (unpack_recorded(raw) for _, raw in self._numbered("verdicts"))

    def withdraw(self, urls: Iterable[str], *, refetch: bool = False) -> int:
        """The verdicts on these pages hold no more, and no later one shall (see Index)."""
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
        """Give back the room of older verdicts and rewrites; of an ended page next to nothing stays anyway."""
        older: list[bytes | int] = []
        for number, raw in self._numbered("verdicts"):
            older += digest(unpack_recorded(raw).verdict.url), number
            if len(older) >= 2 * ROWS_AT_ONCE:
                self._drop_older(older)
                older.clear()
        self._drop_older(older)
        self.drop_older_rewrites()

    @in_turn
    def _drop_older(self, pairs: list[bytes | int]) -> None:
        if pairs:
            self.link.call(DROP_OLDER, self._keys("verdicts", "verdict_urls"), *pairs)

    @in_turn
    def is_restored(self, url: str) -> bool:
        """True when a verdict on this page was withdrawn."""
        field = digest(plain(url))
        if time.monotonic() - self.journal.read_at >= FRESH_SECONDS:
            return bool(self.link.ask("HEXISTS", self.address.key("restored"), field))
        if self.journal.restored > len(self._restored):
            self._restored.update(self.link.ask("HKEYS", self.address.key("restored")))
        return field in self._restored

    def restored(self) -> Iterator[Recorded]:
        """The newest withdrawn verdict on each restored page, in any order."""
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
        """Make orphans of these, so that their spiders ask for them at their next start."""
        self._refetch_all([packed(dependent) for dependent in dependents])

    @in_turn
    def _refetch_all(self, orphans: list[tuple[bytes, bytes]]) -> None:
        for orphan in orphans:
            self.link.ask("HSET", self.address.key("orphans"), *orphan)

    # States of sites

    @in_turn
    def site_state(self, site: str, name: str) -> bytes | None:
        """A small value that lasts, one for each site and name; None until it is set."""
        return self._state(_state_field(site, name))

    @in_turn
    def update_site_state(self, site: str, name: str, change: Callable[[bytes | None], bytes]) -> bytes:
        """Set a value to what `change` makes of it, in one atomic step over all processes; returns the new one."""
        field = _state_field(site, name)
        while True:
            old = self._state(field)
            self.is_asking = True
            try:
                new = change(old)
            finally:
                self.is_asking = False
            arguments = (field, new) if old is None else (field, new, old)
            if self.link.call(UPDATE_STATE, self._keys("states"), *arguments):
                return new

    @in_turn
    def first_of_run(self, run: str, name: str, value: bytes) -> bytes:
        """What any process of a run named first under `name` (see Index)."""
        key = self.address.key("agreed", digest(plain(run)).hex())
        first: bytes = self.link.call(FIRST_OF_RUN, [key], digest(plain(name)), value, _AGREED_SECONDS)
        return first

    def _state(self, field: bytes) -> bytes | None:
        value: bytes | None = self.link.ask("HGET", self.address.key("states"), field)
        return value

    # Attachments

    @in_turn
    def attach(self, url: str, name: str, data: bytes) -> None:
        """Put something beside a URL; the same name again takes its place (see Index)."""
        keys = [self._attached_key(plain(url)), *self._keys("counters")]
        self.link.call(ATTACH, keys, check_name(name), data)

    @in_turn
    def attach_new(self, name: str, rows: Mapping[str, bytes]) -> dict[str, bytes]:
        """Put something beside each of several URLs where nothing lies under this name yet (see Index)."""
        check_name(name)
        there = {}
        for url, data in rows.items():  # each in a step of its own: in a cluster they lie on several servers
            keys = [self._attached_key(plain(url)), *self._keys("counters")]
            old = self.link.call(ATTACH_NEW, keys, name, data)
            if old:
                there[url] = bytes(old)
        return there

    @in_turn
    def attached(self, url: str, name: str) -> bytes | None:
        """What lies beside a URL under one name."""
        data: bytes | None = self.link.ask("HGET", self._attached_key(plain(url)), name)
        return data

    @in_turn
    def detach(self, url: str, beginning: str) -> None:
        """Remove what lies beside a URL under names that begin so."""
        self._detach(plain(url), beginning)

    def _detach(self, url: str, beginning: str = "") -> None:
        """Remove what lies beside a URL; everything, or what begins so."""
        self.link.call(DETACH, [self._attached_key(url), *self._keys("counters")], beginning.encode())

    @in_turn
    def attachments(self, url: str) -> dict[str, bytes]:
        """All that lies beside a URL, by name."""
        flat = self.link.ask("HGETALL", self._attached_key(plain(url)))
        return {name.decode(): data for name, data in sorted(zip(flat[::2], flat[1::2], strict=True))}

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
