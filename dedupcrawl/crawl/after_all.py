"""After all: URLs that rules sent elsewhere are asked for once more when it shows that the rules were wrong.

They are fetched as they were asked for, unless other rules still make another URL of them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from scrapy import Request

from dedupcrawl.crawl.parts import Parts
from dedupcrawl.crawl.request_meta import UrlSet, untouched, without_fragment
from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.rows import Rewrite
from dedupcrawl.sites import site_of
from dedupcrawl.urls.rule_book import Ruling

logger = logging.getLogger(__name__)

_MOST_REFUSALS = 20  # of an index, at times when nothing else is left to do; some minutes


class AfterAll:
    """Knows which URLs are, or were, fetched as they were asked for, and sees to others; to each once.

    Args:
        tried: URLs that are fetched because they are tried.

    Attributes:
        given_back: URLs that are fetched because rules were wrong to send them elsewhere.
        answered: URLs whose page the spider gets, or has had.
        rewrite: Gives what rules make of a request, or that itself.
    """

    def __init__(self, parts: Parts, tried: UrlSet) -> None:
        self._parts = parts
        self._tried, self.given_back, self.answered = tried, UrlSet(), UrlSet()
        self.rewrite: Callable[[Request], Request] = lambda request: request
        self._owed: list[tuple[set[str], Mapping[str, Ruling]]] = []  # what the index could not tell
        self._refusals = 0

    def is_fetched(self, url: str) -> bool:
        """True when a URL is, or was, fetched as it was asked for."""
        bare = without_fragment(url)
        return url in self._tried or bare in self.given_back or bare in self.answered

    def fetch_itself(self, url: str) -> None:
        """A URL may lead to another page than that which was asked for instead."""
        if (rewrite := self._parts.rewrites.of(url)) is not None:
            self._fetch([self._parts.rewrites.request(rewrite)], "two pages name it as their own")

    def revoke(self, site: str, rules: Collection[str]) -> None:
        """Fetch what these rules of a site had a part in sending elsewhere."""
        self.fetch(set(), {site: Ruling(revoked=tuple(rules))})

    def fetch(self, targets: set[str], rulings: Mapping[str, Ruling]) -> None:
        """Fetch what was sent to `targets`, or sent anywhere by a wrong rule (by site).

        What the index cannot be asked for now is asked for again when nothing else is left to do.
        """
        book, rewrites = self._parts.book, self._parts.rewrites

        def is_lost(rewrite: Rewrite) -> bool:  # rules of two sites may have one id
            revoked = rulings.get(site_of(rewrite.url), Ruling()).revoked
            is_by_wrong = not set(revoked).isdisjoint(rewrite.rules) or book.is_off(rewrite.url, rewrite.rules)
            return (rewrite.canonical in targets or is_by_wrong) and not self.is_fetched(rewrite.url)

        wrong = {rule for ruling in rulings.values() for rule in (*ruling.revoked, *ruling.restricted)}
        after_all = {waited.url: waited for target in targets for waited in self._parts.pending.refute(target)}
        try:
            for rewrite in filter(is_lost, rewrites.found(targets, wrong)):
                self._parts.pending.release(rewrite.canonical, rewrite.url)
                after_all.setdefault(rewrite.url, rewrites.request(rewrite))
        except (OSError, IndexDamagedError):
            logger.exception("The index cannot tell what a wrong rule has cost; it will be asked again.")
            self._owed.append((targets, rulings))
        self._fetch(self._send_on(after_all.values()), "a trial spoke against the rule, or against its canonical URL")

    def fetch_owed(self) -> bool:
        """Nothing more is being fetched: ask the index again; False when it is to be asked once more."""
        owed, self._owed = self._owed, []
        for targets, rulings in owed:
            self.fetch(targets, rulings)
        self._refusals += bool(self._owed)
        return not self._owed or self._refusals > _MOST_REFUSALS

    def _send_on(self, requests: Iterable[Request]) -> Iterator[Request]:
        """Send on what the rules that are left make another URL of; the others."""
        for request in map(untouched, requests):
            sent = request if self.is_fetched(request.url) else self.rewrite(request)
            if sent is request:
                yield request
            else:
                self._parts.sending.schedule(sent)

    def _fetch(self, requests: Iterable[Request], why: str) -> None:
        wanted = [request for request in requests if not self.is_fetched(request.url)]
        self._parts.savings.fall_back(wanted, why)
        for request in wanted:
            self.given_back.add(request.url)
            self._parts.sending.schedule(self._parts.bypass.let_by(untouched(request)))
