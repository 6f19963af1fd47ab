"""How many pages of each site an index holds, so that none can fill it; counted in steps, not by a write a page."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable
from functools import partial

from dedupcrawl.index.contract import Index

_STATE = "pages"
_STEP = 64  # pages of a site that one process counts before it tells the index
_SITES = 4096  # whose counts are held in memory


class SiteQuota:
    """Counts the pages that one process adds. Several processes may exceed a limit by some `_STEP` pages each,
    and by those that are judged together.

    Args:
        index: Where the counts outlive the process.
    """

    def __init__(self, index: Index) -> None:
        self._index = index
        self._counts: OrderedDict[str, tuple[int, int]] = OrderedDict()  # site → told to the index, not told yet

    def pages(self, site: str) -> int:
        """How many pages of a site are kept, as far as this process knows."""
        return sum(self._count(site))

    def add(self, site: str) -> None:
        """One more."""
        told, untold = self._count(site)
        self._counts[site] = (
            (_changed(self._index, site, untold + 1, told), 0) if untold + 1 == _STEP else (told, untold + 1)
        )

    def close(self) -> None:
        """Tell the index what it has not been told."""
        while self._counts:
            self._tell_oldest()

    def _count(self, site: str) -> tuple[int, int]:
        count = self._counts.get(site)
        if count is None:
            count = self._counts[site] = (_read(self._index.site_state(site, _STATE)), 0)
            if len(self._counts) > _SITES:
                self._tell_oldest()
        self._counts.move_to_end(site)
        return count

    def _tell_oldest(self) -> None:
        site, (told, untold) = self._counts.popitem(last=False)
        if untold:
            _changed(self._index, site, untold, told)


def recount(index: Index, sites: Iterable[str] = ()) -> None:
    """Count anew, page by page.

    Args:
        index: The index.
        sites: Of which no page may be left.
    """
    pages = Counter(entry.site for entry in index.entries())
    for site in {*sites, *pages}:
        index.update_site_state(site, _STATE, partial(_set, pages[site]))


def _set(number: int, old: bytes | None) -> bytes:
    return str(number).encode()


def _changed(index: Index, site: str, more: int, told: int) -> int:
    guess = _set(told, None) if told else None
    return _read(index.update_site_state(site, _STATE, lambda old: _set(_read(old) + more, old), guess))


def _read(state: bytes | None) -> int:
    return int(state) if state and state.isdigit() else 0
