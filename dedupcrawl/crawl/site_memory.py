"""What an index keeps for other workers and later crawls: of each site under one name, and of aliases beside each URL.

Of a site that are, say, the trials of rules that have no file.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import Generic

from scrapy.statscollectors import StatsCollector

from dedupcrawl.aliases.alias import NAME, Alias, SiteAliases
from dedupcrawl.crawl.failures import INDEX_FAILS, survived
from dedupcrawl.crawl.request_meta import without_fragment
from dedupcrawl.index.contract import Index
from dedupcrawl.index.notes import SiteStates
from dedupcrawl.index.record import Entry
from dedupcrawl.sites import site_of
from dedupcrawl.urls.normalizer import Normalizer
from dedupcrawl.urls.watched_rule import Known

_MOST_SITES = 100_000  # of which it is remembered what is known; then it is asked for anew


@dataclass(eq=False)
class SiteMemory(Generic[Known]):
    """Asks the index about each site once, and tells it what is new.

    Attributes:
        index: Where other workers and later crawls find it.
        name: Of the state of a site.
        kind: What that is read as.
        asked: Within this it is asked. Where that fails nothing is known, for now: what was refuted must not come back.
        mended: Gives what is read as it is to be taken here.
    """

    index: SiteStates
    name: str
    kind: type[Known]
    asked: Callable[[], AbstractContextManager[None]]
    mended: Callable[[Known], Known] = lambda known: known
    _known: dict[str, Known | None] = field(default_factory=dict, init=False)  # None: the index has nothing

    def of(self, site: str) -> Known:
        """What is known of a site."""
        return self._read(site) or self.kind()

    def has(self, site: str) -> bool:
        """True when anybody has told something of a site, if only that there is something."""
        return self._read(site) is not None

    def tell(self, site: str, news: Known) -> Known:
        """Add to what is known of a site; what that is now, with what other processes have found out."""

        def joined(content: bytes | None) -> bytes:
            return self.kind.from_bytes(content).joined(news).to_bytes()

        now = self.of(site).joined(news)
        with self.asked():
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
            with self.asked():
                content = self.index.site_state(site, self.name)
                if len(self._known) >= _MOST_SITES:
                    self._known.clear()
                self._known[site] = None if content is None else self.mended(self.kind.from_bytes(content))
        return self._known.get(site)


FRESH_SECONDS = 1.0  # for which what was read of a URL is taken for true; as an index on a server does with its pages


class AliasStore:
    """Where other workers and later crawls find aliases.

    Of single URLs it is asked, and told, within `asked`: OSError and IndexDamagedError say that the index cannot be.

    Args:
        index: Where they lie.
        normalizer: The rules, under whose canonical URLs pages are kept.
        stats: Counts errors.

    Attributes:
        sites: What is known of the aliases of each site.
    """

    def __init__(self, index: Index, normalizer: Normalizer, stats: StatsCollector) -> None:
        self.index = index
        self._normalizer = normalizer
        self._at_hand: dict[str, tuple[float, dict[str, bytes]]] = {}  # URL → when it was read, what lies beside it
        what = "The index cannot be asked about aliases"
        self.asked = partial(survived, stats, "dedup/aliases/errors", what, INDEX_FAILS)
        self.sites = SiteMemory(index, NAME, SiteAliases, self.asked)

    def known(self, url: str) -> Alias | None:
        """What is known of a URL."""
        return Alias.from_bytes(self.beside(without_fragment(url)).get(NAME))

    def beside(self, url: str) -> dict[str, bytes]:
        """What lies beside a URL, by name; of what was asked for lately it is not asked again."""
        when, rows = self._at_hand.get(url, (float("-inf"), {}))
        return rows if time.monotonic() - when < FRESH_SECONDS else self.index.attached([url], NAME)[url]

    def read(self, urls: Iterable[str]) -> None:
        """Have at hand for a moment what lies beside these URLs: one question for all of them."""
        now = time.monotonic()
        self._at_hand = {url: one for url, one in self._at_hand.items() if now - one[0] < FRESH_SECONDS}
        wanted = {url for url in map(without_fragment, urls) if url not in self._at_hand}
        with self.asked():
            found = self.index.attached(wanted, NAME) if wanted else {}
            self._at_hand |= {url: (now, rows) for url, rows in found.items()}

    def put(self, url: str, alias: Alias) -> None:
        """Remember an alias; where the index cannot, its URL is fetched."""
        with self.asked():
            self.remember(site_of(url))
            self.attach(url, NAME, alias.to_bytes())

    def attach(self, url: str, name: str, data: bytes) -> None:
        """Put something beside a URL."""
        self._at_hand.pop(url, None)
        self.index.attach(url, name, data)

    def attach_new(self, rows: Mapping[str, Alias]) -> dict[str, Alias | None]:
        """Put aliases beside URLs that have none; URL → what lay there already, None where that is unreadable."""
        for url in rows:
            self._at_hand.pop(url, None)
        there = self.index.attach_new(NAME, {url: alias.to_bytes() for url, alias in rows.items()})
        return {url: Alias.from_bytes(content) for url, content in there.items()}

    def detach(self, url: str) -> None:
        """A URL is not an alias, and what was said at it no longer counts."""
        self._at_hand.pop(url, None)
        self.index.detach(url, NAME)

    def kept(self, url: str) -> Entry | None:
        """The page that was kept of what came from a URL."""
        return self.index.page_at(url, self._normalizer.normalize(url).canonical, fresh=False)

    def remember(self, site: str) -> None:
        """Have later crawls know that there are aliases of a site, before there is one."""
        if not self.sites.has(site):
            self.sites.tell(site, SiteAliases())
