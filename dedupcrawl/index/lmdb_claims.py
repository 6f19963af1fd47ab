"""The claimants of an index in a folder."""

from __future__ import annotations

import fcntl
import os
import uuid
from collections.abc import Collection, Iterable
from pathlib import Path

from dedupcrawl.index.journal import Journal, is_locked
from dedupcrawl.index.pages import read_claim

_OWNERS = "owners"  # folder of the claimants' lock files


class LmdbClaims:
    """As index.pages.Claimant: alive as long as it holds the lock on its file, however its process ends."""

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

    def dead(self, excluded: Collection[str]) -> list[tuple[str, bytes]]:
        """The URLs that are claimed by processes that are no more, but some, and by whom."""
        alive = {self.owner: True}
        claimed = []
        for key, raw in self._journal.keyed_rows(self._journal.tables["claims"]):
            owner, url = read_claim(key, raw)
            if owner not in alive:
                alive[owner] = owner.hex() in excluded or _is_locked(self._folder / owner.hex())
            if not alive[owner]:
                claimed.append((url, owner))
        return claimed

    def bury(self, excluded: Collection[str]) -> None:
        """Remove the lock files that nobody holds, but those of some. Their claims must have been abandoned."""
        if self._folder.is_dir():
            for path in self._folder.iterdir():
                if path.name not in (self.owner.hex(), *excluded) and path.suffix != ".new" and not _is_locked(path):
                    path.unlink(missing_ok=True)

    def give_up(self, urls: Iterable[str]) -> None:
        """Nothing: what is claimed is written nowhere else."""

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
        return is_locked(file)
    finally:
        os.close(file)
