"""open_index: an index from what DEDUP_INDEX or --index says."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from weakref import WeakValueDictionary

from dedupcrawl.content.checks.base import Check
from dedupcrawl.index.contract import Index
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.memory import MemoryIndex

_opened: WeakValueDictionary[Path, LmdbIndex] = WeakValueDictionary()  # a process may open an LMDB folder only once


def open_index(spec: str, checks: Sequence[Check], *, default_path: Path | None = None) -> Index:
    """Open the index that `spec` names.

    Args:
        spec: ``memory:``, ``lmdb:/path``, ``lmdb:`` for the default path, or a bare path, which means LMDB.
        checks: The content checks, in the order in which they are asked. None: an existing index is opened to be read.
        default_path: Where ``lmdb:`` lies.

    Raises:
        ValueError: `spec` names nothing that can be opened.
        IndexMismatchError: The index was made by other checks or settings.
        IndexDamagedError: What is stored cannot be read.
        OSError: The folder cannot be made, read or written.
    """
    kind, colon, rest = spec.partition(":")
    if spec == "memory:":
        return MemoryIndex(checks)
    if kind in ("redis", "rediss"):
        raise ValueError(f"an index in Redis ({spec}) is not built in yet: take memory:, lmdb: or lmdb:/path")
    if kind == "lmdb" and colon:
        path = Path(rest) if rest else default_path
        if path is None:
            raise ValueError("lmdb: needs a path here, as in lmdb:/path")
        return _lmdb(path, checks)
    if not spec or "://" in spec or kind == "memory":
        raise ValueError(f"{spec!r} names no index: take memory:, lmdb:, lmdb:/path or a path")
    return _lmdb(Path(spec), checks)


def _lmdb(path: Path, checks: Sequence[Check]) -> LmdbIndex:
    """The index at `path`; one object for all crawls of this process that ask for it, closed by the last of them."""
    place = path.resolve()
    index = _opened.get(place)
    if index is None or not index.share(checks):
        index = _opened[place] = LmdbIndex(path, checks)
    return index
