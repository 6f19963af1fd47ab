"""Claims: which kept pages are not stored yet, and what was dropped because of them.

A page that an index keeps may cost others their place in the output before its own item has reached any storage. So
who keeps it claims it, and confirms it once it is stored. What is dropped because of a claimed page depends on it, and
so does the page itself where nobody else will ask for it again. When the claimant dies first, its claims die with it:
the pages are forgotten, and what depended on them is orphaned, to be fetched again. A crash may cost a duplicate, never
a page.

A claimant is alive as long as it holds the lock on its file, which the kernel releases however a process ends.
"""

from __future__ import annotations

import fcntl
import os
import uuid
from collections.abc import Collection
from pathlib import Path

import msgspec

from dedupcrawl.index.errors import UNREADABLE, IndexDamagedError
from dedupcrawl.index.journal import Journal, Transaction, with_prefix
from dedupcrawl.index.record import DIGEST_BYTES, Raw, digest
from dedupcrawl.index.rows import Dependent, Entry

_OWNERS = "owners"  # folder of the claimants' lock files


class _Claim(msgspec.Struct, frozen=True, array_like=True):
    url: str
    owner: str


_encode = msgspec.msgpack.Encoder().encode
_claim_of = msgspec.msgpack.Decoder(_Claim).decode
_dependent_of = msgspec.msgpack.Decoder(Dependent).decode


class Claims:
    """The claims in a journal. All methods but `start` and `close` work within a transaction of it.

    Args:
        journal: Where they are kept, beside the pages.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._folder = journal.path / _OWNERS
        self._owner = ""
        self._lock: int | None = None

    @property
    def started(self) -> bool:
        """True when this process claims what it keeps."""
        return self._lock is not None

    def start(self) -> str:
        """Become a claimant, if this process is none yet; returns its name."""
        if self.started:
            return self._owner
        self._folder.mkdir(exist_ok=True)
        self._owner = uuid.uuid4().hex
        path = self._folder / self._owner
        new = path.with_suffix(".new")  # until it is locked, nobody must take it for that of a dead one
        self._lock = os.open(new, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        new.rename(path)
        return self._owner

    def claim(self, txn: Transaction, entry: Entry, request: bytes) -> None:
        """A page is kept, but not stored yet; `request` is what to ask for when it never is, or empty."""
        txn.put(digest(entry.url), _encode(_Claim(entry.url, self._owner)), db=self._journal.tables["claims"])
        if request:
            self.depend(txn, entry.url, Dependent(entry.spider, entry.source, request))

    def confirm(self, txn: Transaction, url: str) -> None:
        """The page under `url` is stored, so nothing depends on it any more. A claim of another process stays."""
        if self.is_claimed_by(txn, url, self._owner):
            key = digest(url)
            txn.delete(key, db=self._journal.tables["claims"])
            for dependent, _ in list(with_prefix(txn, self._journal.tables["dependents"], key)):
                txn.delete(dependent, db=self._journal.tables["dependents"])

    def is_claimed(self, txn: Transaction, url: str) -> bool:
        """True when the page under `url` is not known to be stored."""
        return txn.get(digest(url), None, self._journal.tables["claims"]) is not None

    def depend(self, txn: Transaction, keeper: str, dependent: Dependent) -> None:
        """`dependent` is dropped because of the page under `keeper`, which is claimed, or is that page."""
        key = digest(keeper) + digest(dependent.spider) + digest(dependent.url)
        txn.put(key, _encode(dependent), db=self._journal.tables["dependents"])

    def abandon(self, txn: Transaction, url: str) -> list[Dependent]:
        """The page under `url` will never be stored: what depended on it is orphaned, and returned."""
        key = digest(url)
        txn.delete(key, db=self._journal.tables["claims"])
        orphaned = []
        for row, raw in list(with_prefix(txn, self._journal.tables["dependents"], key)):
            dependent = _decode_dependent(row, raw)
            self.orphan(txn, dependent)
            txn.delete(row, db=self._journal.tables["dependents"])
            orphaned.append(dependent)
        return orphaned

    def dead(self, txn: Transaction) -> list[tuple[str, str]]:
        """The URLs that are claimed by processes that have ended, and by whom."""
        alive: dict[str, bool] = {}
        claimed = []
        with txn.cursor(self._journal.tables["claims"]) as cursor:
            for key, raw in cursor:
                claim = _decode_claim(key, raw)
                if claim.owner not in alive:
                    alive[claim.owner] = claim.owner == self._owner or _is_locked(self._folder / claim.owner)
                if not alive[claim.owner]:
                    claimed.append((claim.url, claim.owner))
        return claimed

    def is_claimed_by(self, txn: Transaction, url: str, owner: str) -> bool:
        """True when this owner, and no later one, claims the page under `url`."""
        key = digest(url)
        raw = txn.get(key, None, self._journal.tables["claims"])
        return raw is not None and _decode_claim(key, raw).owner == owner

    def orphan(self, txn: Transaction, dependent: Dependent) -> None:
        """`dependent` is to be fetched again."""
        txn.put(
            digest(dependent.spider) + digest(dependent.url), _encode(dependent), db=self._journal.tables["orphans"]
        )

    def orphans(self, txn: Transaction, spider: str) -> list[Dependent]:
        """What is to be fetched again by a spider."""
        return [
            _decode_dependent(key, raw)
            for key, raw in with_prefix(txn, self._journal.tables["orphans"], digest(spider))
        ]

    def adopt(self, txn: Transaction, spider: str, url: str) -> None:
        """An orphan has been fetched again and judged."""
        txn.delete(digest(spider) + digest(url), db=self._journal.tables["orphans"])

    def info(self, txn: Transaction) -> dict[str, int]:
        """How many pages are claimed, and how many wait to be fetched again."""
        return {
            "claimed": txn.stat(self._journal.tables["claims"])["entries"],
            "orphans": txn.stat(self._journal.tables["orphans"])["entries"],
        }

    def remove_dead_owners(self, excluded: Collection[str]) -> None:
        """Remove the lock files that nobody holds, but those of some. Their claims must have been abandoned."""
        if self._folder.is_dir():
            for path in self._folder.iterdir():
                if path.name not in (self._owner, *excluded) and path.suffix != ".new" and not _is_locked(path):
                    path.unlink(missing_ok=True)

    def close(self) -> None:
        """Release the lock: what is still claimed is nobody's from now on."""
        if self._lock is not None:
            (self._folder / self._owner).unlink(missing_ok=True)
            os.close(self._lock)
            self._lock = None


def _decode_claim(key: Raw, raw: Raw) -> _Claim:
    try:
        claim = _claim_of(raw)
    except UNREADABLE as error:
        raise IndexDamagedError(f"a claim cannot be read: {error}") from None
    if digest(claim.url) != key:  # to take one page for another would lose both
        raise IndexDamagedError(f"the claim of {claim.url!r} is that of another page")
    return claim


def _decode_dependent(key: Raw, raw: Raw) -> Dependent:
    try:
        dependent = _dependent_of(raw)
    except UNREADABLE as error:
        raise IndexDamagedError(f"a page to be fetched again cannot be read: {error}") from None
    if key[-2 * DIGEST_BYTES :] != digest(dependent.spider) + digest(dependent.url):
        raise IndexDamagedError(f"{dependent.url!r}, which is to be fetched again, is another page")
    return dependent


def _is_locked(path: Path) -> bool:
    """True when some process holds the lock on this file, so is alive."""
    try:
        file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False
