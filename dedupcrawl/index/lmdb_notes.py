"""What an LMDB index remembers besides pages: verdicts, rewrites, states of sites, attachments.

Verdicts and rewrites are appended under ascending numbers; a second database holds the newest number of each URL, or
the numbers of all rewrites by what they are looked for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import TypeVar

import lmdb

from dedupcrawl.index.claims import Claims
from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.journal import BLOCK_ROWS, NUMBER_BYTES, Journal, Transaction, explained, with_prefix
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
from dedupcrawl.index.rows import Dependent, Recorded, Rewrite
from dedupcrawl.index.turns import in_turn
from dedupcrawl.verdict import Verdict

_WITHDRAWN_AT_ONCE = 256  # verdicts: so short is a transaction for which other processes wait

Answer = TypeVar("Answer")


class LmdbNotes:
    """The part of the contract Index that has nothing to do with pages.

    Attributes:
        path: The index's folder.
        journal: Where everything lies.
        claims: Which pages are not stored yet, and what waits to be fetched again.
        is_asking: True while a transaction is open and others' code runs.
    """

    def __init__(self, path: Path, journal: Journal, claims: Claims) -> None:
        self.path = path
        self.journal = journal
        self.claims = claims
        self.is_asking = False

    @property
    def lock(self) -> RLock:
        """The journal's."""
        return self.journal.lock

    @property
    def where(self) -> str:
        """The folder."""
        return str(self.path)

    def check_open(self) -> None:
        """Raise an error after `close`, and in a process that was forked from that which opened the index."""
        self.journal.check_usable()

    def converse(self, work: Callable[[], Answer]) -> Answer:
        """What `work` returns; of LMDB's errors and of damage it is said where."""
        try:
            return work()
        except (lmdb.Error, IndexDamagedError) as error:
            raise explained(error, self.path) from (error if isinstance(error, lmdb.Error) else None)

    @contextmanager
    def explaining(self) -> Iterator[None]:
        """Of LMDB's errors and of damage it is said where."""
        try:
            yield
        except lmdb.Error as error:
            raise explained(error, self.path) from error
        except IndexDamagedError as error:
            raise explained(error, self.path) from None

    # Verdicts

    @in_turn
    def record(self, verdict: Verdict, *, run: str, site: str, spider: str = "", request: bytes = b"") -> None:
        raw = pack_recorded(Recorded(verdict, run, site, spider, time.time(), request))
        tables = self.journal.tables

        def work(txn: Transaction) -> None:
            number = self.journal.append_numbered(txn, tables["verdicts"], raw)
            txn.put(digest(plain(verdict.url)), number, db=tables["verdict_urls"])

        self.journal.writing(work)

    @in_turn
    def verdict(self, url: str) -> Verdict | None:
        with self.journal.reading() as txn:
            raw = self._newest(txn, "verdicts", "verdict_urls", url)
        return None if raw is None else unpack_recorded(raw).verdict

    def verdicts(self) -> Iterator[Verdict]:
        return (row.verdict for row in self.recorded())

    def recorded(self) -> Iterator[Recorded]:
        for _, raw in self.journal.numbered_rows(self.journal.tables["verdicts"]):
            yield unpack_recorded(raw)

    def withdraw(self, urls: Iterable[str], *, refetch: bool = False) -> int:
        wanted = {digest(plain(url)) for url in urls}
        with self.journal.lock:
            self.journal.check_usable()
        numbers: dict[bytes, list[int]] = {}
        for number, raw in self.journal.numbered_rows(self.journal.tables["verdicts"]):
            key = digest(unpack_recorded(raw).verdict.url)
            if key in wanted:
                numbers.setdefault(key, []).append(number)
        pages = list(numbers.items())
        for first in range(0, len(pages), _WITHDRAWN_AT_ONCE):
            self._withdraw(pages[first : first + _WITHDRAWN_AT_ONCE], refetch)
        return len(pages)

    @in_turn
    def _withdraw(self, pages: list[tuple[bytes, list[int]]], refetch: bool) -> None:
        tables = self.journal.tables

        def work(txn: Transaction) -> None:
            for key, numbers in pages:
                newest = txn.pop(self.journal.number_key(numbers[-1]), db=tables["verdicts"])
                if newest is None:  # another process was quicker
                    continue
                for number in numbers[:-1]:
                    txn.delete(self.journal.number_key(number), db=tables["verdicts"])
                txn.delete(key, db=tables["verdict_urls"])
                txn.put(key, newest, db=tables["restored"])
                if refetch:
                    row = unpack_recorded(bytes(newest))
                    self.claims.orphan(txn, Dependent(row.spider, row.verdict.url, row.request))

        self.journal.writing(work)

    @in_turn
    def is_restored(self, url: str) -> bool:
        with self.journal.reading() as txn:
            return txn.get(digest(plain(url)), None, self.journal.tables["restored"]) is not None

    def restored(self) -> Iterator[Recorded]:
        for _, raw in self.journal.keyed_rows(self.journal.tables["restored"]):
            yield unpack_recorded(raw)

    @in_turn
    def refetch(self, dependents: Iterable[Dependent]) -> None:
        wanted = list(dependents)

        def work(txn: Transaction) -> None:
            for dependent in wanted:
                self.claims.orphan(txn, dependent)

        self.journal.writing(work)

    # Rewrites

    @in_turn
    def record_rewrites(self, rewrites: Iterable[Rewrite]) -> None:
        rows = [(rewrite_keys(rewrite), pack_rewrite(rewrite)) for rewrite in rewrites]
        tables = self.journal.tables

        def work(txn: Transaction) -> None:
            for keys, raw in rows:
                for older in self._numbers(txn, keys[0]):
                    self._drop_rewrite(txn, older)
                number = self.journal.append_numbered(txn, tables["rewrites"], raw)
                for key in keys:
                    txn.put(key + number, b"", db=tables["rewrite_keys"])

        if rows:
            self.journal.writing(work)

    def _drop_rewrite(self, txn: Transaction, number: bytes) -> None:
        raw = txn.pop(number, db=self.journal.tables["rewrites"])
        if raw is not None:
            for key in rewrite_keys(unpack_rewrite(bytes(raw))):
                txn.delete(key + number, db=self.journal.tables["rewrite_keys"])

    def _numbers(self, txn: Transaction, key: bytes) -> list[bytes]:
        """The numbers of the rewrites that are found by `key` or what begins with it, as keys, ascending."""
        found = with_prefix(txn, self.journal.tables["rewrite_keys"], key)
        return sorted(number[-NUMBER_BYTES:] for number, _ in found)

    @in_turn
    def rewrite(self, url: str) -> Rewrite | None:
        with self.journal.reading() as txn:
            numbers = self._numbers(txn, rewrite_key(url))
            raw = txn.get(numbers[-1], None, self.journal.tables["rewrites"]) if numbers else None
            return None if raw is None else unpack_rewrite(bytes(raw))

    def rewrites(self) -> Iterator[Rewrite]:
        for _, raw in self.journal.numbered_rows(self.journal.tables["rewrites"]):
            yield unpack_rewrite(raw)

    def rewrites_of(
        self, spider: str, run: str, *, canonicals: Iterable[str] = (), rules: Iterable[str] = ()
    ) -> Iterator[Rewrite]:
        numbers: set[bytes] = set()
        for key in looked_for(spider, run, canonicals, rules):
            found = self.journal.keyed_rows(self.journal.tables["rewrite_keys"], key, key + b"\xff" * NUMBER_BYTES)
            numbers.update(number[-NUMBER_BYTES:] for number, _ in found)
        wanted = sorted(numbers)
        for first in range(0, len(wanted), BLOCK_ROWS):
            yield from map(unpack_rewrite, self._rewrites_at(wanted[first : first + BLOCK_ROWS]))

    @in_turn
    def _rewrites_at(self, numbers: list[bytes]) -> list[bytes]:
        with self.journal.reading() as txn:
            rows = (txn.get(number, None, self.journal.tables["rewrites"]) for number in numbers)
            return [bytes(raw) for raw in rows if raw is not None]

    def _drop_older_rewrites(self) -> None:
        """Of each URL and spider the newest stays."""
        older: list[bytes] = []

        def work(txn: Transaction) -> None:
            for number in older:
                self._drop_rewrite(txn, number)

        for number, raw in self.journal.numbered_rows(self.journal.tables["rewrites"]):
            rewrite, key = unpack_rewrite(raw), self.journal.number_key(number)
            with self.journal.reading() as txn:
                if self._numbers(txn, rewrite_key(rewrite.url, rewrite.spider))[-1:] != [key]:
                    older.append(key)
            if len(older) == _WITHDRAWN_AT_ONCE:
                self.journal.writing(work)
                older.clear()
        self.journal.writing(work)

    # States of sites

    @in_turn
    def site_state(self, site: str, name: str) -> bytes | None:
        with self.journal.reading() as txn:
            raw = txn.get(_state_key(site, name), None, self.journal.tables["states"])
            return None if raw is None else bytes(raw)

    @in_turn
    def update_site_state(
        self, site: str, name: str, change: Callable[[bytes | None], bytes], guess: bytes | None = None
    ) -> bytes:
        key, table = _state_key(site, name), self.journal.tables["states"]

        def work(txn: Transaction) -> bytes:
            raw = txn.get(key, None, table)
            new = change(None if raw is None else bytes(raw))
            txn.put(key, new, db=table)
            return new

        self.is_asking = True
        try:
            return self.journal.writing(work)
        finally:
            self.is_asking = False

    @in_turn
    def first_of_run(self, run: str, name: str, value: bytes) -> bytes:
        key, table = _state_key(run, name), self.journal.tables["agreed"]

        def work(txn: Transaction) -> bytes:
            txn.put(key, value, overwrite=False, db=table)
            return bytes(txn.get(key, None, table) or b"")

        return self.journal.writing(work)

    # Attachments

    @in_turn
    def attach(self, url: str, name: str, data: bytes) -> None:
        key = digest(plain(url)) + check_name(name).encode()
        self.journal.writing(lambda txn: txn.put(key, data, db=self.journal.tables["attachments"]))

    def attachments(self, url: str) -> dict[str, bytes]:
        return self.attached([url], "")[url]

    @in_turn
    def attach_new(self, name: str, rows: Mapping[str, bytes]) -> dict[str, bytes]:
        end, table = check_name(name).encode(), self.journal.tables["attachments"]

        def work(txn: Transaction) -> dict[str, bytes]:
            there = {}
            for url, data in rows.items():
                key = digest(plain(url)) + end
                if not txn.put(key, data, overwrite=False, db=table):
                    there[url] = bytes(txn.get(key, b"", table))
            return there

        return self.journal.writing(work)

    @in_turn
    def attached(self, urls: Collection[str], beginning: str) -> dict[str, dict[str, bytes]]:
        with self.journal.reading() as txn:
            return {url: self._attached(txn, digest(plain(url)), beginning.encode()) for url in urls}

    def _attached(self, txn: Transaction, key: bytes, beginning: bytes) -> dict[str, bytes]:
        found = with_prefix(txn, self.journal.tables["attachments"], key + beginning)
        return {name[len(key) :].decode(): data for name, data in found}

    @in_turn
    def detach(self, url: str, beginning: str) -> None:
        self.journal.writing(lambda txn: self._detach(txn, plain(url), beginning))

    def _detach(self, txn: Transaction, url: str, beginning: str = "") -> None:
        """Remove what lies beside a URL; everything, or what begins so."""
        for key, _ in list(with_prefix(txn, self.journal.tables["attachments"], digest(url) + beginning.encode())):
            txn.delete(key, db=self.journal.tables["attachments"])

    def _drop_older_verdicts(self) -> None:
        """Of each page the newest stays."""
        tables = self.journal.tables
        older: list[bytes] = []

        def work(txn: Transaction) -> None:
            for key in older:
                txn.delete(key, db=tables["verdicts"])

        for number, raw in self.journal.numbered_rows(tables["verdicts"]):
            key = self.journal.number_key(number)
            with self.journal.reading() as txn:
                newest = txn.get(digest(unpack_recorded(raw).verdict.url), None, tables["verdict_urls"])
                if newest is None or bytes(newest) != key:
                    older.append(key)
            if len(older) == _WITHDRAWN_AT_ONCE:
                self.journal.writing(work)
                older.clear()
        self.journal.writing(work)

    def _newest(self, txn: Transaction, table: str, urls: str, url: str) -> bytes | None:
        number = txn.get(digest(plain(url)), None, self.journal.tables[urls])
        raw = None if number is None else txn.get(number, None, self.journal.tables[table])
        return None if raw is None else bytes(raw)

    def _notes_info(self, txn: Transaction) -> dict[str, int]:
        names = ("verdicts", "restored", "rewrites", "attachments")
        return {name: txn.stat(self.journal.tables[name])["entries"] for name in names}


def _state_key(site: str, name: str) -> bytes:
    return digest(plain(site)) + digest(plain(name))
