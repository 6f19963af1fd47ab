"""Aliases while crawling: URLs that lead to a page which the crawl has, or will have, by another URL."""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

import msgspec
from scrapy import Request
from scrapy.http import Response, TextResponse
from w3lib.url import safe_url_string

from dedupcrawl.aliases.alias import MOST_LINKS, NAME, SAID, Alias, SiteAliases, rule_id
from dedupcrawl.aliases.sources import DUPLICATE, NAMING, REDIRECT, SOURCES, aliases_said, may_lead
from dedupcrawl.core.hash_set import HashSet
from dedupcrawl.crawl.first_referrers import FirstReferrers
from dedupcrawl.crawl.packed_request import pack_request, unpack_request
from dedupcrawl.crawl.pages import FetchedPage, is_html
from dedupcrawl.crawl.parts import Parts
from dedupcrawl.crawl.request_meta import MOVED, TRIAL, Yielded, refreshed_from, without_fragment
from dedupcrawl.crawl.same_page import Look, digest_of_text, is_kept_with_lines_beside, same_page
from dedupcrawl.detection.provisional import MOST_PROVISIONAL
from dedupcrawl.index.record import Entry
from dedupcrawl.printable import printable
from dedupcrawl.sites import owner_of
from dedupcrawl.urls.normalized import Normalized
from dedupcrawl.urls.watched_rule import TrialRecord
from dedupcrawl.verdict import Verdict

logger = logging.getLogger(__name__)

_MOST_DROPPED = 100_000  # pages whose text is remembered, some 200 bytes each
_MOST_KEPT = 10_000  # links of the pages that were kept last, 1.1 KB each
InsteadOf = Callable[[Request, str, str], Request | None]
_RULES = {rule_id(source): source for source in (DUPLICATE, *SOURCES)}


