"""How much memory the mapped files of indexes seem to take, and how they are given back to the page cache."""

from __future__ import annotations

import ctypes
import logging
import mmap
import os
from collections.abc import Iterator
from pathlib import Path

from dedupcrawl.index.segment import SUFFIX

logger = logging.getLogger(__name__)

_LOOK_EVERY = 64  # pages of a crawl
_LEAST = 1 << 25  # bytes of mapped files worth giving back
_MAPS, _SIZES = Path("/proc/self/maps"), Path("/proc/self/statm")


class ResidentLimit:
    """Gives mapped files of indexes back to the page cache when this process holds more than `limit` bytes.

    Segments and LMDB's file are mapped. What has been read of them counts as the process's memory until the kernel
    needs it for something else, so in time a crawl looks as large as its index, and whatever watches its memory
    (Scrapy's MEMUSAGE_LIMIT_MB, a container's monitor) ends it. `madvise(MADV_DONTNEED)` takes such pages out of the
    process; they stay in the page cache, where the next look-up finds them by a minor page fault.

    Does nothing where there is no /proc, or without a limit.
    """

    def __init__(self, limit: int | None) -> None:
        self._limit = limit if _MAPS.exists() and _SIZES.exists() else None
        self._looks = 0
        self._has_warned = False

    def look(self) -> None:
        """To be called once a page; looks at the process every 64th time, a few microseconds."""
        self._looks += 1
        if self._limit is None or self._looks % _LOOK_EVERY:
            return
        held, of_files = resident()
        if held <= self._limit or of_files < _LEAST:
            return
        release()
        held, of_files = resident()
        if held > self._limit and not self._has_warned:
            self._has_warned = True
            logger.warning(
                "The process holds %d MB without the index, more than DEDUP_INDEX_MEMORY = %d: raise that, or send "
                "fewer requests at a time.",
                (held - of_files) >> 20,
                self._limit >> 20,
            )


def resident() -> tuple[int, int]:
    """Bytes of memory that this process holds, and how many of them are of mapped files; Linux."""
    _, held, of_files, *_ = map(int, _SIZES.read_text().split())
    return held * mmap.PAGESIZE, of_files * mmap.PAGESIZE


def release() -> None:
    """Give everything that is mapped of indexes back to the page cache; Linux."""
    advise = ctypes.CDLL(None, use_errno=True).madvise
    advise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    for start, length in _mapped():
        if advise(start, length, mmap.MADV_DONTNEED):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _mapped() -> Iterator[tuple[int, int]]:
    """Address and length of each shared mapping of a segment or of LMDB's file."""
    for line in _MAPS.read_text().splitlines():
        addresses, access, _, _, _, *path = line.split(maxsplit=5)
        name = path[0].removesuffix(" (deleted)") if path else ""
        if access.endswith("s") and name.endswith((SUFFIX, "data.mdb")):
            start, end = (int(address, 16) for address in addresses.split("-"))
            yield start, end - start
