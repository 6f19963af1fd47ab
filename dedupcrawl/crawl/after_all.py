"""After all: URLs that rules sent elsewhere are asked for once more when it shows that rules were, or may be, wrong.

They are fetched as they were asked for, unless other rules still make another URL of them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from scrapy import Request

from dedupcrawl.crawl.failures import INDEX_FAILS
from dedupcrawl.crawl.parts import Parts
from dedupcrawl.crawl.request_meta import untouched, without_fragment
from dedupcrawl.crawl.url_set import UrlSet
from dedupcrawl.index.record import Rewrite
from dedupcrawl.sites import owner_of, site_of
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
        self._owed: list[Callable[[], None]] = []  # what the index could not tell
        self._refusals = 0

    def is_fetched(self, url: str) -> bool:
        """True when a URL is, or was, fetched as it was asked for."""
        bare = without_fragment(url)
        return url in self._tried or bare in self.given_back or bare in self.answered

    def fetch_itself(self, url: str, why: str) -> None:
        """A URL may lead to another page than that which was asked for instead, if any was."""
        try:
            rewrite = self._parts.rewrites.of(url)
        except INDEX_FAILS:
            logger.exception("The index cannot tell where a URL was sent; it will be asked again.")
            self._owed.append(partial(self.fetch_itself, url, why))
            return
        if rewrite is not None:
            request = untouched(self._parts.rewrites.request(rewrite))
            self._fetch([(request, request)], why)

    def fetch(self, targets: set[str], rulings: Mapping[str, Ruling]) -> None:
        """Fetch what was sent to `targets`, or sent anywhere by a wrong rule (by owner, or by site where it is all).

        What the index cannot be asked for now is asked for again when nothing else is left to do.
        """
        book, rewrites, normalizer = self._parts.book, self._parts.rewrites, self._parts.normalizer

        def is_lost(rewrite: Rewrite) -> bool:  # rules of two sites may have one id
            ruling = rulings.get(owner_of(rewrite.url)) or rulings.get(site_of(rewrite.url), Ruling())
            restricted = set(ruling.restricted).intersection(rewrite.rules)
            is_by_wrong = (
                not set(ruling.revoked).isdisjoint(rewrite.rules)
                or book.is_off(rewrite.url, rewrite.rules)
                or not restricted.issubset(normalizer.normalize(rewrite.url).rules)
            )
            return (rewrite.canonical in targets or is_by_wrong) and not self.is_fetched(rewrite.url)

        wrong = {rule for ruling in rulings.values() for rule in (*ruling.revoked, *ruling.restricted)}
        for target in targets:
            rewrites.refute(target)
        after_all = list[Request]()
        try:
            after_all += map(rewrites.request, filter(is_lost, rewrites.found(targets, wrong)))
        except INDEX_FAILS:
            logger.exception("The index cannot tell what a wrong rule has cost; it will be asked again.")
            self._owed.append(partial(self.fetch, targets, rulings))
        self.fetch_instead(after_all, "a trial spoke against the rule, or against its canonical URL")

    def fetch_instead(self, requests: Iterable[Request], why: str) -> None:
        """Fetch what was sent elsewhere, as it was asked for, or what rules that are left make of it."""
        self._fetch([self._by_others(untouched(request)) for request in requests], why)

    def fetch_owed(self) -> bool:
        """Nothing more is being fetched: ask the index again; False when it is to be asked once more."""
        owed, self._owed = self._owed, []
        for ask in owed:
            ask()
        self._refusals += bool(self._owed)
        return not self._owed or self._refusals > _MOST_REFUSALS

    def _by_others(self, request: Request) -> tuple[Request, Request]:
        """A request, and what rules that are left, and that something speaks for, make of it."""
        rules = self._parts.normalizer.normalize(request.url).rules
        is_left = self.is_fetched(request.url) or not self._parts.book.is_backed(request.url, rules)
        return request, request if is_left else self.rewrite(request)

    def _fetch(self, requests: Iterable[tuple[Request, Request]], why: str) -> None:
        """Fetch requests as they are, or what they have become: these come last, for they may be sent to the former."""
        asked = [(request, sent) for request, sent in requests if not self.is_fetched(request.url)]
        wanted = [request for request, sent in asked if sent is request]
        self._parts.savings.fall_back(wanted, why)
        for request in wanted:
            self.given_back.add(request.url)
            self._parts.sending.schedule(self._parts.bypass.let_by(request))
        for request, sent in asked:
            if sent is not request:
                self._parts.sending.schedule(sent)
