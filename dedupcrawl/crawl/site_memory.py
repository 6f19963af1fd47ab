"""What an index keeps of each site under one name, such as the trials of rules that have no file."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Generic

from dedupcrawl.index.notes import SiteStates
from dedupcrawl.urls.watched_rule import Known

_MOST_SITES = 100_000  # of which it is remembered what is known; then it is asked for anew


@dataclass(eq=False)
class SiteMemory(Generic[Known]):
    """Asks the index about each site once, and tells it what is new.

    Attributes:
        index: Where other workers and later crawls find it.
        name: Of the state of a site.
        kind: What that is read as.
        asked: The context in which the index is asked. If that fails, nothing is known for now, so that nothing refuted
            returns.
        mended: Gives what is read as it is to be taken here.
    """

    index: SiteStates
    name: str
    kind: type[Known]
    asked: AbstractContextManager[None]
    mended: Callable[[Known], Known] = lambda known: known
    _known: dict[str, Known | None] = field(default_factory=dict, init=False)  # None: the index has nothing

    def of(self, site: str) -> Known:
        """What is known of a site."""
        return self._known.get(site) or self._read(site) or self.kind()

    def has(self, site: str) -> bool:
        """True when anybody has told something of a site, if only that there is something."""
        return (self._known[site] if site in self._known else self._read(site)) is not None

    def is_there(self, site: str) -> None:
        """What others have found out of a site was met, so something is known by now: the index is asked anew."""
        if self._known.get(site, ...) is None:
            del self._known[site]

    def tell(self, site: str, news: Known) -> Known:
        """Add to what is known of a site; what that is now, with what other processes have found out."""

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
        """Those of which something is remembered."""
        return [site for site, known in self._known.items() if known is not None]

    def _read(self, site: str) -> Known | None:
        if site not in self._known:
            with self.asked:
                content = self.index.site_state(site, self.name)
                if len(self._known) >= _MOST_SITES:
                    self._known.clear()
                self._known[site] = None if content is None else self.mended(self.kind.from_bytes(content))
        return self._known.get(site)
