"""RedisIndex: an index on a Redis server, shared by any number of machines.

The server holds the journal; every process has a copy of it with its own postings, and searches that. Offering a page
is one round trip: the server adds it unless a row that the process does not know yet could change what its search has
found, and tells the rows that are new with the answer. Only a page that one of these may concern is searched for again.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from dedupcrawl.content.checks.base import Check
from dedupcrawl.index.contract import Dependent, Entry, Holds, IndexDamagedError, Judge, Kept
from dedupcrawl.index.journal import digest
from dedupcrawl.index.record import entry_of, forgetting, gravestone, pack, plain, renumbered, storable, unpack
from dedupcrawl.index.redis_claims import RedisClaims, packed, unpacked
from dedupcrawl.index.redis_journal import RedisJournal
from dedupcrawl.index.redis_link import Address, Link
from dedupcrawl.index.redis_replica import UNNUMBERED
from dedupcrawl.index.redis_scripts import DEPEND, FIRST_URL, FORGET, OFFER, RECORD, START_RUN
from dedupcrawl.index.redis_tokens import read, token, written
from dedupcrawl.index.schema import BATCH_PAGES
from dedupcrawl.index.search import New, examine, newest, superseding
from dedupcrawl.index.verdicts import pack_verdict, unpack_verdict
from dedupcrawl.index.verify import problems
from dedupcrawl.verdict import Verdict

FRESH_SECONDS = 1.0
"""Age up to which a process takes its copy of the rows for good when it says that a page is a duplicate."""

_ROWS_AT_ONCE = 256
_CONFIRMED_AT_ONCE = 256

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


def _in_turn(
    method: Callable[Concatenate[RedisIndex, Arguments], Answer],
) -> Callable[Concatenate[RedisIndex, Arguments], Answer]:
    """One call at a time, on an open index, begun anew when the connection breaks."""

    @wraps(method)
    def call(self: RedisIndex, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        with self._lock:
            if self._closed:
                raise ValueError("the index is closed")
            if self._judging:
                raise RuntimeError(f"the judge of a page must not call the index at {self._address.where}")
            return self._link.talk(self._journal.greet, lambda: method(self, *args, **kwargs))

    return call


class RedisIndex:
    """The contract Index on a Redis server.

    Threads of a process take turns. A page that another process has replaced or forgotten within the last second
    (`FRESH_SECONDS`) may still be given as the keeper of a duplicate; `depend`, which comes before a drop, tells.

    Args:
        url: ``redis://``, ``rediss://`` or ``unix://``; ``?prefix=`` names the index.
        checks: The content checks, in the order in which they are asked. None: the index is opened to be read.
        batch_pages: Pages in memory before they are folded.
        wait: Seconds for which a call waits while the server is away.

    Raises:
        ValueError: The URL names no Redis, or there is no index and no checks to make it for.
        IndexMismatchError: The index was made by other checks or settings.
        IndexAwayError: The server cannot be reached.
        OSError: The server refuses.
    """

    def __init__(self, url: str, checks: Sequence[Check], *, batch_pages: int = BATCH_PAGES, wait: float = 0.0) -> None:
        self._address = address = Address(url)
        self._lock = threading.RLock()
        self._closed = self._judging = False
        self._link = Link(address, wait)
        self._claims = RedisClaims(address, self._link)
        self._journal = RedisJournal(address, self._link, checks, batch_pages, self._lock, self._again)
        self._runs_key, self._meta_key = address.key("runs"), address.key("meta")
        self._verdicts_key, self._verdict_of_key = address.key("verdicts"), address.key("verdict_of")
        self._clients_key = address.key("clients")
        self._client = uuid.uuid4().bytes
        self._recorded = 0
        self._runs: dict[str, int] = {}
        try:
            self._look()
        except BaseException:
            self._link.drop()
            raise

    @property
    def round_trips(self) -> int:
        """Answers of the server that were waited for."""
        return self._link.round_trips

    @_in_turn
    def _look(self) -> int:
        """Catch up with the other processes; returns the id of the next page."""
        self._journal.catch_up()
        return self._journal.replica.catalog.next_id

    @_in_turn
    def offer(self, entry: Entry, judge: Judge, *, first_id: int = 0, holds: Holds | None = None) -> Kept | Verdict:
        """Check and add, atomically (see Index).

        Raises:
            ValueError: The index is closed or was opened to be read, or the entry has a signature of an unknown check.
            IndexAwayError: The server cannot be reached; the page may have been kept.
            IndexDamagedError: What is stored cannot be read.
        """
        entry = storable(entry)
        if time.monotonic() - self._journal.read_at >= FRESH_SECONDS:
            self._journal.catch_up()
        catalog, fetch = self._journal.replica.catalog, self._journal.replica.fetch
        first_id = min(first_id, self._journal.first_id_limit)
        inside: dict[int, str] = {}
        looked_at = 0
        while True:
            self._judging = True
            try:
                found = examine(catalog, entry, judge, holds, max(first_id, looked_at), fetch)
            finally:
                self._judging = False
            if not isinstance(found, New):
                return found
            inside |= found.inside
            looked_at = catalog.next_id
            record = New(found.replaces, inside).record(entry, catalog)
            row = pack(record, UNNUMBERED)
            probes = [part for probe in read(catalog.schema, entry, found.replaces) for part in probe]
            grave = self._grave(found.replaces)
            claim = self._claims.claim_of(entry.url)
            tokens = written(catalog.schema, catalog.schema.keys(record))
            if self._journal.exchange(OFFER, [self._claims.key], row, tokens, *grave, *claim, *probes) == b"kept":
                page = catalog.next_id
                self._journal.replica.extend([row])
                self._claims.kept(entry.url)
                return Kept(page, tuple(inside.values()))

    @_in_turn
    def forget(self, urls: Iterable[str]) -> int:
        """Erase the pages kept under these URLs, so that nothing is their duplicate any more; how many there were."""
        self._journal.catch_up()
        return sum(self._forget(plain(url), b"", b"")[0] for url in list(urls))

    def _forget(self, url: str, claim: bytes, owner: bytes) -> tuple[bool, list[Dependent]]:
        """Forget a page, and a claim on it.

        Returns:
            Whether there was such a page, and what is orphaned.
        """
        replica, keys = self._journal.replica, [self._claims.key, self._claims.dependents_key(url)]
        while True:
            catalog = replica.catalog
            page, number = newest(catalog, url, replica.fetch), catalog.next_id
            row = tokens = b""
            if page is not None:
                record = forgetting(page, number, len(catalog.schema.names))
                row, tokens = pack(record, UNNUMBERED), written(catalog.schema, catalog.schema.keys(record))
            elif not claim:
                return False, []
            arguments = (row, tokens, *self._grave(page), claim, owner)
            status, orphaned = self._journal.exchange_more(FORGET, [*keys, self._claims.orphans_key], *arguments)
            if status == b"done":
                replica.extend([row] if row else [])
                return page is not None, unpacked(orphaned)
            if status == b"other":
                return False, []

    @_in_turn
    def start_claiming(self) -> int:
        """From now on this process claims what it keeps, until it confirms it (see Index)."""
        if not self._claims.started:
            self._claims.start()
        self._journal.catch_up()
        return sum(self._forget(url, digest(url), owner)[0] for url, owner in self._claims.dead())

    @_in_turn
    def confirm(self, urls: Iterable[str]) -> None:
        """The pages kept under these URLs are stored."""
        stored = [plain(url) for url in urls]
        for first in range(0, len(stored), _CONFIRMED_AT_ONCE):
            self._claims.confirm(stored[first : first + _CONFIRMED_AT_ONCE])

    @_in_turn
    def abandon(self, urls: Iterable[str]) -> list[Dependent]:
        """The pages kept under these URLs will never be stored."""
        orphaned = []
        self._journal.catch_up()
        for url in map(plain, list(urls)):
            orphaned += self._forget(url, digest(url), b"")[1]
            self._claims.given_up(url)
        return orphaned

    @_in_turn
    def depend(self, keeper: str, dependent: Dependent) -> bool:
        """`dependent` is dropped because of the page kept under `keeper`; False when there is none."""
        keeper = plain(keeper)
        keys = [self._claims.key, self._claims.dependents_key(keeper)]
        known = False
        while True:
            replica = self._journal.replica
            page = newest(replica.catalog, keeper, replica.fetch)
            if page is not None:
                ends = token(replica.catalog.schema.ended, page)
                if self._journal.exchange(DEPEND, keys, ends, digest(keeper), *packed(dependent)) == b"done":
                    return True
            elif known:
                return False
            self._journal.catch_up()
            known = True

    @_in_turn
    def orphans(self, spider: str) -> list[Dependent]:
        """What is to be fetched again by this spider."""
        return self._claims.orphans(spider)

    @_in_turn
    def adopt(self, orphan: Dependent, kept_under: str | None) -> None:
        """An orphan was fetched again and judged."""
        self._claims.adopt(orphan, None if kept_under is None else plain(kept_under))

    @_in_turn
    def entry(self, url: str) -> Entry | None:
        """The newest kept page of this URL."""
        self._journal.catch_up()
        replica = self._journal.replica
        page = newest(replica.catalog, plain(url), replica.fetch)
        return None if page is None else entry_of(unpack(replica.fetch(page), page), replica.catalog.schema.names)

    @_in_turn
    def superseded_by(self, url: str) -> str | None:
        """URL of the newest kept page that came after the page kept under `url` and holds it, by any check."""
        self._journal.catch_up()
        return superseding(self._journal.replica.catalog, plain(url), self._journal.replica.fetch)

    def record(self, verdict: Verdict, *, run: str, site: str) -> None:
        """Remember a verdict of duplicate; the newest of a URL counts. It is sent at once and not waited for."""
        raw = pack_verdict(verdict, run, site)
        self._recorded += 1
        self._record(self._recorded, digest(plain(verdict.url)), raw)

    @_in_turn
    def _record(self, number: int, url: bytes, raw: bytes) -> None:
        keys = [self._verdicts_key, self._verdict_of_key, self._clients_key]
        self._link.post(RECORD, keys, self._client, number, url, raw)

    @_in_turn
    def verdict(self, url: str) -> Verdict | None:
        """The newest recorded verdict on this URL."""
        number = self._link.ask("HGET", self._verdict_of_key, digest(plain(url)))
        return None if number is None else unpack_verdict(self._link.ask("HGET", self._verdicts_key, number))

    def entries(self) -> Iterator[Entry]:
        """All kept pages, oldest first, replaced ones left out; those that are offered meanwhile may be missing."""
        for page in range(self._look()):
            record = self._row(page)
            if record.page is not None:
                yield entry_of(record, self._journal.replica.catalog.schema.names)

    @_in_turn
    def _row(self, page: int) -> Any:
        return unpack(self._journal.replica.fetch(page), page)

    def verdicts(self) -> Iterator[Verdict]:
        """All recorded verdicts, oldest first."""
        end = self._count(self._verdicts_key)
        for first in range(0, end, _ROWS_AT_ONCE):
            for raw in self._values(self._verdicts_key, first, min(end, first + _ROWS_AT_ONCE)):
                if raw is not None:
                    yield unpack_verdict(raw)

    @_in_turn
    def first_id_of_run(self, run: str) -> int:
        """A page id that no page of `run` lies below; registers the run when it is new."""
        keys = [self._journal.rows_key, self._runs_key]
        self._runs[run] = self._link.call(START_RUN, keys, digest(plain(run)))
        return self._runs[run]

    @_in_turn
    def first_url(self, run: str, identity: str, url: str) -> str:
        """The first URL that any process of `run` named for an identity; `url` itself when none did."""
        key = self._address.key("first", digest(plain(run)).hex())
        first: bytes = self._link.call(FIRST_URL, [key], digest(identity), plain(url).encode())
        return first.decode()

    @_in_turn
    def info(self) -> dict[str, int | float | str]:
        """Pages, postings by check, verdicts, bytes of memory on the server."""
        self._journal.catch_up()
        return {
            "index": self._address.where,
            **self._journal.replica.catalog.info(),
            "verdicts": self._link.ask("HLEN", self._verdicts_key),
            **self._claims.info(),
            "bytes": self._bytes(),
        }

    def _again(self) -> None:
        """Tell a server that has lost what it held what only this process knows."""
        for run, first in self._runs.items():
            first_id = min(first, self._journal.first_id_limit)
            self._link.ask("HSETNX", self._runs_key, digest(plain(run)), first_id)
        self._claims.again()

    def _bytes(self) -> int:
        keys = (*self._journal.keys, self._verdicts_key, self._verdict_of_key, self._claims.key, self._runs_key)
        return sum(self._link.ask("MEMORY", "USAGE", key, "SAMPLES", 100) or 0 for key in keys)

    def verify(self) -> list[str]:
        """Read everything on the server and check every invariant: one sentence for each problem."""
        with self._lock:
            end = self._look()
            try:
                return problems(self._journal.replica.catalog, self._server_rows(end))
            except IndexDamagedError as error:
                return [str(error)]

    def _server_rows(self, end: int) -> Iterator[tuple[int, bytes]]:
        for first in range(0, end, _ROWS_AT_ONCE):
            rows = self._values(self._journal.rows_key, first, min(end, first + _ROWS_AT_ONCE))
            for page, raw in enumerate(rows, first):
                if raw is not None:
                    unpack(raw, UNNUMBERED)
                    yield page, renumbered(raw, page)

    @_in_turn
    def _values(self, key: str, first: int, end: int) -> list[bytes | None]:
        found: list[bytes | None] = self._link.ask("HMGET", key, *range(first, end))
        return found

    @_in_turn
    def _count(self, key: str) -> int:
        self._link.settle()
        count: int = self._link.ask("HLEN", key)
        return count

    def _grave(self, page: int | None) -> tuple[bytes | int, bytes]:
        """Number and gravestone of a page that is replaced or forgotten."""
        if page is None:
            return b"", b""
        return page, renumbered(gravestone(self._journal.replica.fetch(page), page), UNNUMBERED)

    def close(self) -> None:
        """Send what is left and release. Claims that are not confirmed are nobody's from now on."""
        with self._lock:
            if self._closed:
                return
            with suppress(OSError):
                self._settle()
            self._closed = True
        self._claims.close()
        self._journal.close()
        with self._lock:
            self._link.drop()

    @_in_turn
    def _settle(self) -> None:
        if self._recorded:
            self._link.settle()
            self._link.ask("HDEL", self._clients_key, self._client)
