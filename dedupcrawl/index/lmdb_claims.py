"""Claims in LMDB: a claimant is alive as long as it holds the lock on its file, however its process ends.

What claims are for: index.claims.
"""

from __future__ import annotations

import fcntl
import os
import uuid
from collections.abc import Collection
from pathlib import Path

from dedupcrawl.index.claims import claim_cell, dependent_cell, read_claim
from dedupcrawl.index.journal import Journal, Transaction
from dedupcrawl.index.notes import orphan_cell
from dedupcrawl.index.record import DIGEST_BYTES, digest, unpack_dependent
from dedupcrawl.index.rows import Dependent, Entry

_OWNERS = "owners"  # folder of the claimants' lock files


class Claims:
    """The claims in a journal. All methods but `start` and `close` work within a transaction of it.

    Args:
        journal: Where they are kept, beside the pages.

    Attributes:
        owner: The name of this process as a claimant; empty when it is none.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._folder = journal.path / _OWNERS
        self.owner = b""
        self._lock: int | None = None

    def start(self) -> str:
        """Become a claimant, if this process is none yet; returns its name."""
        if not self.owner:
            self._folder.mkdir(exist_ok=True)
            owner = uuid.uuid4()
            path = self._folder / owner.hex
            new = path.with_suffix(".new")  # until it is locked, nobody must take it for that of a dead one
            self._lock = os.open(new, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            new.rename(path)
            self.owner = owner.bytes
        return self.owner.hex()

    def claim(self, txn: Transaction, entry: Entry, request: bytes) -> None:
        """A page is kept, but not stored yet; `request` is what to ask for when it never is, or empty."""
        self._journal.set_cell(txn, claim_cell(entry.url, self.owner))
        if request:
            self._journal.set_cell(txn, dependent_cell(entry.url, Dependent(entry.spider, entry.source, request)))

    def owner_of(self, txn: Transaction, url: str) -> bytes | None:
        """Who claims the page under `url`; None where it is stored, or not kept."""
        key = digest(url)
        raw = txn.get(key, None, self._journal.tables["claims"])
        return None if raw is None else read_claim(key, raw)[0]

    def abandon(self, txn: Transaction, url: str) -> list[Dependent]:
        """The page under `url` will never be stored: what depended on it is orphaned, and returned."""
        txn.delete(digest(url), db=self._journal.tables["claims"])
        gone = self._journal.clear(txn, "dependents", digest(url))
        orphaned = [unpack_dependent(raw, key[DIGEST_BYTES:]) for key, raw in gone]
        for dependent in orphaned:
            self._journal.set_cell(txn, orphan_cell(dependent))
        return orphaned

    def dead(self, txn: Transaction) -> list[tuple[str, bytes]]:
        """The URLs that are claimed by processes that are no more, and by whom."""
        alive = {self.owner: True}
        claimed = []
        with txn.cursor(self._journal.tables["claims"]) as cursor:
            for key, raw in cursor:
                owner, url = read_claim(key, raw)
                if owner not in alive:
                    alive[owner] = _is_locked(self._folder / owner.hex())
                if not alive[owner]:
                    claimed.append((url, owner))
        return claimed

    def remove_dead_owners(self, excluded: Collection[str]) -> None:
        """Remove the lock files that nobody holds, but those of some. Their claims must have been abandoned."""
        if self._folder.is_dir():
            for path in self._folder.iterdir():
                if path.name not in (self.owner.hex(), *excluded) and path.suffix != ".new" and not _is_locked(path):
                    path.unlink(missing_ok=True)

    def close(self) -> None:
        """Release the lock: what is still claimed is nobody's from now on."""
        if self._lock is not None:
            (self._folder / self.owner.hex()).unlink(missing_ok=True)
            os.close(self._lock)
            self._lock, self.owner = None, b""


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
