"""First referrers: which page was the first of a crawl to lead to a URL."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Collection, Iterable

import msgspec
from scrapy import Request
from scrapy.http import Response

from dedupcrawl.core.hash_set import HashSet
from dedupcrawl.crawl.request_meta import TRIAL

_MOST_BEYOND = 10_000  # URLs beyond awaited ones; further URLs are treated as if other pages led to them, too


class _Awaited(msgspec.Struct):
    """A URL to which only pages of URLs on trial have led so far."""

    url: str
    tried: set[str]  # those URLs on trial
    yields: int = 0  # requests for it that were yielded, minus those that the duplicate filter dropped


def key_of(url: str) -> int:
    """The hash by which this module knows a URL, without its fragment, which no server sees."""
    return hash(url.partition("#")[0] if "#" in url else url)


class Referrer(msgspec.Struct, frozen=True):
    """The page whose callback yields links.

    Attributes:
        keys: Keys of the URLs of its request and of its response.
        tried: The URL on trial for which it was fetched, if any.
    """

    keys: frozenset[int]
    tried: str | None = None

    @classmethod
    def of(cls, response: Response) -> Referrer:
        request = response.request
        if request is None:
            return cls(frozenset((key_of(response.url),)))
        return cls(frozenset((key_of(response.url), key_of(request.url))), request.meta.get(TRIAL))


class OpenLinks(msgspec.Struct, frozen=True):
    """The URLs of a crawl that are reached only through pages on trial.

    Attributes:
        awaited: URL on trial → URLs to which its page has led, and otherwise only pages on trial.
        beyond: URLs to which only pages of awaited URLs, or of other URLs in `beyond`, have led.
        leads_to: Pairs of URLs from these two: a URL, and another to which its page leads.
    """

    awaited: dict[str, list[str]]
    beyond: list[str]
    leads_to: list[tuple[str, str]]


class FirstReferrers:
    """Knows every URL that was yielded, by its hash.

    A crawl that skips a page must request the URLs to which that page was the first to lead. Then it finds everything
    again: each page was requested before anything that it led to, so the first referrers form a tree, and each branch
    depends on a page that is fetched or on one whose links are remembered. If no link led to a page, but only a rule or
    another page's statement, the page may not be requested once that is no longer believed. The URLs to which only such
    pages have led are adrift: the next other page that leads to them becomes their first referrer.

    Attributes:
        known: Keys of the URLs to which pages that are not adrift have led.
        awaited: Key → a URL to which only pages on trial have led. A known URL that is not here never gets here.
    """

    def __init__(self) -> None:
        self.known = HashSet()
        self._sent_elsewhere = HashSet()  # keys of URLs that rules have changed when they were yielded
        self._made = HashSet()  # keys of URLs that rules made, or that pages state as their own
        self._adrift = HashSet()  # keys of URLs that are adrift, so not in `known`
        self.awaited: dict[int, _Awaited] = {}
        self._only_on: defaultdict[str, dict[int, _Awaited]] = defaultdict(dict)  # the same by URL on trial
        self._beyond: dict[int, str] = {}  # key → URL, see `OpenLinks.beyond`
        self._leads_to: dict[int, set[int]] = {}  # key of an awaited URL, or one beyond → keys its page leads to
        self._failed = HashSet()  # keys of URLs whose trial has failed

    def is_new(self, request: Request, referrer: Referrer | None = None, sent: Request | None = None) -> bool:
        """Count a request that a callback has yielded, or with which a crawl starts. It is called for each link.

        True for the first request to its URL, and for any that bypasses the duplicate filter or is not a GET.

        Args:
            request: The request as it was yielded.
            referrer: The page whose callback has yielded it.
            sent: What rules made of it. Links of pages on trial are counted by this URL: it is the one that is fetched
                and kept, and other pages may lead to it by URLs of other forms.
        """
        url, known, made, adrift = request.url, self.known, self._made, self._adrift
        key = sent_key = key_of(url)
        is_known, is_adrift, tried = key in known, False, None
        if referrer is not None:
            is_adrift = self._is_adrift(referrer)
            if (tried := referrer.tried) is not None and key_of(tried) in self._failed:
                tried = None
        was_asked = is_known or key in adrift
        is_new = not (is_known or (is_adrift and was_asked))
        if sent is None or sent is request or sent.url == url:
            was_asked = was_asked or key in made
        else:
            sent_key = key_of(sent.url)
            was_asked = sent_key in known or sent_key in made or sent_key in adrift
            made.add(sent_key)
            self._sent_elsewhere.add(key)
        if not is_adrift:
            known.add(key)
            adrift.discard(key)
        elif is_new and key not in made:
            adrift.add(key)
        if tried is not None and (not was_asked or sent_key in self.awaited):
            self._await(sent_key, url if sent is None else sent.url, tried)
        if self.awaited:
            self._count(sent_key, url if sent is None else sent.url, tried, referrer, was_asked=was_asked)
        return is_new or request.dont_filter or request.method != "GET"

    def was_requested(self, url: str) -> bool:
        """True if a URL was yielded before, and requested as it was: no rule for it was known then."""
        key = key_of(url)
        return key in self.known and key not in self._sent_elsewhere

    def _await(self, key: int, url: str, tried: str) -> None:
        awaited = self.awaited.setdefault(key, _Awaited(url, set()))
        awaited.tried.add(tried)
        self._only_on[tried][key] = awaited

    def _count(self, sent_key: int, url: str, tried: str | None, referrer: Referrer | None, *, was_asked: bool) -> None:
        """Count a link to a URL: from a page on trial, from one reached only through such pages, or from another."""
        if (awaited := self.awaited.get(sent_key)) is not None:
            awaited.yields += 1
        if tried is not None:
            return
        found_so = [key for key in referrer.keys if key in self.awaited or key in self._beyond] if referrer else []
        if not found_so or len(self._beyond) >= _MOST_BEYOND:
            self._reach(sent_key)
            return
        if awaited is None and not was_asked:
            self._beyond[sent_key] = url
        if sent_key in self.awaited or sent_key in self._beyond:
            for key in found_so:  # most pages link to themselves and to their neighbours
                self._leads_to.setdefault(key, set()).add(sent_key)

    def _reach(self, key: int) -> None:
        """Note that a page not on trial leads to a URL, and through it to all that its page leads to."""
        reached = [key]
        while reached:
            key = reached.pop()
            if key in self.awaited:
                self._forget(key)
            self._beyond.pop(key, None)
            reached += self._leads_to.pop(key, ())

    def made(self, url: str) -> None:
        """Note that a URL is requested to which no page has led."""
        self._made.add(key_of(url))

    def is_awaited(self, url: str, referrer: Referrer) -> bool:
        """True if only pages on trial, or adrift, have led to a URL so far, so that another link must be counted."""
        if not self.awaited and not self._made:
            return False
        key = key_of(url)
        if key in self.awaited or key in self.known:
            return key in self.awaited
        return key in self._made or (key in self._adrift and not self._is_adrift(referrer))

    def _is_adrift(self, referrer: Referrer) -> bool:
        """True for a page to which only rules, statements of pages, or pages adrift have led."""
        made, adrift, known = self._made, self._adrift, self.known
        return bool(made) and any((key in made or key in adrift) and key not in known for key in referrer.keys)

    def dropped(self, request: Request) -> None:
        """Note a request that the duplicate filter dropped: another worker or process may have requested its URL."""
        if (awaited := self.awaited.get(key_of(request.url))) is not None:
            awaited.yields -= 1
            if not awaited.yields:
                self._reach(key_of(request.url))

    def failed(self, tried: str) -> None:
        """Count the page of a URL whose trial failed like any other page: it is no duplicate, so it is not skipped."""
        self._failed.add(key_of(tried))
        for key in list(self._only_on.get(tried, ())):
            self._reach(key)

    def _forget(self, key: int) -> None:
        for tried in self.awaited.pop(key).tried:
            del self._only_on[tried][key]
            if not self._only_on[tried]:
                del self._only_on[tried]

    def resume(self, links: OpenLinks) -> None:
        """Take over the open links of the process that was stopped before.

        The duplicate filter knows their URLs from that process, so its drops do not show that other pages led to them.
        """
        for tried, urls in links.awaited.items():
            for url in urls:
                self._await(key_of(url), url, tried)
                self.awaited[key_of(url)].yields = sys.maxsize
        self._beyond.update((key_of(url), url) for url in links.beyond)
        for key in (*self.awaited, *self._beyond):
            self.known.add(key)
        for url, to in links.leads_to:
            self._leads_to.setdefault(key_of(url), set()).add(key_of(to))

    @property
    def open_links(self) -> OpenLinks:
        """What `resume` takes when the crawl goes on in another process, where URLs have other hashes."""
        urls = {**self._beyond, **{key: awaited.url for key, awaited in self.awaited.items()}}
        leads_to = [(key, to) for key, awaited in self._leads_to.items() for to in awaited]
        return OpenLinks(
            {tried: [one.url for one in awaited.values()] for tried, awaited in self._only_on.items()},
            list(self._beyond.values()),
            [(urls[key], urls[to]) for key, to in leads_to if key in urls and to in urls],
        )

    def lost_without(self, url: str, instead: Collection[str] = ()) -> list[str]:
        """The URLs that the crawl would not reach without the page of `url`, which is on trial.

        Links on other pages on trial do not count, because these may be skipped, too; links on the pages of the URLs
        `instead`, and beyond them, do, because these are fetched if this one is skipped.
        """
        others = set(instead)
        reached = self._reached_from(map(key_of, others))
        only_on = self._only_on.get(url, {}).items()
        awaited = {key: link for key, link in only_on if others.isdisjoint(link.tried) and key not in reached}
        beyond = self._reached_from(awaited) & self._beyond.keys() - reached
        return [*(one.url for one in awaited.values()), *map(self._beyond.__getitem__, beyond)]

    def _reached_from(self, keys: Iterable[int]) -> set[int]:
        """The keys of the awaited URLs, and of those beyond, to which the pages of these lead."""
        reached, waiting = set[int](), list(keys)
        while waiting:
            new = self._leads_to.get(waiting.pop(), set()) - reached
            reached |= new
            waiting += new
        return reached
