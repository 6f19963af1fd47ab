"""RedisIndex: an index on a Redis server, shared by any number of machines.

The server holds the journal; every process has a copy of it with its own postings, and searches that. Offering pages
takes one round trip for a whole batch: the server adds each page unless a row that the process does not know yet, or an
earlier page of the batch, could change what its search has found, and returns the new rows with the answer. Only pages
that one of these may concern are searched for again.
"""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import NamedTuple

import redis
from msgspec import structs

from dedupcrawl.content.checks.base import Check
from dedupcrawl.index import redis_journal
from dedupcrawl.index.catalog import Catalog
from dedupcrawl.index.contract import FIRST_ID, Drop, Index, Kept, Offer, Told
from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.ledger import key_of, lease_cell, premise_of
from dedupcrawl.index.notes import state_key
from dedupcrawl.index.record import Entry, Premise, Raw, Skip, compressed, digest, pack_skip, storable, unpack_skip
from dedupcrawl.index.redis_journal import NOTHING, RedisJournal, Replica, WireProbe, numbered, read_set, token
from dedupcrawl.index.redis_link import FORGET, OFFER, TAKE, TAKE_BYTES, TAKEN, TAKEN_BYTES, Address, Argument, Link
from dedupcrawl.index.schema import BATCH_PAGES
from dedupcrawl.index.search import Ending, Fetch, Search, is_kept_for, newest, row_of
from dedupcrawl.index.tables import BESIDE, COUNTED, OF_URL, Item, in_turn, parts
from dedupcrawl.index.verify import problems

_VERIFICATIONS = 5  # of an index that is written to meanwhile; what the last one finds is said


class _Step(NamedTuple):
    """What the server is to do with one page."""

    premise: Premise  # which may be open
    row: bytes  # what is appended; empty: nothing
    replaces: bool  # whether it takes the place of another
    arguments: list[Argument]


def _arguments(
    row: Sequence[Argument], lease: Sequence[bytes], skip: Skip | None, probes: Iterable[WireProbe]
) -> list[Argument]:
    """What the server is to do with one page, unless what must not have come since, the probes, has.

    A row comes with its tokens, and number and tombstone of the page that it replaces; all are empty for a page that is
    kept already. A lease comes with the key of its premise. A skip is remembered where that is open.
    """
    beside = pack_skip(skip) if skip else NOTHING
    return [*row, *lease, *beside, *(part for probe in probes for part in probe)]


def _unpacked(values: Iterable[bytes]) -> list[Skip]:
    """The skips of values, taken or not, as due."""
    return [structs.replace(unpack_skip(_untaken(raw)), premise=None) for raw in values]


def _untaken(raw: bytes) -> bytes:
    return raw[TAKEN_BYTES:] if raw[:1] == TAKEN else raw


