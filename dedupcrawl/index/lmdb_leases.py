"""LmdbLeases: who of the processes that share an index in a folder is alive, and what they answer for."""

from __future__ import annotations

import fcntl
import os
import uuid
from collections.abc import Collection, Iterable

from dedupcrawl.index.file_lock import is_held
from dedupcrawl.index.journal import Journal
from dedupcrawl.index.ledger import OWNER_BYTES
from dedupcrawl.index.record import Premise
from dedupcrawl.output import open_private, private_folder

_OWNERS = "owners"  # folder of the lessees' lock files


class LmdbLeases:
    """As index.ledger.Lessee: alive as long as it holds the lock on its file, however its process ends."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._folder = journal.path / _OWNERS
        self.owner = b""
        self._lock: int | None = None

    def start(self) -> str:
        if not self.owner:
            private_folder(self._folder)
            owner = uuid.uuid4()
            path = self._folder / owner.hex
            new = path.with_suffix(".new")  # until it is locked, nobody must take it for that of a dead one
            self._lock = open_private(new, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            new.rename(path)
            self.owner = owner.bytes
        return self.owner.hex()

    def dead(self, excluded: Collection[str]) -> set[str]:
        names = {raw[:OWNER_BYTES].hex() for _, raw in self._journal.keyed_rows(self._journal.tables["leases"])}
        if self._folder.is_dir():
            names.update(path.name for path in self._folder.iterdir() if path.suffix != ".new")
        return {name for name in names - {self.owner.hex(), *excluded} if not is_held(self._folder / name)}

    def purge(self, dead: Collection[str]) -> None:
        for name in dead:
            (self._folder / name).unlink(missing_ok=True)

    def give_up(self, premises: Iterable[Premise]) -> None:
        """Nothing: leases are written nowhere else."""

    def close(self) -> None:
        """Release the lock: nobody answers from now on for what is still open."""
        if self._lock is not None:
            (self._folder / self.owner.hex()).unlink(missing_ok=True)
            os.close(self._lock)
            self._lock, self.owner = None, b""
