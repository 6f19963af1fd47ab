"""The aliases in an index: one beside each URL."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping

from scrapy.statscollectors import StatsCollector

from dedupcrawl.aliases.alias import NAME, Alias
from dedupcrawl.crawl.failures import INDEX_FAILS, LoggedFailures
from dedupcrawl.crawl.request_meta import without_fragment
from dedupcrawl.crawl.same_page import Look
from dedupcrawl.crawl.site_memory import SiteMemory
from dedupcrawl.index.contract import Index
from dedupcrawl.index.record import Entry
from dedupcrawl.settings import DedupSettings
from dedupcrawl.sites import owner_of
from dedupcrawl.urls.credits import NAME as CREDITS
from dedupcrawl.urls.credits import Credits

_MOST_AT_HAND = 1_000  # URLs whose rows are cached, unless more were read within FRESH_SECONDS
FRESH_SECONDS = 1.0  # how long a cached row is believed; an index on a server caches its pages for as long


class AliasStore:
    """Reads and writes aliases where other workers and later crawls find them.

    Call the methods for single URLs inside `asked`: they raise OSError or IndexDamagedError if the index fails.

    Args:
        stats: Counts errors.
        settings: Say for which sites aliases are wanted.

    Attributes:
        asked: Context that logs and counts failures of the index.
        credits: What is known of each owner: whether its URLs have aliases, and which sources were right.
    """

    def __init__(self, index: Index, stats: StatsCollector, settings: DedupSettings) -> None:
        self.index, self._settings = index, settings
        self._begun = time.time()
        self._at_hand: dict[str, tuple[float, dict[str, bytes]]] = {}  # URL → when it was read, what lies beside it
        what = "The index cannot be asked about aliases"
        self.asked = LoggedFailures(stats, "dedup/aliases/errors", what, INDEX_FAILS)
        self.credits = SiteMemory(index, CREDITS, Credits, self.asked)

    def look(self, kept: Entry) -> Look:
        """What the index knows of a kept page, for a comparison."""
        return Look.of(kept, self.index.secret)

    def known(self, *urls: str) -> Alias | None:
        """The alias of the first of these URLs for which the index has one; None if it has none."""
        forms = [without_fragment(url) for url in urls]
        self._have_at_hand(forms)
        for url in forms:
            if (alias := Alias.from_bytes(self._at_hand[url][1].get(NAME))) is not None:
                self.credits.forget_unless(owner_of(url), lambda of: of.has_aliases)
                return alias
        return None

    def beside(self, url: str) -> dict[str, bytes]:
        """What the index stores beside a URL, by name; the answer may be up to `FRESH_SECONDS` old."""
        self._have_at_hand([url])
        return self._at_hand[url][1]

    def read(self, urls: Iterable[str]) -> None:
        """Cache what lies beside these URLs for a moment, with one query for all of them."""
        wanted = [url for url in map(without_fragment, urls) if self._settings.for_url(url).alias_sources]
        with self.asked:
            self._have_at_hand(wanted)

    def _have_at_hand(self, urls: Collection[str]) -> None:
        now = time.monotonic()
        old = {url for url in urls if url not in self._at_hand or now - self._at_hand[url][0] >= FRESH_SECONDS}
        if not old:
            return
        if len(self._at_hand) >= _MOST_AT_HAND:
            self._at_hand = {url: one for url, one in self._at_hand.items() if now - one[0] < FRESH_SECONDS}
        rows = self.index.attached(old, NAME)
        self._at_hand |= {url: (now, rows.get(url, {})) for url in old}

    def put(self, url: str, alias: Alias) -> None:
        """Store an alias. If the index cannot store it, later crawls fetch the URL.

        A concurrent crawl may read the pages in another order, so that this page is the first to lead it to URLs to
        which another page led this crawl. A later crawl may skip both, so the alias gets the links of both crawls.
        """
        with self.asked:
            self._put(url)
            self.index.update_attachment(url, NAME, lambda old: self._with_links(alias, old).to_bytes())

    def _with_links(self, alias: Alias, content: bytes | None) -> Alias:
        """Add the links that this crawl, or a concurrent one, has stored before with the alias of the same URL."""
        old = Alias.from_bytes(content)
        before: tuple[bytes, ...] = ()
        if old is not None and old.spider == alias.spider and (old.run == alias.run or old.at >= self._begun):
            before = old.links
        return alias.leading_to((*before, *alias.links))

    def attach(self, url: str, name: str, data: bytes) -> None:
        self._put(url)
        self.index.attach(url, name, data)

    def attach_new(self, rows: Mapping[str, Alias]) -> dict[str, Alias | None]:
        """Store aliases beside URLs that have none; URL → the alias already there, None if it cannot be read."""
        for url in rows:
            self._put(url)
        there = self.index.attach_new(NAME, {url: alias.to_bytes() for url, alias in rows.items()})
        return {url: Alias.from_bytes(content) for url, content in there.items()}

    def detach(self, url: str) -> None:
        self._at_hand.pop(url, None)
        self.index.detach(url, NAME)

    def _put(self, url: str) -> None:
        """Record, before something is stored beside a URL, that its owner has aliases: others are not looked up."""
        if not self.credits.of(owner := owner_of(url)).has_aliases:
            self.credits.tell(owner, Credits(has_aliases=True))
        self._at_hand.pop(url, None)