class RedisIndex(RedisJournal, Index):
    """The contract Index on a Redis server.

    Threads of a process take turns. A page that another process has replaced or forgotten within the last second
    (`redis_journal.FRESH_SECONDS`) may still be given as the keeper of a duplicate; `carry_out` tells, before a drop.

    Args:
        url: ``redis://``, ``rediss://`` or ``unix://``; ``?prefix=`` names the index. For the errors see `open_index`.
        checks: As there.
        batch_pages: Pages in memory before they are folded.
        wait: As there.
    """

    leases: RedisLeases
    pages_at_once = 32  # round trips a page of 3,000 by 8, 16, 32, 64: .326, .241, .196, .188 (docs/measured/cost.md)

    def __init__(self, url: str, checks: Sequence[Check], *, batch_pages: int = BATCH_PAGES, wait: float = 0.0) -> None:
        super().__init__(Address(url), checks, batch_pages, wait)
        self.leases = RedisLeases(self.address, self.link)
        self._runs: dict[str, int] = {}
        try:
            self._look()
        except BaseException:
            self.link.drop()
            raise

    # Pages

    @property
    def _catalog(self) -> Catalog:
        return self.replica.catalog

    @in_turn
    def _look(self) -> int:
        self.catch_up()
        return self._catalog.next_id

    @contextmanager
    def _pages(self, *, fresh: bool = True) -> Iterator[tuple[Catalog, Fetch]]:
        replica = self._replica(0.0 if fresh else redis_journal.FRESH_SECONDS)
        yield replica.catalog, replica.record

    def _replica(self, age: float) -> Replica:
        """The copy, with all rows that the server had so many seconds ago."""
        if time.monotonic() - self.read_at >= age:
            self.catch_up()
        return self.replica

    def _rows(self, end: int) -> Iterator[tuple[int, bytes]]:
        return ((page, self._row(page)) for page in range(end))

    @in_turn
    def _row(self, page: int) -> bytes:
        return self.replica.fetch(page)

    @in_turn
    def search(
        self, entry: Entry, *, checks: Sequence[Check] = (), first_id: int = 0, after: Search | None = None
    ) -> Search:
        replica = self._replica(redis_journal.FRESH_SECONDS)
        first_id = min(first_id, self.first_id_limit)
        read = partial(self._made, replica)
        return Search(replica.catalog, storable(entry), first_id, self.lock, read, checks, after)

    def _made(self, replica: Replica, make: Callable[[Raw, int], Item], pages: Sequence[int]) -> list[Item]:
        with self.lock:
            self.check_open()
            return [make(replica.fetch(page), page) for page in pages]

    @in_turn
    def carry_out(self, decided: Sequence[Offer | Drop]) -> list[Kept | bool | None]:
        answers: list[Kept | bool | None] = [None] * len(decided)
        drops = {number: one for number, one in enumerate(decided) if isinstance(one, Drop)}
        offers = {number: one for number, one in enumerate(decided) if isinstance(one, Offer)}
        steps = self._adding(offers) | self._dropping(drops)
        for number in self._stepped(steps):
            one, step = decided[number], steps[number]
            if isinstance(one, Offer):
                answers[number] = Kept(self._catalog.next_id, one.found.superseded_urls, step.replaces)
                self.replica.extend([step.row])
                self.leases.kept(step.premise)
            else:
                answers[number] = True
        while unsure := {number: one for number, one in drops.items() if answers[number] is None}:
            self.catch_up()
            steps = self._dropping(unsure)
            for number in unsure.keys() - steps.keys():
                answers[number] = False
            for number in self._stepped(steps):
                answers[number] = True
        if verdicts := [one.verdict for number, one in drops.items() if answers[number] and one.verdict]:
            self.send(verdicts)
        return answers

    def _adding(self, offers: Mapping[int, Offer]) -> dict[int, _Step]:
        """How pages are added; none of those that were searched for when this process knew less than now."""
        replica, steps = self.replica, {}
        for number, (found, request) in offers.items():
            if found.catalog is not replica.catalog or found.end != replica.catalog.next_id:
                continue
            entry = found.entry
            earlier = newest(replica.catalog, entry.url, replica.record)
            replaces = earlier and earlier[0]
            row, tokens = replica.packed(row_of(found, replaces))
            premise = premise_of(entry)
            cell = lease_cell(premise, self.leases.owner)
            lease = (cell.field, cell.value) if cell.value else NOTHING
            itself = Skip(entry.spider, entry.source, request, premise) if request else None
            probes = read_set(replica.catalog.schema, entry, replaces)
            arguments = _arguments((row, tokens, *replica.tombstone(replaces)), lease, itself, probes)
            steps[number] = _Step(premise, row, replaces is not None, arguments)
        return steps

    def _dropping(self, drops: Mapping[int, Drop]) -> dict[int, _Step]:
        """How pages are dropped; none of those whose keeper this process does not know to be kept as it was."""
        steps = {}
        for number, (keeper, skip, _) in drops.items():
            kept = newest(self._catalog, keeper.url, self.replica.record)
            if kept is not None and is_kept_for(keeper, kept):
                probe = (1, token(self._catalog.schema.ended, kept[0]), b"")
                hanging = structs.replace(skip, premise=keeper)
                arguments = _arguments(2 * NOTHING, (key_of(keeper), b""), hanging, [probe])
                steps[number] = _Step(keeper, b"", False, arguments)
        return steps

    def _stepped(self, steps: dict[int, _Step]) -> list[int]:
        """The numbers of those that the server did, in one round trip; none where too much has come since."""
        skips = (self._key("skips", key_of(step.premise)) for step in steps.values())
        keys = [self._key("leases"), self._key("owners"), *skips]
        arguments = (part for step in steps.values() for part in (len(step.arguments), *step.arguments))
        done = self.exchange(OFFER, keys, *arguments)[1] if steps else []
        return [number for number, is_done in zip(steps, done, strict=False) if is_done]

    @in_turn
    def _end(self, ending: Ending) -> tuple[bool, list[Skip]]:
        premise = b"" if ending.premise is None else key_of(ending.premise)
        beside = self._key("urls", digest(ending.url))
        keys = [self._key("leases"), self._key("skips", premise), self._key("due"), beside]
        replica = self._replica(redis_journal.FRESH_SECONDS)
        while found := ending.of(replica.catalog, replica.record) or (premise and (None, None)):
            page, record = found
            row = replica.packed(record) if record else NOTHING
            forgets = ending.renewed is None and page is not None
            lease = premise, ending.owner, int(forgets)
            status, skips = self.exchange(FORGET, keys, *row, *replica.tombstone(page), *lease)
            if status == b"done":
                replica.extend([row[0]] if row[0] else [])
                return page is not None, _unpacked(skips)
            if status == b"other":
                return False, []
        if ending.renewed is None and ending.premise is None:
            self.clear("urls", digest(ending.url), BESIDE)
        return False, []

    # The ledger

    def _due(self, key: bytes, raw: bytes) -> Skip:
        return structs.replace(unpack_skip(_untaken(raw), key), premise=None)

    def take(self, due: Iterable[Skip]) -> list[Skip]:
        return self._take(list(due), os.urandom(TAKE_BYTES))

    @in_turn
    def _take(self, due: list[Skip], at: bytes) -> list[Skip]:
        """Those that nobody who lives has taken; what this process took by another name than `at` it gets no more."""
        if not self.leases.owner:
            return due
        taken: list[bytes] = []
        for some in parts(due):
            taker = self.address.key("owner", ""), self.leases.owner.hex(), at
            taken += self.link.call(TAKE, [self._key("due")], *taker, *(pack_skip(one)[0] for one in some))
        return _unpacked(taken)

    # The index

    def first_id_of_run(self, run: str) -> int:
        self._runs[run] = super().first_id_of_run(run)
        return self._runs[run]

    @in_turn
    def info(self) -> dict[str, int | float | str]:
        self.catch_up()
        return {
            "index": self.address.where,
            **self._catalog.info(),
            **{said: int(self.link.ask("HGET", self.keys[0], kind) or 0) for said, kind in OF_URL.items()},
            **{said: self.link.ask("HLEN", self._key(name)) for said, name in COUNTED.items()},
            "bytes": self._bytes(),
        }

    def tell_again(self) -> None:
        """Tell a server that has lost what it held what only this process knows."""
        for run, first in self._runs.items():
            first_id = min(first, self.first_id_limit)
            state = state_key(run, FIRST_ID), compressed(b"%d" % first_id)
            self.link.ask("HSETNX", self.address.key("states"), *state)
        self.leases.again()

    def _bytes(self) -> int:
        names = ("leases", "due", "owners", "states")
        keys = [*self.keys, *map(self.address.key, names)]
        return sum(self.link.ask("MEMORY", "USAGE", key, "SAMPLES", 100) or 0 for key in keys)

    def verify(self, told: Told | None = None) -> list[str]:
        with self.lock:
            for _ in range(_VERIFICATIONS):  # pages that others add meanwhile may end some after these were read
                end = self._look()
                found = problems(self._catalog, self._server_rows(end), told)
                if not found or self._look() == end:
                    break
            return found or list(self.broken())

    def _server_rows(self, end: int) -> Iterator[tuple[int, bytes]]:
        for pages in parts(range(end)):
            rows = self.values("rows", [b"%d" % page for page in pages])
            for page, raw in zip(pages, rows, strict=True):
                if raw is not None:
                    yield page, numbered(raw, page)

    def close(self) -> None:
        with self.lock:
            if self.is_closed:
                return
            with suppress(OSError, IndexDamagedError):  # who offered or recorded has been told
                self.settle()
            self.is_closed = True
        self.leases.close()
        self.replica.catalog.wait()
        with self.lock:
            self.replica.close()
            self.link.drop()


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
        self._own: set[Premise] = set()

    def start(self) -> str:
        if self._beat is None:
            self.owner = self.owner or uuid.uuid4().bytes
            self._live(self._link)
            self._beat = threading.Thread(target=self._beats, name="dedupcrawl-leases", daemon=True)
            self._beat.start()
        return self.owner.hex()

    def kept(self, premise: Premise) -> None:
        """The server has the lease of this process on this."""
        if self.owner:
            self._own.add(premise)

    def again(self) -> None:
        """Say once more that this process lives and its leases, to a server that has forgotten."""
        if not self.owner:
            return
        self._live(self._link)
        for some in parts(self._own):
            cells = [lease_cell(premise, self.owner) for premise in some]
            self._link.ask("HSET", self._leases, *(part for cell in cells for part in (cell.field, cell.value or b"")))

    def give_up(self, premises: Iterable[Premise]) -> None:
        self._own.difference_update(premises)

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
        """Renew the key until `close`, then delete it."""
        link = Link(self._address, 0)
        while not self._ended.wait(LIFE_SECONDS / 3):
            with suppress(OSError, redis.RedisError):  # the index itself says so, and this tries again
                link.talk(lambda: None, lambda: self._live(link))
        with suppress(OSError, redis.RedisError):
            link.talk(lambda: None, lambda: link.ask("DEL", self._owner_key(self.owner)))
        link.drop()
