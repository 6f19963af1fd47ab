"""What keeps one site from filling an index: how many of its pages are kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import partial

from dedupcrawl.index.contract import Index

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
        more, stored = self._untold[site], self._told.get(site)
        guess = _as_state(stored) if stored else None
        now = self._index.update_site_state(site, _STATE, lambda old: _as_state(max(0, _read(old) + more)), guess)
        if stored is not None:
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
