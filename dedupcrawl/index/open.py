"""open_index: an index from what DEDUP_INDEX or --index says."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from weakref import WeakValueDictionary

from dedupcrawl.content.checks.base import Check
from dedupcrawl.content.checks.registry import make_checks
from dedupcrawl.core.digests import Secret
from dedupcrawl.index.contract import Index
from dedupcrawl.index.file_lock import is_locked
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.seal import check_seal

_opened: WeakValueDictionary[Path, LmdbIndex] = WeakValueDictionary()
"""One for all crawls of this process, which may open an LMDB folder only once; closed by the last of them."""


def open_index(
    spec: str,
    checks: Sequence[Check],
    *,
    default_path: Path | None = None,
    wait: float = 60.0,
    is_looked_at: bool = False,
) -> Index:
    """Open the index that `spec` names.

    Args:
        spec: ``memory:``, ``lmdb:/path``, ``lmdb:`` for the default path, a bare path, which means LMDB, or the URL of
            a Redis server.
        checks: The content checks, in the order in which they are asked. None: an existing index is opened to be read.
        default_path: Where ``lmdb:`` lies.
        wait: Seconds for which a call waits for a server that is away.
        is_looked_at: The seal of a folder was looked at already, or need not hold.

    Raises:
        ValueError: `spec` names nothing that can be opened.
        IndexMismatchError: The index was made by other checks or settings.
        IndexDamagedError: What is stored cannot be read.
        IndexAwayError: The server cannot be reached.
        OSError: The folder cannot be made, read or written; the server refuses.
    """
    check_spec(spec)
    if spec == "memory:":
        return TemporaryIndex(checks)
    if is_redis(spec):
        try:
            from dedupcrawl.index.redis import RedisIndex
        except ModuleNotFoundError as error:
            raise ValueError(f"an index in Redis needs its client: pip install 'dedupcrawl[redis]' ({error})") from None
        return RedisIndex(spec, checks, wait=wait)
    named = spec.removeprefix("lmdb:")
    path = Path(named) if named else default_path
    if path is None:
        raise ValueError("lmdb: needs a path here, as in lmdb:/path")
    place = path.resolve()
    index = _opened.get(place)
    if index is None or not index.share(checks):
        if not is_looked_at:
            check_seal(path)
        index = _opened[place] = LmdbIndex(path, checks)
    return index


def check_spec(spec: str) -> None:
    """Raise ValueError unless `spec` is of a form that `open_index` takes."""
    kind, colon, _ = spec.partition(":")
    if spec == "memory:" or is_redis(spec) or (kind == "lmdb" and colon):
        return
    if not spec or "://" in spec or (colon and kind.isalpha() and len(kind) > 1):
        raise ValueError(f"{spec!r} names no index: take memory:, lmdb:, lmdb:/path, a path or redis://host:port/db")


def is_redis(spec: str) -> bool:
    """True when `spec` is the URL of a Redis server."""
    return spec.startswith(("redis://", "rediss://", "unix://"))


def folder_of(spec: str) -> Path | None:
    """The folder of the LMDB index that `spec` names; None where it names none, or an index that has no folder."""
    path = "" if spec == "memory:" or is_redis(spec) else spec.removeprefix("lmdb:")
    return Path(path) if path else None


def shown(spec: str) -> str:
    """`spec` for people: without a password."""
    if not is_redis(spec):
        return spec
    from dedupcrawl.index.redis_link import Address

    return Address(spec).where


_PREFIX = "dedupcrawl-"  # of the names of temporary folders
_ALIVE = "temporary.lock"  # in the folder of a temporary index: who made it holds the lock on this while it lives


class TemporaryIndex(LmdbIndex):
    """An LMDB index in a temporary folder, which is removed by `close`, or when the process ends.

    What a killed process has left is removed by the next of the same user that makes one.

    Args:
        checks: The content checks, in the order in which they are asked; who has none may still use all else.
        secret: What keys its digests. None: a random one.
    """

    def __init__(self, checks: Sequence[Check], secret: Secret | None = None) -> None:
        _remove_dead(Path(tempfile.gettempdir()))
        self._folder = tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True)
        folder = Path(self._folder.name)
        self._alive = open(folder / f"{_ALIVE}.new", "xb")  # noqa: SIM115 - closed by `close`
        is_locked(self._alive.fileno())
        os.rename(self._alive.name, folder / _ALIVE)  # not before: without the lock it is that of a dead one
        super().__init__(folder, checks or make_checks(["exact"], {}), secret=secret)
        self.where = "memory:"

    def close(self) -> None:
        """Release everything. Further calls fail."""
        super().close()
        self._folder.cleanup()
        self._alive.close()


def _remove_dead(folder: Path) -> None:
    """Remove the temporary indexes of this user whose processes have ended; what has no lock file is none."""
    for path in folder.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if path.lstat().st_uid == os.geteuid():
                with (path / _ALIVE).open("rb") as file:
                    if not is_locked(file.fileno()):
                        shutil.rmtree(path)
