"""What keeps an index within bounds: how many pages of a site it holds, and how much memory its files seem to take."""

from __future__ import annotations

import ctypes
import logging
import mmap
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from dedupcrawl.index.contract import Index
from dedupcrawl.index.segment import SUFFIX

_STATE = "pages"
_STEP = 64  # pages of a site that one process counts before it tells the index
_SITES = 4096  # whose counts are held in memory


class SiteQuota:
    """Counts the pages of each site that one process adds, so that none can fill the index; in steps, not page by page.

    Several processes may exceed a limit by some `_STEP` pages each, and by those that are judged together. Pages that
    are forgotten because the process which kept them is dead count until `recount`.
    """

    def __init__(self, index: Index) -> None:
        self._index = index
        self._told: dict[str, int] = {}  # site → pages that the index knows of
        self._untold = Counter[str]()

    def pages(self, site: str) -> int:
        """How many pages of a site are kept, as far as this process knows."""
        if site not in self._told:
            if len(self._told) >= _SITES:
                self.close()
                self._told.clear()
            self._told[site] = _read(self._index.site_state(site, _STATE))
        return self._told[site] + self._untold[site]

    def add(self, site: str, pages: int = 1) -> None:
        """So many more; or less, where they are gone."""
        if len(self._untold) >= _SITES:
            self.close()
        self._untold[site] += pages
        if abs(self._untold[site]) >= _STEP:  # what could not be told is told with the next page
            self._tell(site)

    def close(self) -> None:
        """Tell the index what it has not been told."""
        for site in list(self._untold):
            self._tell(site)

    def _tell(self, site: str) -> None:
        more, told = self._untold[site], self._told.get(site)
        guess = _as_state(told) if told else None
        now = self._index.update_site_state(site, _STATE, lambda old: _as_state(max(0, _read(old) + more)), guess)
        if told is not None:
            self._told[site] = _read(now)
        del self._untold[site]


def recount(index: Index, sites: Iterable[str] = ()) -> None:
    """Count anew, page by page; also `sites` of which no page may be left."""
    pages = Counter(entry.site for entry in index.entries())
    for site in {*sites, *pages}:
        index.update_site_state(site, _STATE, partial(_as_state, pages[site]))


def _as_state(number: int, _: bytes | None = None) -> bytes:
    return b"%d" % number


def _read(state: bytes | None) -> int:
    return int(state) if state and state.isdigit() else 0


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
