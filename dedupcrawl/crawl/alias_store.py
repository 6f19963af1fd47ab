"""What an index knows of aliases: beside each URL, and of each site."""

from __future__ import annotations

import logging

from scrapy.statscollectors import StatsCollector

from dedupcrawl.aliases.alias import NAME, Alias, SiteAliases
from dedupcrawl.crawl.request_meta import without_fragment
from dedupcrawl.index.contract import Index
from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.rows import Entry
from dedupcrawl.printable import printable
from dedupcrawl.sites import site_of
from dedupcrawl.urls.normalizer import Normalizer

logger = logging.getLogger(__name__)

_MOST_SITES = 100_000  # of which it is remembered what is known; then it is asked for anew


class AliasStore:
    """Where other workers and later crawls find aliases.

    Args:
        index: Where they lie.
        normalizer: The rules, under whose canonical URLs pages are kept.
        stats: Counts errors.
    """

    def __init__(self, index: Index, normalizer: Normalizer, stats: StatsCollector) -> None:
        self.index = index
        self._normalizer = normalizer
        self._stats = stats
        self._sites: dict[str, SiteAliases] = {}
        self._remembering: set[str] = set()  # sites of which the index knows that it has aliases
        self._failed = False

    def known(self, url: str) -> Alias | None:
        """What is known of a URL.

        Raises:
            OSError, IndexDamagedError: The index cannot tell.
        """
        return Alias.from_bytes(self.index.attached(without_fragment(url), NAME))

    def put(self, url: str, alias: Alias) -> None:
        """Remember an alias; where the index cannot, its URL is fetched."""
        try:
            self.remember(site_of(url))
            self.index.attach(url, NAME, alias.to_bytes())
        except (OSError, IndexDamagedError) as error:
            self.say(error)

    def kept(self, url: str) -> Entry | None:
        """The page that was kept of what came from a URL.

        Raises:
            OSError, IndexDamagedError: The index cannot tell.
        """
        found = (self.index.entry(known) for known in {url, self._normalizer.normalize(url).canonical})
        return next((one for one in found if one is not None and without_fragment(one.source) == url), None)

    def site(self, site: str) -> SiteAliases:
        """What is known of the aliases of a site; to be changed by `update` only."""
        known = self._sites.get(site)
        if known is None:
            try:
                content = self.index.site_state(site, NAME)
            except (OSError, IndexDamagedError) as error:
                self.say(error)
                return SiteAliases()  # and it is asked again: what was refuted must not come back
            if len(self._sites) >= _MOST_SITES:
                self._sites.clear()
                self._remembering.clear()
            known = self._sites[site] = SiteAliases.from_bytes(content)
            if content is not None:
                self._remembering.add(site)
        return known

    def has_some(self, site: str) -> bool:
        """True when earlier crawls, or other workers, have found out aliases of a site."""
        self.site(site)
        return site in self._remembering

    def remember(self, site: str) -> None:
        """Have later crawls know that there are aliases of a site, before there is one."""
        if not self.has_some(site):
            self.update(site, SiteAliases())
            self._remembering.add(site)

    def sites(self) -> tuple[str, ...]:
        """Those that were asked about."""
        return tuple(self._sites)

    def update(self, site: str, news: SiteAliases) -> None:
        """Add to what is known of a site."""
        self._sites[site] = self.site(site).joined(news)

        def joined(content: bytes | None) -> bytes:
            return SiteAliases.from_bytes(content).joined(news).to_bytes()

        try:
            self.index.update_site_state(site, NAME, joined)
        except (OSError, IndexDamagedError) as error:
            self.say(error)

    def say(self, error: Exception) -> None:
        """The index cannot be asked; once is enough for the log."""
        self._stats.inc_value("dedup/aliases/errors")
        if not self._failed:
            self._failed = True
            logger.error("The index cannot be asked about aliases. This is said once: %s", printable(str(error)))
