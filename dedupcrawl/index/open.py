"""open_index: an index from what DEDUP_INDEX or --index says."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from weakref import WeakValueDictionary

from dedupcrawl.content.checks.base import Check
from dedupcrawl.content.checks.registry import make_checks
from dedupcrawl.core.digests import Secret
from dedupcrawl.index.contract import Index
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.seal import check_seal
from dedupcrawl.index.temporary import TemporaryFolder

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


def log_beside(folder: Path) -> Path:
    """Where a crawl with the index in this folder writes its log, unless DEDUP_CRAWL_LOG says otherwise."""
    return folder.parent / "crawl-log.jsonl"


def shown(spec: str) -> str:
    """`spec` for people: without a password."""
    if not is_redis(spec):
        return spec
    from dedupcrawl.index.redis_link import Address

    return Address(spec).where


class TemporaryIndex(LmdbIndex):
    """An LMDB index in a temporary folder.

    Args:
        checks: The content checks, in the order in which they are asked; who has none may still use all else.
        secret: What keys its digests. None: a random one.
    """

    def __init__(self, checks: Sequence[Check], secret: Secret | None = None) -> None:
        self._folder = TemporaryFolder()
        super().__init__(self._folder.path, checks or make_checks(["exact"], {}), secret=secret)
        self.where = "memory:"

    def close(self) -> None:
        """Release everything. Further calls fail."""
        super().close()
        self._folder.close()