class Aliases:
    """Reads what pages say of URLs, remembers what this crawl finds out, and tells which URL to ask for instead.

    Everything lies beside the URL in the index. What is said is used on trial only.

    Attributes:
        first_referrers: Which pages were the first to lead to others.
    """

    def __init__(self, parts: Parts) -> None:
        self._store = parts.alias_store
        self._rules, self._settings = parts.rules, parts.settings
        self._spider, self._run, self._stats = parts.spider, parts.run, parts.stats
        self._tries, self._book = parts.tries, parts.book
        self._has_earlier = parts.index.first_id_of_run(parts.run) > 0  # whose pages a rule must not lose
        self._template_of, self._trust = parts.detector.template_of, parts.detector.trust
        self.first_referrers = FirstReferrers()
        self._changed = HashSet()  # whose page is another than in earlier crawls
        self._kept: OrderedDict[str, list[Yielded]] = OrderedDict()  # URLs of the last pages → what only they led to
        self._links_kept = 0
        self._have_led = HashSet()  # URLs whose links were asked for already: found on their page, or in its name
        self._dropped: dict[bytes, str] = {}  # digest of the text of a page that was not surely dropped → its URL

    # Which URL to ask for

    def follow(self, url: str) -> tuple[Normalized, bool] | None:
        """What to ask for instead of a URL that rules leave as it is, and whether this crawl has fetched that already.

        None where nothing is known, or nothing that still holds.
        """
        if not self._settings.for_url(url).alias_sources:
            return None
        with self._store.asked:
            alias = self._store.known(url, self._rules.normalize(url).canonical)
            if alias is not None and self._holds(url, alias):
                return Normalized(url, alias.target, "rewrite", (alias.rule,)), alias.run == self._run
        return None

    def count(self, rules: tuple[str, ...]) -> None:
        """A URL is sent elsewhere, for the first time."""
        for rule in rules:
            if rule in _RULES:
                self._stats.inc_value(f"dedup/aliases/followed/{_RULES[rule]}")

    def links_of(self, url: str) -> list[Request]:
        """What only the page at a URL led to in an earlier crawl; to be asked for when that page is not fetched."""
        alias, found = self._remembered(url), []
        for packed in alias.links if alias is not None and alias.spider == self._spider.name else ():
            try:
                found.append(unpack_request(packed, self._spider))
            except ValueError as error:
                logger.warning("A link of %s cannot be read: %s", printable(url), printable(str(error)))
        if found:
            self._have_led.add(url)
        return found

    def remembers(self, url: str) -> bool:
        """True when earlier crawls, or other workers, have found out aliases of this owner."""
        if not self._settings.for_url(url).alias_sources:
            return False
        return self._store.owners.has(owner_of(url))

    def _remembered(self, url: str) -> Alias | None:
        """What is known of a URL, where anything is known of its owner."""
        with self._store.asked:
            return self._store.known(url) if self.remembers(url) else None
        return None

    def found_out(self, url: str) -> str | None:
        """The URL of the page that an earlier crawl found when it fetched this one; None where that is not known."""
        alias = self._remembered(url)
        if alias is None or not alias.was_found_out or alias.run == self._run:
            return None
        with self._store.asked:
            return alias.target if self._holds(url, alias) else None
        return None

    def are_two_pages(self, url: str, other: str) -> bool:
        """Whether earlier crawls have kept a page at a URL, and who asks for the other one gets another page."""
        if not self._has_earlier or not self._settings.for_url(url).alias_sources:
            return False
        with self._store.asked:
            own = self._page_at(url)
            if own is None or own.run == self._run or own.spider != self._spider.name or self.found_out(url):
                return False
            led_to = self._page_at(self.found_out(other) or other)
            if led_to is not None and led_to.source != own.source:
                return same_page(self._store.look(own), self._store.look(led_to), self._template_of) is False
        return False

    def has_changed(self, url: str, page: FetchedPage) -> bool:
        """Whether a page is another than in earlier crawls, which tell then nothing of what else leads there.

        Asked before the page is judged, when the index still has the earlier one.
        """
        kept = said = None
        with self._store.asked:
            kept = self._page_at(url) if self._has_earlier else None
            said = self._store.beside(url).get(SAID) if kept is None else None
        now = page.analyse()
        if kept is None:
            if said is None or said == digest_of_text(now):
                return False
        elif kept.run == self._run:
            return False
        else:
            is_same = same_page(self._store.look(kept), Look.at(now), self._template_of) is not False
            if is_same or is_kept_with_lines_beside(kept.outline, now):
                page.is_update = True
                return False
        self._changed.add(url)
        self._stats.inc_value("dedup/aliases/changed")
        return True

    # What pages say

    def look(self, request: Request, response: Response, page: FetchedPage, instead_of: InsteadOf) -> Request | None:
        """A page has come: what does it say of other URLs, and which redirect led to it?

        Of a request whose page names a URL as its own, `instead_of` tells what to ask for in its place, if anything: it
        is given that URL, and who names it.

        Returns:
            The request for the URL that it would be known by, where that one is to be kept in its place (DEDUP_KEEP).
        """
        settings = self._settings.for_url(response.url)
        if not settings.alias_sources or response.status != 200 or request.meta.get("dedup_skip"):
            return None
        url = without_fragment(response.url)
        said = self._said_by(url, response, page) if is_html(response) else {}
        if settings.keep == "canonical":
            ahead = [one for one in reversed(said.items()) if may_lead(url, one[0])]
            by = {source: other for other, source in ahead if self._by_rules(other) != url}
            for source in (one for one in NAMING if one in by):  # its very words, so that no rule's mistake is theirs
                if (instead := instead_of(request, by[source], source)) is not None:
                    return instead
                if TRIAL in request.meta:  # the other is being fetched, too
                    del said[by[source]]
        back = [one for one in reversed(said.items()) if may_lead(one[0], url)]
        made = ((self._by_rules(other), source) for other, source in back)
        found = {other: source for other, source in made if may_lead(other, url)}  # the first counts
        before = refreshed_from(request) if REDIRECT in settings.alias_sources else ""
        if before and may_lead(before, url):
            found[before] = REDIRECT
        found.pop(url, None)
        if found:
            page.named = frozenset(said for said, source in found.items() if source in NAMING)
            page.contested = self._keep(url, found)
        return None

    def _said_by(self, url: str, response: TextResponse, page: FetchedPage) -> dict[str, str]:
        """Other URLs that a page says lead to itself, as they would be asked for, and who says so."""
        names = (name for name in ("link", "content-location") if name in response.headers)
        headers = {name: [value.decode("latin-1") for value in response.headers.getlist(name)] for name in names}
        found = {}
        for said, source in aliases_said(url, page.facts(response), headers, self._tried(url)).items():
            with suppress(ValueError):  # half a character, in JSON; a port that is none
                is_plain = said.isascii() and " " not in said
                found[said if is_plain else safe_url_string(said, response.encoding)] = source
        return found

    def _by_rules(self, url: str) -> str:
        return self._rules.fetchable(url).canonical

    def lead_on(self, url: str, named: str, source: str) -> None:
        """A URL whose page names another is an alias of that one, which is about to be asked for."""
        self._store.put(url, Alias(named, source, self._spider.name, "", time.time()))

    def _tried(self, url: str) -> frozenset[str]:
        """The sources that are wanted and have not been refuted on the pages of a URL's owner."""
        if not self._tries:
            return frozenset()
        owner, wanted = owner_of(url), self._settings.for_url(url).alias_sources
        wrong = self._store.owners.of(owner).failed.keys() | self._book.revoked(owner, "alias").keys()
        return frozenset(one for one in wanted if rule_id(one) not in wrong) if wrong else wanted

    def moved(self, request: Request, status: int, target: str) -> None:
        """A redirect has come, which may lead to what the crawl has already and then to no response."""
        url, target = without_fragment(request.url), without_fragment(target)
        if status not in MOVED or REDIRECT not in self._settings.for_url(url).alias_sources:
            return
        if target != url and may_lead(url, target):
            self._keep(target, {url: REDIRECT})

    def _keep(self, url: str, found: dict[str, str]) -> dict[str, str]:
        """Remember what a page says; of what another page of this crawl has said of itself, that page's URL."""
        rows = {said: Alias(url, source, self._spider.name, self._run, time.time()) for said, source in found.items()}
        with self._store.asked:
            own = self._store.known(url)
            if own is not None:  # of two URLs that each name the other one is asked for
                rows.pop(own.target, None)
            there = self._store.attach_new(rows)
            contested = {
                said: old.target for said, old in there.items() if old and self._is_contested(said, old, rows[said])
            }
            for source in found.values():
                self._stats.inc_value(f"dedup/aliases/said/{source}")
            return contested
        return {}

    def _is_contested(self, said: str, old: Alias, new: Alias) -> bool:
        """Whether two pages name a URL as their own; the newer or surer takes the place of the other."""
        if old.run != new.run:
            if new.was_found_out or not old.was_found_out:
                links = old.links if old.target == new.target else ()
                self._store.attach(said, NAME, msgspec.structs.replace(new, links=links).to_bytes())
            return False
        return bool(old.target) and old.target != new.target and not old.was_found_out and not new.was_found_out

    def _dispute(self, page: FetchedPage, keeper: str) -> Iterator[str]:
        """Two pages that name one URL as their own are not one page: it may be neither's, and is to be fetched."""
        contested, page.contested = page.contested, {}
        for said, target in contested.items():
            other = self._store.known(target)
            if keeper in (target, said) or (other is not None and other.target == keeper):
                continue
            kept = self._page_at(target) if page.is_update else None  # which was compared with nothing but itself
            if kept is not None and same_page(Look.at(page.analyse()), self._store.look(kept), self._template_of):
                continue
            void = Alias("", "", self._spider.name, self._run, time.time())
            self._store.attach(said, NAME, void.to_bytes())
            self._stats.inc_value("dedup/aliases/disputed")
            logger.debug("%s is named by %s and by %s", *map(printable, (said, target, page.url)))
            yield said

    # What a crawl finds out by itself

    def settle(self, page: FetchedPage) -> list[str]:
        """A page was judged and its callback has come to its end: is its URL an alias of the page that was kept?

        Returned are URLs that may be no aliases of where they were sent, for two pages name them as their own.
        """
        verdict, links = page.verdict, page.links
        settings = self._settings.for_url(page.url)
        if links is None or not settings.alias_sources or (verdict is None and page.on_their_way):
            return []
        url, page.links = page.url, None
        are_all = url not in self._have_led
        if not are_all:  # to what it led before nobody else has; it is gone when what was kept there is forgotten
            before = self._kept.get(url) or [*map(Yielded.of, self.links_of(url))]
            links, are_all = [*before, *links], bool(before)
        elif (alias := self._remembered(url)) is not None and alias.run == self._run:  # of a process before this one
            links = [*map(Yielded.of, self.links_of(url)), *links]
        elif links:
            self._have_led.add(url)
        are_all = are_all and len(links) <= MOST_LINKS
        is_kept = verdict is not None and not verdict.is_duplicate and settings.action == "drop"
        if is_kept and are_all:
            self._remember(url, links)
        disputed: list[str] = []
        with self._store.asked:
            keeper = verdict.duplicate_of if verdict is not None else None
            disputed += self._dispute(page, without_fragment(keeper or url))
            if verdict is None:
                return disputed  # no item of it was judged, or will be
            drops = verdict.duplicate_of and settings.action == "drop" and verdict.url == url
            if drops and are_all and (same := self._same_page(page, verdict)):
                self._learn(url, same, links)
            elif self.remembers(url) and NAME in self._store.beside(url):
                self._store.detach(url)  # it is a page of its own now
        return disputed

    def _remember(self, url: str, links: list[Yielded]) -> None:
        """Of a page that was kept, and may be judged again, what only it led to."""
        self._links_kept += len(links) - len(self._kept.pop(url, ()))
        self._kept[url] = links
        while self._links_kept > _MOST_KEPT or len(self._kept) > MOST_PROVISIONAL:
            _, gone = self._kept.popitem(last=False)
            self._links_kept -= len(gone)

    def judged_again(self, verdict: Verdict) -> None:
        """A page that was kept is surely a duplicate after all; without its links nothing is done."""
        if (links := self._kept.pop(verdict.url, None)) is not None:
            self._links_kept -= len(links)
            with self._store.asked:
                self._learn(verdict.url, without_fragment(verdict.duplicate_of or ""), links)

    def _same_page(self, page: FetchedPage, verdict: Verdict) -> str | None:
        """The URL of the page that a dropped one surely is; None where none was met yet.

        Sure is also what one of the two says itself, naming the other. Else it need not be the one it was dropped for:
        of those that are not surely duplicates, each may have the text of another, to the letter, and then one of them
        is enough to be fetched again.
        """
        keeper = without_fragment(verdict.duplicate_of or "")
        known = self._store.known(page.url)
        if verdict.is_sure or keeper in page.named or (known is not None and known.target == keeper):
            return keeper
        said = digest_of_text(page.analyse())
        first = self._dropped.get(said)
        if first is None and len(self._dropped) < _MOST_DROPPED:
            self._dropped[said] = page.url
        elif first is not None and first != page.url and self._trust.may_replace(first, page.url):
            self._store.attach(first, SAID, said)
            return first
        return None

    def _learn(self, url: str, keeper: str, links: Sequence[Yielded]) -> None:
        if url == keeper or not self._trust.may_replace(keeper, url):
            return  # what a stranger's page and this one will say in later crawls may be two texts
        try:
            packed = tuple(pack_request(link.again(), self._spider) for link in links)
        except ValueError:
            self._stats.inc_value("dedup/aliases/unpacked")  # a link that cannot be stored: the page is fetched again
            self._store.detach(url)  # of a crawl beside this one, in which other pages led to that link
            return
        back = self._store.known(keeper)
        if back is not None and back.target == url:
            self._store.detach(keeper)
        self._store.put(url, Alias(keeper, DUPLICATE, self._spider.name, self._run, time.time(), packed))
        self._stats.inc_value("dedup/aliases/found")

    def _page_at(self, url: str) -> Entry | None:
        """The page that was kept of what came from a URL."""
        return self._store.index.page_at(url, self._rules.identity(url), fresh=False)

    # Between crawls

    def close(self) -> None:
        """Keep what became of the trials."""
        for owner in self._book.owners:
            watched = self._book.watched(owner, "alias")
            tried = {one.rule.id: TrialRecord.of(one) for one in watched if one.passed or one.failed}
            if (failed := self._book.revoked(owner, "alias")) or tried:
                self._store.owners.tell(owner, SiteAliases(tried, failed))

    def _holds(self, url: str, alias: Alias) -> bool:  # noqa: PLR0911 - a reason each
        """Whether an alias still tells what to ask for."""
        settings = self._settings.for_url(url)
        if not alias.target or alias.spider != self._spider.name or alias.target in self._changed:
            return False
        if not alias.was_found_out and (not self._tries or alias.source not in settings.alias_sources):
            return False
        if alias.rule in self._store.owners.of(owner_of(url)).failed:
            return False
        if not alias.was_found_out and self._page_at(url) is not None:
            return False  # the page was kept under this very URL
        if alias.run == self._run:
            return True
        if settings.ttl is not None and alias.at < time.time() - settings.ttl:
            return False
        if self._store.index.is_restored(url) or self._store.index.is_restored(alias.target):
            return False
        is_there = alias.source != DUPLICATE or self._page_at(alias.target) is not None
        return is_there or SAID in self._store.beside(alias.target)
