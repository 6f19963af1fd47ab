"""Falls: rewritten requests are sent as the spider made them when the reason for the rewrite no longer holds.

The remaining rules may rewrite them again, in `Rewriter.rewrite`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import partial

from scrapy import Request

from dedupcrawl.crawl.parts import Parts
from dedupcrawl.crawl.request_meta import GIVEN_BACK, untouched
from dedupcrawl.index.record import Rewrite
from dedupcrawl.sites import owner_of, site_of
from dedupcrawl.urls.rule_book import Ruling

_WRONG = "a trial spoke against the rule, or against its canonical URL"


class Falls:
    """Sends rewritten requests as the spider made them, once each."""

    def __init__(self, parts: Parts) -> None:
        self._parts, self._fetched, self._rewrites = parts, parts.fetched, parts.rewrites

    def fall(self, targets: Collection[str], rulings: Mapping[str, Ruling] | None = None, why: str = _WRONG) -> None:
        """Send the requests that were rewritten to `targets`, or anywhere by wrong rules, as the spider made them.

        `rulings` says which rules are wrong: by owner, or by site for all its owners.
        """
        if targets or rulings:
            self._parts.owed.do(partial(self._fall, targets, rulings or {}, why))

    def _fall(self, targets: Collection[str], rulings: Mapping[str, Ruling], why: str) -> None:
        book, rules = self._parts.book, self._parts.rules

        def is_fallen(use: Rewrite) -> bool:  # rules of two sites may have one id
            if self._fetched.has_page_of(use.url):
                return False
            ruling = rulings.get(owner_of(use.url)) or rulings.get(site_of(use.url), Ruling())
            restricted = set(ruling.restricted).intersection(use.rules)
            return (
                use.canonical in targets
                or not set(ruling.revoked).isdisjoint(use.rules)
                or book.is_off(use.url, use.rules)
                or not restricted.issubset(rules.normalize(use.url).rules)
            )

        wrong = {(site_of(of), rule) for of, one in rulings.items() for rule in (*one.revoked, *one.restricted)}
        for target in targets:
            self._rewrites.refute(target)
        uses = list(filter(is_fallen, self._rewrites.found(targets, wrong)))
        self.give_back(map(self._rewrites.request, uses), why)

    def fetch_itself(self, url: str, why: str) -> None:
        """Fetch a URL as it is, past all rules, if it was rewritten: it may lead to a page of its own."""
        self._parts.owed.do(partial(self._fetch_itself, url, why))

    def _fetch_itself(self, url: str, why: str) -> None:
        use = self._rewrites.of(url)
        if use is not None and not self._fetched.has(url):
            request = untouched(self._rewrites.request(use))
            self._parts.savings.fall_back([request], why)
            self._give_back([request])

    def give_back(self, requests: Iterable[Request], why: str) -> None:
        """Send these requests as the spider made them; the remaining rules may rewrite them again."""
        bare = [untouched(request) for request in requests]
        self._give_back([one.replace(meta={**one.meta, GIVEN_BACK: why}) for one in bare])

    def _give_back(self, requests: Iterable[Request]) -> None:
        wanted = [request for request in requests if not self._fetched.has_page_of(request.url)]
        for request in () if self._parts.sending.is_over else wanted:
            self._fetched.given_back.add(request.url)
            self._parts.sending.schedule(self._parts.bypass.admit(request))
