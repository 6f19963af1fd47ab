"""Folders that last as long as a process, whatever ends it."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from dedupcrawl.index.file_lock import is_locked

_PREFIX = "dedupcrawl-"  # of their names
_ALIVE = "temporary.lock"  # in each: who made it holds the lock on this while it lives


class TemporaryFolder:
    """A folder that is removed by `close`, or when the process ends.

    What a killed process has left is removed by the next of the same user that makes one.
    """

    def __init__(self) -> None:
        _remove_dead(Path(tempfile.gettempdir()))
        self._folder = tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True)
        self.path = Path(self._folder.name)
        self._alive = open(self.path / f"{_ALIVE}.new", "xb")  # noqa: SIM115 - closed by `close`
        is_locked(self._alive.fileno())
        os.rename(self._alive.name, self.path / _ALIVE)  # not before: without the lock it is that of a dead one

    def close(self) -> None:
        self._folder.cleanup()
        self._alive.close()


def _remove_dead(folder: Path) -> None:
    """Remove those of this user whose processes have ended; what has no lock file is none."""
    for path in folder.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if path.lstat().st_uid == os.geteuid():
                with (path / _ALIVE).open("rb") as file:
                    if not is_locked(file.fileno()):
                        shutil.rmtree(path)
