"""A cache of one kind of state that an index stores for each site, such as the trials of rules that have no file."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import Generic

from scrapy.utils.datatypes import LocalCache

from dedupcrawl.index.notes import SiteStates
from dedupcrawl.urls.watched_rule import Known

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
    # None: the index has no state.
    _known: LocalCache[str, Known | None] = field(default_factory=partial(LocalCache, _MOST_SITES), init=False)

    def of(self, site: str) -> Known:
        """The state of a site; an empty one if the index has none."""
        return self._known.get(site) or self._read(site) or self.kind()

    def has(self, site: str) -> bool:
        """True if the index has a state of this site, be it empty."""
        return (self._known[site] if site in self._known else self._read(site)) is not None

    def is_there(self, site: str) -> None:
        """Read the state of a site anew if there was none: other processes have stored something since then."""
        if self._known.get(site, ...) is None:
            del self._known[site]

    def tell(self, site: str, news: Known) -> Known:
        """Add `news` to the state of a site; returns the new state, with what other processes have added."""

        def joined(content: bytes | None) -> bytes:
            return self.kind.from_bytes(content).joined(news).to_bytes()

        now = self.of(site).joined(news)
        with self.asked:
            now = self.mended(self.kind.from_bytes(self.index.update_site_state(site, self.name, joined)))
            self._known[site] = now
        if site in self._known:
            self._known[site] = now
        return now

    @property
    def sites(self) -> list[str]:
        return [site for site, state in self._known.items() if state is not None]

    def _read(self, site: str) -> Known | None:
        if site not in self._known:
            with self.asked:
                content = self.index.site_state(site, self.name)
                self._known[site] = None if content is None else self.mended(self.kind.from_bytes(content))
        return self._known.get(site)
