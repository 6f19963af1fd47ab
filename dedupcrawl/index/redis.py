"""RedisIndex: an index on a Redis server, shared by any number of machines.

The server holds the journal; every process has a copy of it with its own postings, and searches that. Offering pages
is one round trip for all at hand: the server adds each unless a row that the process does not know yet, or a page
before it, could change what its search has found, and tells the rows that are new with the answer. Only a page that
one of these may concern is searched for again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial

from dedupcrawl.content.checks.base import Check
from dedupcrawl.index import redis_notes
from dedupcrawl.index.claims import claim_cell
from dedupcrawl.index.contract import Kept, Told
from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.notes import ROWS_AT_ONCE
from dedupcrawl.index.record import (
    Record,
    digest,
    entry_of,
    pack,
    pack_dependent,
    plain,
    renumbered,
    storable,
    tombstone,
    unpack,
)
from dedupcrawl.index.redis_claims import unpacked
from dedupcrawl.index.redis_journal import UNNUMBERED, RedisJournal, Replica, read, token, written
from dedupcrawl.index.redis_link import Address, Argument
from dedupcrawl.index.redis_notes import RedisNotes
from dedupcrawl.index.redis_scripts import DEPEND, FORGET, OFFER, TAKE_BYTES
from dedupcrawl.index.rows import Dependent, Entry
from dedupcrawl.index.schema import BATCH_PAGES
from dedupcrawl.index.search import Ending, Fetch, Search, forgotten, newest, renewal, row_of, superseding
from dedupcrawl.index.turns import in_turn
from dedupcrawl.index.verify import problems

_VERIFICATIONS = 5


class RedisIndex(RedisNotes):
    """The contract Index on a Redis server.

    Threads of a process take turns. A page that another process has replaced or forgotten within the last second
    (`redis_notes.FRESH_SECONDS`) may still be given as the keeper of a duplicate; `depend` tells, before a drop.

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

    pages_at_once = 32  # round trips a page of 3,000 by 8, 16, 32, 64: .326, .241, .196, .188 (docs/page-index.md)

    def __init__(self, url: str, checks: Sequence[Check], *, batch_pages: int = BATCH_PAGES, wait: float = 0.0) -> None:
        super().__init__(Address(url), wait)
        self.journal = RedisJournal(self.address, self.link, checks, batch_pages, self.lock, self._tell_again)
        self._runs: dict[str, int] = {}
        try:
            self._look()
        except BaseException:
            self.link.drop()
            raise

    @property
    def round_trips(self) -> int:
        """Answers of the server that were waited for."""
        return self.link.round_trips

    @in_turn
    def _look(self) -> int:
        """Catch up with the other processes; returns the id of the next page."""
        self.journal.catch_up()
        return self.journal.replica.catalog.next_id

    @in_turn
    def search(self, entry: Entry, *, first_id: int = 0, after: Search | None = None) -> Search:
        replica = self._replica(redis_notes.FRESH_SECONDS)
        first_id = min(first_id, self.journal.first_id_limit)
        return Search(replica.catalog, storable(entry), first_id, self.lock, partial(self._reading, replica), after)

    def _replica(self, age: float) -> Replica:
        """The copy, with all rows that the server had so many seconds ago."""
        if time.monotonic() - self.journal.read_at >= age:
            self.journal.catch_up()
        return self.journal.replica

    @contextmanager
    def _reading(self, replica: Replica) -> Iterator[Fetch]:
        with self.lock:
            self.check_open()
            yield replica.fetch

    def add(self, found: Search, *, request: bytes = b"") -> Kept | None:
        return self.add_all([(found, request)])[0]

    @in_turn
    def add_all(self, offers: Sequence[tuple[Search, bytes]]) -> list[Kept | None]:
        replica = self.journal.replica
        end = replica.catalog.next_id
        current = [found.catalog is replica.catalog and found.end == end for found, _ in offers]
        answers: list[Kept | None] = [None] * len(offers)
        offered = [number for number, is_current in enumerate(current) if is_current]
        if not offered:
            return answers
        keys, rows = [self.claims.key], []
        arguments: list[Argument] = []
        for number in offered:
            found, request = offers[number]
            entry = found.entry
            replaces = newest(replica.catalog, entry.url, replica.fetch)
            row, tokens = self._packed(row_of(found, replaces))
            itself = pack_dependent(Dependent(entry.spider, entry.source, request)) if request else (b"", b"")
            probes = [part for probe in read(replica.catalog.schema, entry, replaces) for part in probe]
            claim = claim_cell(entry.url, self.claims.owner)
            claimed = (claim.field, claim.value) if claim.value else (b"", b"")
            one = (row, tokens, *self._grave(replaces), *claimed, *itself, *probes)
            arguments += [len(one), *one]
            keys.append(self.claims.dependents_key(entry.url))
            rows.append((row, Kept(0, found.superseded_urls, replaces is not None)))
        _, told = self.journal.exchange(OFFER, keys, *arguments)
        for number, is_kept, (row, kept) in zip(offered, told, rows, strict=False):
            if is_kept:
                answers[number] = replace(kept, page_id=replica.catalog.next_id)
                replica.extend([row])
                self.claims.kept(offers[number][0].entry.url)
        return answers

    @in_turn
    def renew(self, entry: Entry) -> bool:
        self.journal.catch_up()
        entry = storable(entry)
        return self._end(entry.url, partial(renewal, entry))[0]

    def forget(self, urls: Iterable[str]) -> int:
        gone: set[str] = set()
        self._forget_all([plain(url) for url in urls], gone)
        return len(gone)

    @in_turn
    def _forget_all(self, urls: list[str], gone: set[str]) -> None:
        """Adds to `gone` what was there, which counts also when this is begun anew."""
        self.journal.catch_up()
        gone.update(url for url in urls if self._forget(url, b"", b"")[0])

    def _forget(self, url: str, claim: bytes, owner: bytes) -> tuple[bool, list[Dependent]]:
        """Forget a page, and a claim on it; as `_end`."""
        self.clear("attachments", digest(url))
        return self._end(url, partial(forgotten, url), claim, owner)

    def _end(self, url: str, ending: Ending, claim: bytes = b"", owner: bytes = b"") -> tuple[bool, list[Dependent]]:
        """Put a tombstone in the place of a page and append why; a claim on it may end, too, if it is that of `owner`.

        Returns:
            Whether there was such a page, and what is orphaned.
        """
        keys = [self.claims.key, self.claims.dependents_key(url), self.claims.orphans_key]
        replica = self.journal.replica
        while found := ending(replica.catalog, replica.fetch) or (claim and (None, None)):
            page, record = found
            row, tokens = self._packed(record) if record else (b"", b"")
            arguments = (row, tokens, *self._grave(page), claim, owner)
            status, orphaned = self.journal.exchange(FORGET, keys, *arguments)
            if status == b"done":
                replica.extend([row] if row else [])
                return page is not None, unpacked(orphaned)
            if status == b"other":
                break
        return False, []

    def _packed(self, record: Record) -> tuple[bytes, bytes]:
        """A row, and its tokens."""
        schema = self.journal.replica.catalog.schema
        return pack(record, UNNUMBERED), written(schema, schema.keys(record))

    @in_turn
    def start_claiming(self) -> str:
        return self.claims.start()

    @in_turn
    def reap_expired(self, excluded: Collection[str] = ()) -> int:
        self.journal.catch_up()
        forgotten = 0
        for owner, urls in self.claims.dead(excluded).items():
            forgotten += sum(self._forget(url, digest(url), owner)[0] for url in urls)
            self.claims.reap(owner)
        return forgotten

    def confirm(self, urls: Iterable[str]) -> None:
        stored = [plain(url) for url in urls]
        super().confirm(stored)
        with self.lock:
            self.claims.given_up(stored)

    def abandon(self, urls: Iterable[str]) -> list[Dependent]:
        orphaned: list[Dependent] = []
        self._abandon_all([plain(url) for url in urls], orphaned)
        return orphaned

    @in_turn
    def _abandon_all(self, urls: list[str], orphaned: list[Dependent]) -> None:
        """Adds to `orphaned`, which is told also when this is begun anew."""
        self.journal.catch_up()
        for url in urls:
            orphaned += self._forget(url, digest(url), b"")[1]
            self.claims.given_up([url])

    def depend(self, keeper: str, dependent: Dependent) -> bool:
        return self.depend_all([(keeper, dependent)])[0]

    @in_turn
    def depend_all(self, drops: Sequence[tuple[str, Dependent]]) -> list[bool]:
        held: dict[int, bool] = {}
        known = False
        while len(held) < len(drops):
            catalog, keys, arguments, asked = self.journal.replica.catalog, [self.claims.key], [], []
            for number, (keeper, dependent) in enumerate(drops):
                page = None
                if number not in held:
                    page = newest(catalog, plain(keeper), self.journal.replica.fetch)
                    if page is None and known:
                        held[number] = False
                if page is not None:
                    asked.append(number)
                    keys.append(self.claims.dependents_key(plain(keeper)))
                    arguments += [token(catalog.schema.ended, page), digest(plain(keeper)), *pack_dependent(dependent)]
            told = self.journal.exchange(DEPEND, keys, *arguments)[1] if asked else []
            held |= {number: True for number, is_held in zip(asked, told, strict=False) if is_held}
            if len(held) < len(drops):
                self.journal.catch_up()
                known = True
        return [held[number] for number in range(len(drops))]

    def orphans(self, spider: str) -> list[Dependent]:
        return unpacked([raw for _, raw in self.rows("orphans", digest(spider))])

    def take(self, orphans: Iterable[Dependent]) -> list[Dependent]:
        return self._take(list(orphans), os.urandom(TAKE_BYTES))

    @in_turn
    def _take(self, orphans: list[Dependent], at: bytes) -> list[Dependent]:
        return self.claims.take(orphans, at)

    @in_turn
    def entry(self, url: str, *, fresh: bool = True) -> Entry | None:
        replica = self._replica(0.0 if fresh else redis_notes.FRESH_SECONDS)
        page = newest(replica.catalog, plain(url), replica.fetch)
        return None if page is None else entry_of(unpack(replica.fetch(page), page), replica.catalog.schema.names)

    @in_turn
    def superseded_by(self, url: str) -> str | None:
        replica = self._replica(0.0)
        return superseding(replica.catalog, plain(url), replica.fetch)

    def entries(self) -> Iterator[Entry]:
        for page in range(self._look()):
            record = self._row(page)
            if record.page is not None:
                yield entry_of(record, self.journal.replica.catalog.schema.names)

    @in_turn
    def _row(self, page: int) -> Record:
        return unpack(self.journal.replica.fetch(page), page)

    def first_id_of_run(self, run: str) -> int:
        self._runs[run] = super().first_id_of_run(run)
        return self._runs[run]

    @in_turn
    def info(self) -> dict[str, int | float | str]:
        self.journal.catch_up()
        return {
            "index": self.address.where,
            **self.journal.replica.catalog.info(),
            **self._notes_info(),
            "bytes": self._bytes(),
        }

    def _tell_again(self) -> None:
        """Tell a server that has lost what it held what only this process knows."""
        for run, first in self._runs.items():
            first_id = min(first, self.journal.first_id_limit)
            self.link.ask("HSETNX", self.address.key("runs"), digest(plain(run)), first_id)
        self.claims.again()

    def _bytes(self) -> int:
        names = ("claims", "orphans", "owners", "runs", "verdicts", "verdict_urls", "restored", "rewrites", "states")
        keys = [*self.journal.keys, *map(self.address.key, names)]
        return sum(self.link.ask("MEMORY", "USAGE", key, "SAMPLES", 100) or 0 for key in keys)

    def verify(self, told: Told | None = None) -> list[str]:
        with self.lock:
            for _ in range(_VERIFICATIONS):  # pages that others add meanwhile may end some after these were read
                end = self._look()
                found = problems(self.journal.replica.catalog, self._server_rows(end), told)
                if not found or self._look() == end:
                    break
            return found

    def _server_rows(self, end: int) -> Iterator[tuple[int, bytes]]:
        for first in range(0, end, ROWS_AT_ONCE):
            rows = self.values("rows", [b"%d" % page for page in range(first, min(end, first + ROWS_AT_ONCE))])
            for page, raw in enumerate(rows, first):
                if raw is not None:
                    yield page, raw if _is_damaged(raw) else renumbered(raw, page)

    def _grave(self, page: int | None) -> tuple[bytes | int, bytes]:
        """Number and tombstone of a page that is replaced or forgotten."""
        if page is None:
            return b"", b""
        return page, renumbered(tombstone(self.journal.replica.fetch(page), page), UNNUMBERED)

    def compact(self) -> None:
        self.drop_older_verdicts()
        self.drop_older_rewrites()

    def close(self) -> None:
        with self.lock:
            if self.is_closed:
                return
            with suppress(OSError, IndexDamagedError):  # who offered or recorded has been told
                self.settle()
            self.is_closed = True
        self.claims.close()
        self.journal.close()
        with self.lock:
            self.link.drop()


def _is_damaged(raw: bytes) -> bool:
    try:
        unpack(raw, UNNUMBERED)
    except IndexDamagedError:
        return True
    return False
