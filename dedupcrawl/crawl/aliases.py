"""Aliases while crawling: URLs that lead to a page which the crawl has, or will have, by another URL."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress

from scrapy import Request
from scrapy.http import Response, TextResponse
from w3lib.url import safe_url_string

from dedupcrawl.aliases.alias import MOST_LINKS, NAME, SAID, Alias, rule_id
from dedupcrawl.aliases.sources import DUPLICATE, ELEMENT, NAMING, REDIRECT, SOURCES, aliases_said, may_lead
from dedupcrawl.core.hash_set import HashSet
from dedupcrawl.crawl.first_referrers import FirstReferrers
from dedupcrawl.crawl.packed_request import pack_request, unpack_request
from dedupcrawl.crawl.page_elements import PageElements
from dedupcrawl.crawl.pages import FetchedPage, is_html
from dedupcrawl.crawl.parts import Parts
from dedupcrawl.crawl.request_meta import MOVED, TRIAL, Yielded, refreshed_from, without_fragment
from dedupcrawl.crawl.same_page import Look, digest_of_text
from dedupcrawl.index.record import Entry
from dedupcrawl.printable import printable
from dedupcrawl.sites import owner_of
from dedupcrawl.urls.normalized import Normalized
from dedupcrawl.verdict import Verdict

logger = logging.getLogger(__name__)

_MOST_DROPPED = 100_000  # dropped pages whose digest is remembered, some 200 bytes each
_RULES = {rule_id(source): source for source in (DUPLICATE, *SOURCES)}


class Aliases:
    """Reads the aliases that pages state, learns others during the crawl, and tells which URL to request instead.

    The index stores each alias beside its URL. An alias that only a page states is used on trial.

    Attributes:
        first_referrers: Which page was the first to lead to each URL.
    """

    def __init__(self, parts: Parts) -> None:
        self._store = parts.alias_store
        self._rules, self._settings = parts.rules, parts.settings
        self._spider, self._run, self._stats = parts.spider, parts.run, parts.stats
        self._tries, self._book = parts.tries, parts.book
        self._has_earlier = parts.index.first_id_of_run(parts.run) > 0  # no rule may lose earlier crawls' pages
        self._comparer, self._trust = parts.comparer, parts.detector.trust
        self.first_referrers = FirstReferrers()
        self._elements = PageElements()
        self._changed = HashSet()  # URLs whose page has changed since earlier crawls
        self._have_led = HashSet()  # URLs whose links were requested: their page yielded these, or their alias has them
        self._dropped: dict[bytes, str] = {}  # digest of the text of a page that was dropped in doubt → its URL

    # Which URL to request

    def follow(self, url: str) -> tuple[Normalized, bool] | None:
        """What to request instead of a URL that rules leave as it is, and whether this crawl has fetched that already.

        None if the URL has no alias that still holds.
        """
        if not self._settings.for_url(url).alias_sources:
            return None
        with self._store.asked:
            alias = self._store.known(url)
            if alias is not None and self._holds(url, alias):
                return Normalized(url, alias.target, "rewrite", (alias.rule,)), alias.run == self._run
        return None

    def count(self, rules: tuple[str, ...]) -> None:
        """Count the aliases among the rules that have just sent a URL elsewhere for the first time."""
        for rule in rules:
            if rule in _RULES:
                self._stats.inc_value(f"dedup/aliases/followed/{_RULES[rule]}")

    def links_of(self, url: str) -> list[Request]:
        """The links to which only the page at a URL led in an earlier crawl, to request them if it is not fetched."""
        alias, requests = self._remembered(url), []
        for packed in alias.links if alias is not None and alias.spider == self._spider.name else ():
            try:
                requests.append(unpack_request(packed, self._spider))
            except ValueError as error:
                logger.warning("A link of %s cannot be read: %s", printable(url), printable(str(error)))
        if requests:
            self._have_led.add(url)
        return requests

    def remembers(self, url: str) -> bool:
        """True if the index knows of aliases on the pages of this URL's owner."""
        if not self._settings.for_url(url).alias_sources:
            return False
        return self._store.credits.of(owner_of(url)).has_aliases

    def _remembered(self, url: str) -> Alias | None:
        """The alias of a URL, looked up only if the index knows of aliases of its owner."""
        with self._store.asked:
            return self._store.known(url) if self.remembers(url) else None
        return None

    def found_out(self, url: str) -> str | None:
        """The URL of the page that an earlier crawl got when it fetched this URL; None if that is not known."""
        alias = self._remembered(url)
        if alias is None or not alias.was_found_out or alias.run == self._run:
            return None
        with self._store.asked:
            return alias.target if self._holds(url, alias) else None
        return None

    def are_two_pages(self, url: str, other: str) -> bool:
        """Whether earlier crawls have kept a page at `url`, and a different page at `other` or where that leads."""
        if not self._has_earlier or not self._settings.for_url(url).alias_sources:
            return False
        with self._store.asked:
            own = self._page_at(url)
            if own is None or own.run == self._run or own.spider != self._spider.name or self.found_out(url):
                return False
            led_to = self._page_at(self.found_out(other) or other)
            if led_to is not None and led_to.source != own.source:
                return self._comparer.are_two(self._store.look(own), self._store.look(led_to))
        return False

    def has_changed(self, url: str, page: FetchedPage) -> bool:
        """Whether a page has changed since earlier crawls, so that their aliases that lead to it no longer hold.

        Call this before the page is judged, while the index still has its earlier version.
        """
        kept = earlier_digest = None
        with self._store.asked:
            kept = self._page_at(url) if self._has_earlier else None
            earlier_digest = self._store.beside(url).get(SAID) if kept is None else None
        now = page.analyse()
        if kept is None:
            if earlier_digest is None or earlier_digest == digest_of_text(now):
                return False
        elif kept.run == self._run:
            return False
        elif self._comparer.same_page(self._store.look(kept), Look.at(now)) is not False:
            page.is_update = True
            return False
        self._changed.add(url)
        self._stats.inc_value("dedup/aliases/changed")
        return True

    def leads_to_element(self, link: str) -> bool:
        """Whether a link leads to an element of a page; if the crawl has that page, the link becomes its alias."""
        url = without_fragment(link)
        if ELEMENT not in self._settings.for_url(url).alias_sources:
            return False
        page = self._elements.page_of(link)
        if page and page != url and ELEMENT in self._tried(url) and may_lead(url, page):
            self._keep(page, {url: ELEMENT})
        return page is not None

    # What pages state

    def stated(self, request: Request, response: Response, page: FetchedPage) -> dict[str, str] | None:
        """Other URLs that a fetched page states as its own → the source that states them; None if nobody asks."""
        wanted = self._settings.for_url(response.url).alias_sources
        if not wanted or response.status != 200 or request.meta.get("dedup_skip"):
            return None
        return self._said_by(without_fragment(response.url), response, page) if is_html(response) else {}

    def instead(self, url: str, stated: dict[str, str]) -> list[tuple[str, str]]:
        """(URL, source) of what to keep in place of the page at `url`, as DEDUP_KEEP says, the best source first.

        The URLs are as the page states them, so that the mistakes of rules are not blamed on it.
        """
        if self._settings.for_url(url).keep != "canonical":
            return []
        ahead = [one for one in reversed(stated.items()) if may_lead(url, one[0])]
        by = {source: other for other, source in ahead if self._by_rules(other) != url}
        return [(by[source], source) for source in NAMING if source in by]

    def store(self, request: Request, response: Response, page: FetchedPage, stated: dict[str, str]) -> None:
        """Store the aliases that a fetched page states, and the meta refresh that led to it."""
        url = without_fragment(response.url)
        fetched_too = {other for other, _ in self.instead(url, stated)} if TRIAL in request.meta else ()
        sources = {other: source for other, source in stated.items() if other not in fetched_too}
        back = [one for one in reversed(sources.items()) if may_lead(one[0], url)]
        made = ((self._by_rules(other), source) for other, source in back)
        leading_here = {other: source for other, source in made if may_lead(other, url)}  # the first source counts
        follows_redirects = REDIRECT in self._settings.for_url(url).alias_sources
        before = refreshed_from(request) if follows_redirects else ""
        if before and may_lead(before, url):
            leading_here[before] = REDIRECT
        leading_here.pop(url, None)
        if leading_here:
            page.named = frozenset(sources for sources, source in leading_here.items() if source in NAMING)
            page.contested = self._keep(url, leading_here)

    def _said_by(self, url: str, response: TextResponse, page: FetchedPage) -> dict[str, str]:
        """Other URLs that a page states as its own, as Scrapy would request them → the source that states them."""
        names = (name for name in ("link", "content-location") if name in response.headers)
        headers = {name: [value.decode("latin-1") for value in response.headers.getlist(name)] for name in names}
        facts = page.facts(response)
        sources, wanted = dict[str, str](), self._tried(url)
        linked = self._elements.links_to(url, facts) if ELEMENT in wanted else ()
        for other, source in aliases_said(url, facts, headers, wanted, linked).items():
            with suppress(ValueError):  # half a surrogate pair in JSON, or an invalid port
                is_plain = other.isascii() and " " not in other
                sources[other if is_plain else safe_url_string(other, response.encoding)] = source
        return sources

    def _by_rules(self, url: str) -> str:
        return self._rules.fetchable(url).canonical

    def lead_on(self, url: str, named: str, source: str) -> None:
        """Store `url` as an alias of the canonical URL that its page states, which is about to be requested."""
        self._store.put(url, Alias(named, source, self._spider.name, "", time.time()))

    def _tried(self, url: str) -> frozenset[str]:
        """The chosen sources that trials have not refuted on the pages of a URL's owner."""
        if not self._tries:
            return frozenset()
        owner, wanted = owner_of(url), self._settings.for_url(url).alias_sources
        wrong = self._store.credits.of(owner).refuted.keys() | self._book.revoked(owner)
        return frozenset(one for one in wanted if rule_id(one) not in wrong) if wrong else wanted

    def moved(self, request: Request, status: int, target: str) -> None:
        """Store the alias that a permanent redirect states: if the crawl has its target, no response will follow."""
        url, target = without_fragment(request.url), without_fragment(target)
        if status not in MOVED or REDIRECT not in self._settings.for_url(url).alias_sources:
            return
        if target != url and may_lead(url, target):
            self._keep(target, {url: REDIRECT})

    def _keep(self, url: str, sources: dict[str, str]) -> dict[str, str]:
        """Store what a page states; returns each URL that another page of this crawl states, too → that page's URL."""
        who, now = (self._spider.name, self._run), time.time()
        rows = {other: Alias(url, source, *who, now) for other, source in sources.items()}
        with self._store.asked:
            own = self._store.known(url)
            if own is not None:  # two pages name each other: only one of them may be an alias
                rows.pop(own.target, None)
            there = self._store.attach_new(rows)
            contested = {other: old.target for other, old in there.items() if old and rows[other].contests(old)}
            for other, old in there.items():
                if old and rows[other].replaces(old):
                    new = rows[other].leading_to(old.links if old.target == url else ())
                    self._store.attach(other, NAME, new.to_bytes())
            for source in sources.values():
                self._stats.inc_value(f"dedup/aliases/said/{source}")
            return contested
        return {}

    def _dispute(self, page: FetchedPage, keeper: str) -> Iterator[str]:
        """Void the aliases that this page and a different one both state, and yield their URLs: they must be fetched.

        `keeper` is the URL of the page that `page` duplicates, or its own.
        """
        contested, page.contested = page.contested, {}
        for named, target in contested.items():
            other = self._store.known(target)
            if keeper in (target, named) or (other is not None and other.target == keeper):
                continue
            kept = self._page_at(target) if page.is_update else None  # compared only with its older version
            if kept is not None and self._comparer.same_page(Look.at(page.analyse()), self._store.look(kept)):
                continue
            void = Alias("", "", self._spider.name, self._run, time.time())
            self._store.attach(named, NAME, void.to_bytes())
            self._stats.inc_value("dedup/aliases/disputed")
            logger.debug("%s is named by %s and by %s", *map(printable, (named, target, page.url)))
            yield named

    # What a crawl finds out by itself

    def settle(self, page: FetchedPage) -> list[str]:
        """Store the URL of a judged page, whose callback has ended, as an alias of the page that it duplicates.

        Returns:
            URLs that have to be fetched, because two pages state them as their own.
        """
        verdict, links = page.verdict, page.links
        settings = self._settings.for_url(page.url)
        if links is None or not settings.alias_sources or (verdict is None and page.on_their_way):
            return []
        url, page.links = page.url, None
        are_all = url not in self._have_led
        if not are_all:  # no other page led to its earlier links; if they are forgotten, its links are incomplete
            before = [*map(Yielded.of, self.links_of(url))]
            links, are_all = [*before, *links], bool(before)
        elif (alias := self._remembered(url)) is not None and alias.run == self._run:  # of an earlier process
            links = [*map(Yielded.of, self.links_of(url)), *links]
        elif links:
            self._have_led.add(url)
        are_all = are_all and len(links) <= MOST_LINKS
        disputed: list[str] = []
        with self._store.asked:
            keeper = verdict.duplicate_of if verdict is not None else None
            disputed += self._dispute(page, without_fragment(keeper or url))
            if verdict is None:
                return disputed  # no item of this page was judged, or will be
            drops = verdict.duplicate_of and settings.action == "drop" and verdict.url == url
            if drops and are_all and (same := self._same_page(page, verdict)):
                self._learn(url, same, links)
            elif self.remembers(url) and NAME in self._store.beside(url):
                self._store.detach(url)  # it leads to a page of its own now
        return disputed

    def _same_page(self, page: FetchedPage, verdict: Verdict) -> str | None:
        """The URL that surely leads to the same page as a dropped one; None if there is none yet.

        It is the URL of the page that the dropped one duplicates, if the verdict is sure or one page states the URL of
        the other as its own. Otherwise it is that of another page that was dropped in doubt and has exactly the same
        text: later crawls need to fetch only one of these two.
        """
        keeper = without_fragment(verdict.duplicate_of or "")
        alias = self._store.known(page.url)
        if verdict.is_sure or keeper in page.named or (alias is not None and alias.target == keeper):
            return keeper
        digest = digest_of_text(page.analyse())
        first = self._dropped.get(digest)
        if first is None and len(self._dropped) < _MOST_DROPPED:
            self._dropped[digest] = page.url
        elif first is not None and first != page.url and self._trust.may_replace(first, page.url):
            self._store.attach(first, SAID, digest)
            return first
        return None

    def _learn(self, url: str, keeper: str, links: Sequence[Yielded]) -> None:
        if url == keeper or not self._trust.may_replace(keeper, url):
            return  # `keeper` belongs to a stranger, whose page may differ from this one in later crawls
        try:
            packed = tuple(pack_request(link.again(), self._spider) for link in links)
        except ValueError:
            self._stats.inc_value("dedup/aliases/unpacked")  # a link cannot be stored, so later crawls fetch the page
            self._store.detach(url)  # the alias of a concurrent crawl, in which other pages led to that link
            return
        back = self._store.known(keeper)
        if back is not None and back.target == url:
            self._store.detach(keeper)
        self._store.put(url, Alias(keeper, DUPLICATE, self._spider.name, self._run, time.time(), packed))
        self._stats.inc_value("dedup/aliases/found")

    def _page_at(self, url: str) -> Entry | None:
        return self._store.index.page_at(url, self._rules.identity(url), fresh=False)

    def _holds(self, url: str, alias: Alias) -> bool:  # noqa: PLR0911 - a reason each
        settings = self._settings.for_url(url)
        if not alias.target or alias.spider != self._spider.name or alias.target in self._changed:
            return False
        if not alias.was_found_out and (not self._tries or alias.source not in settings.alias_sources):
            return False
        if alias.rule in self._store.credits.of(owner_of(url)).refuted:
            return False
        if not alias.was_found_out and self._page_at(url) is not None:
            return False  # a page was kept at this very URL
        if alias.run == self._run:
            return True
        if settings.ttl is not None and alias.at < time.time() - settings.ttl:
            return False
        if self._store.index.is_restored(url) or self._store.index.is_restored(alias.target):
            return False
        is_there = alias.source != DUPLICATE or self._page_at(alias.target) is not None
        return is_there or SAID in self._store.beside(alias.target)
