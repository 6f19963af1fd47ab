"""After all: URLs that rules sent elsewhere are asked for once more when it shows that rules were, or may be, wrong.

They are fetched as they were asked for, unless other rules still make another URL of them. Of earlier uses of rules
some are tried afterwards: nobody knew then what was to be known.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice

from scrapy import Request

from dedupcrawl.crawl.failures import INDEX_FAILS
from dedupcrawl.crawl.parts import Parts
from dedupcrawl.crawl.request_meta import untouched, without_fragment
from dedupcrawl.crawl.same_page import Look
from dedupcrawl.crawl.trials import Trial
from dedupcrawl.crawl.url_set import UrlSet, key_of
from dedupcrawl.index.record import Rewrite
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
        """Fetch what was sent to `targets`, or sent anywhere by a wrong rule (by site).

        What the index cannot be asked for now is asked for again when nothing else is left to do.
        """
        book, rewrites, normalizer = self._parts.book, self._parts.rewrites, self._parts.normalizer

        def is_lost(rewrite: Rewrite) -> bool:  # rules of two sites may have one id
            ruling = rulings.get(site_of(rewrite.url), Ruling())
            restricted = set(ruling.restricted).intersection(rewrite.rules)
            is_by_wrong = (
                not set(ruling.revoked).isdisjoint(rewrite.rules)
                or book.is_off(rewrite.url, rewrite.rules)
                or not restricted.issubset(normalizer.normalize(rewrite.url).rules)
            )
            return (rewrite.canonical in targets or is_by_wrong) and not self.is_fetched(rewrite.url)

        wrong = {rule for ruling in rulings.values() for rule in (*ruling.revoked, *ruling.restricted)}
        after_all = {waited.url: waited for target in targets for waited in self._parts.pending.refute(target)}
        try:
            for rewrite in filter(is_lost, rewrites.found(targets, wrong)):
                self._parts.pending.release(rewrite.canonical, rewrite.url)
                after_all.setdefault(rewrite.url, rewrites.request(rewrite))
        except INDEX_FAILS:
            logger.exception("The index cannot tell what a wrong rule has cost; it will be asked again.")
            self._owed.append(partial(self.fetch, targets, rulings))
        left = {url: self._by_others(untouched(request)) for url, request in after_all.items()}
        self._fetch(left.values(), "a trial spoke against the rule, or against its canonical URL")

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


_OTHERS = 4
"""URLs that are tried for each one that was shown to lead to another page than the canonical URL that they share.
Set by hand: where half of them lead to other pages, none of four does one time in sixteen."""


@dataclass(eq=False)
class EarlierUses:
    """Looks up what rules were used on, and tries what is wanted of it and nobody has fetched as it is by now.

    Attributes:
        parts: Of the crawl.
        after_all: Knows what is fetched.
        was_tried: Whether an earlier crawl knows which page a URL leads to.
        begin: Begins a trial, of a request as it was asked for.
    """

    parts: Parts
    after_all: AfterAll
    was_tried: Callable[[Rewrite], bool]
    begin: Callable[[Trial, Request], None]

    def try_others(self, failed: Trial) -> None:
        """A canonical URL stood for a page that nobody had: of what else was sent there a few are tried, and so on.

        Where each of them is another page, each leads to further ones, until all are fetched or the rules are revoked.
        """

        def is_used(use: Rewrite) -> bool:
            return not self.parts.book.is_off(use.url, use.rules)

        if not self._try(is_used, targets=[failed.canonical], most=_OTHERS, found=failed.found):
            self.after_all.fetch({failed.canonical}, {})

    def try_what_is_wanting(self) -> None:
        """Trials that are still wanted are made of URLs that were rewritten before, now that no others come.

        While a trial was under way the rule was in use, perhaps on all URLs that it is wrong for.
        """

        def is_wanted(use: Rewrite) -> bool:
            return self.parts.book.is_wanting(use.url, use.rules) and not self.was_tried(use)

        self._try(is_wanted, rules={rule for rules in self.parts.book.in_doubt().values() for rule in rules})
        self._make_up()
        self._try_last()

    def _make_up(self) -> None:
        """For trials that told nothing others are made, of canonical URLs that are there and of what nobody knows."""
        for (site, rule), missing in self.parts.book.untold().items():

            def tells(use: Rewrite, site: str = site) -> bool:
                is_of_use = site_of(use.url) == site and not self.parts.book.is_off(use.url, use.rules)
                is_there = is_of_use and not self.parts.pending.is_refuted(use.canonical)
                return is_there and not self.was_tried(use)

            self._try(tells, rules=[rule], most=missing)

    def _try_last(self) -> None:
        """What was used often since it was last tried is tried on its last use: the site may have changed meanwhile."""
        try:
            uses = [use for url in sorted(self.parts.book.last_uses()) if (use := self.parts.rewrites.of(url))]
        except INDEX_FAILS:
            logger.exception("The index cannot tell what was rewritten last, so that it could be tried.")
            return
        for use in uses:
            if not self.after_all.is_fetched(use.url) and not self.was_tried(use):
                self.begin(Trial(use.url, use.canonical, use.rules), self.parts.rewrites.request(use))

    def _try(
        self,
        is_wanted: Callable[[Rewrite], bool],
        *,
        targets: Collection[str] = (),
        rules: Collection[str] = (),
        most: int | None = None,
        found: Look | None = None,
    ) -> bool:
        """Try what was sent to `targets`, or by these rules, and nobody has fetched as it is by now.

        In an order that is not theirs. False when the index cannot tell.
        """
        try:
            uses = sorted(self.parts.rewrites.found(targets, rules), key=lambda use: key_of(use.url))
        except INDEX_FAILS:
            logger.exception("The index cannot tell what else was rewritten, so that it could be tried.")
            return False
        wanted = (use for use in uses if not self.after_all.is_fetched(use.url) and is_wanted(use))
        for use in islice(wanted, most):
            self.begin(Trial(use.url, use.canonical, use.rules, found=found), self.parts.rewrites.request(use))
        return True
