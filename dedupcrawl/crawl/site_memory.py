"""A cache of one kind of state that an index stores for each site, such as the trials of rules that have no file."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import Generic

from scrapy.utils.datatypes import LocalCache

from dedupcrawl.index.notes import SiteStates
from dedupcrawl.urls.credits import Known

_MOST_SITES = 100_000  # in the cache


@dataclass(eq=False)
class SiteMemory(Generic[Known]):
    """Reads the state of each site from the index once, and writes what is new.

    Attributes:
        index: Stores the states for other workers and later crawls.
        name: The name of this kind of state.
        kind: The class of the state.
        asked: Context in which the index is used. While the index fails, a state counts as empty, and is not cached.
        mended: Converts a state that was read into the one to use in this crawl.
    """

    index: SiteStates
    name: str
    kind: type[Known]
    asked: AbstractContextManager[None]
    mended: Callable[[Known], Known] = lambda known: known
    _untold: dict[str, Known] = field(default_factory=dict, init=False)  # news that the index could not take
    # None: the index has no state.
    _known: LocalCache[str, Known | None] = field(default_factory=partial(LocalCache, _MOST_SITES), init=False)

    def of(self, site: str) -> Known:
        """The state of a site; an empty one if the index has none."""
        known = self._known.get(site) or self._read(site) or self.kind()
        return known.joined(self._untold[site]) if site in self._untold else known

    def has(self, site: str) -> bool:
        """True if the index has a state of this site, be it empty."""
        return (self._known[site] if site in self._known else self._read(site)) is not None

    def forget_unless(self, site: str, is_current: Callable[[Known], bool]) -> None:
        """Read the state of a site anew when it is needed next: other processes have stored something since then."""
        known = self._known.get(site)
        if known is None or not is_current(known):
            self._known.pop(site, None)

    def tell(self, site: str, news: Known) -> Known:
        """Add `news` to the state of a site; returns the new state, with what other processes have added.

        What the index cannot take now is added with the next news of the site, or by `tell_rest`.
        """
        if site in self._untold:
            news = self._untold.pop(site).joined(news)

        def joined(content: bytes | None) -> bytes:
            return self.kind.from_bytes(content).joined(news).to_bytes()

        with self.asked:
            now = self.mended(self.kind.from_bytes(self.index.update_site_state(site, self.name, joined)))
            self._known[site] = now
            return now
        self._untold[site] = news
        return self.of(site)

    def tell_rest(self) -> None:
        for site in list(self._untold):
            self.tell(site, self.kind())

    @property
    def sites(self) -> list[str]:
        return [site for site, state in self._known.items() if state is not None]

    def _read(self, site: str) -> Known | None:
        if site not in self._known:
            with self.asked:
                content = self.index.site_state(site, self.name)
                self._known[site] = None if content is None else self.mended(self.kind.from_bytes(content))
        return self._known.get(site)
