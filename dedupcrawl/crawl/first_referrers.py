"""First referrers: which page was the first of a crawl to lead to a URL."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Collection

import msgspec
from scrapy import Request
from scrapy.http import Response

from dedupcrawl.core.hash_set import HashSet
from dedupcrawl.crawl.request_meta import TRIAL

_MOST_BEYOND = 10_000  # URLs; of what more of them lead to it is taken for known that other pages do


class _Awaited(msgspec.Struct):
    """A URL that only the page of one on trial has led to so far."""

    url: str
    tried: set[str]  # the URLs on trial
    yields: int = 0  # that the duplicate filter did not drop


def key_of(url: str) -> int:
    """What a URL is known by here, without its fragment, which no server sees."""
    return hash(url.partition("#")[0] if "#" in url else url)


class Referrer(msgspec.Struct, frozen=True):
    """The page whose callback yields links, as far as that counts here.

    Attributes:
        keys: Of its URLs: as it was asked for, and as it came.
        tried: The URL on trial that it was fetched for.
    """

    keys: frozenset[int]
    tried: str | None = None

    @classmethod
    def of(cls, response: Response) -> Referrer:
        """The page of a response."""
        request = response.request
        if request is None:
            return cls(frozenset((key_of(response.url),)))
        return cls(frozenset((key_of(response.url), key_of(request.url))), request.meta.get(TRIAL))


class OpenLinks(msgspec.Struct, frozen=True):
    """The links of a crawl to which no page has led yet but those on trial and what those alone have led to.

    Attributes:
        awaited: URL on trial → what only its page has led to.
        beyond: URLs to which what is awaited has led, or such as these.
        leads_to: Pairs of either: a URL, and another that its page leads to.
    """

    awaited: dict[str, list[str]]
    beyond: list[str]
    leads_to: list[tuple[str, str]]


class FirstReferrers:
    """Knows every URL that was yielded, by its hash.

    A crawl that skips a page must request the URLs to which that page was the first to lead. Then everything is found
    again: each page was requested before anything that it led to, so the first referrers form a tree, and each branch
    depends on a page that is fetched or on one whose discoveries are remembered. A page to which no link led, but a
    rule or another page's statement, depends on nothing once that is no longer believed. The URLs that it has led to
    are then adrift, and belong to any other page that leads to them.

    Attributes:
        known: Keys of the URLs that pages which are not adrift have led to.
        awaited: Key → the URL, where only pages on trial have led to it; once it is known and not here, it stays so.
    """

    def __init__(self) -> None:
        self.known = HashSet()
        self._made = HashSet()  # keys of URLs that rules made of others, or that pages name
        self._adrift = HashSet()  # keys of URLs that only by way of such were yielded; they are not known
        self.awaited: dict[int, _Awaited] = {}
        self._only_on: defaultdict[str, dict[int, _Awaited]] = defaultdict(dict)  # the same by URL on trial
        # Key → a URL to which only what is awaited has led, or such as these. Key of either → what its page leads to.
        self._beyond: dict[int, str] = {}
        self._leads_to: dict[int, set[int]] = {}
        self._failed = HashSet()  # keys of URLs whose trial has failed

    def is_new(self, request: Request, referrer: Referrer | None = None, sent: Request | None = None) -> bool:
        """Count a request that a callback has yielded, or with which a crawl starts. It is called for each link.

        True for the first to its URL, and where its URL is not all there is.

        Args:
            request: As it was yielded.
            referrer: The page whose callback has yielded it.
            sent: What rules made of it. A trial counts what its page leads to by this: it is what is fetched and kept,
                and other pages may lead to it by URLs of other forms.
        """
        url, known, made, adrift = request.url, self.known, self._made, self._adrift
        key = asked = key_of(url)
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
            asked = key_of(sent.url)
            was_asked = asked in known or asked in made or asked in adrift
            made.add(asked)
        if not is_adrift:
            known.add(key)
            adrift.discard(key)
        elif is_new and key not in made:
            adrift.add(key)
        if tried is not None and (not was_asked or asked in self.awaited):
            self._await(asked, url if sent is None else sent.url, tried)
        if self.awaited:
            self._count(asked, url if sent is None else sent.url, tried, referrer, was_asked=was_asked)
        return is_new or request.dont_filter or request.method != "GET"

    def _await(self, key: int, url: str, tried: str) -> None:
        found = self.awaited.setdefault(key, _Awaited(url, set()))
        found.tried.add(tried)
        self._only_on[tried][key] = found

    def _count(self, asked: int, url: str, tried: str | None, referrer: Referrer | None, *, was_asked: bool) -> None:
        """A link leads to a URL: from a page on trial, from one that such alone have led to, or from another."""
        if (awaited := self.awaited.get(asked)) is not None:
            awaited.yields += 1
        if tried is not None:
            return
        found_so = [key for key in referrer.keys if key in self.awaited or key in self._beyond] if referrer else []
        if not found_so or len(self._beyond) >= _MOST_BEYOND:
            self._reach(asked)
            return
        if awaited is None and not was_asked:
            self._beyond[asked] = url
        if asked in self.awaited or asked in self._beyond:
            for key in found_so:  # most lead to themselves and to their neighbours
                self._leads_to.setdefault(key, set()).add(asked)

    def _reach(self, key: int) -> None:
        """A page that is not on trial has led to a URL, and by way of that to what its page has led to."""
        reached = [key]
        while reached:
            key = reached.pop()
            if key in self.awaited:
                self._forget(key)
            self._beyond.pop(key, None)
            reached += self._leads_to.pop(key, ())

    def made(self, url: str) -> None:
        """A URL is asked for that no page has led to."""
        self._made.add(key_of(url))

    def is_awaited(self, url: str, referrer: Referrer) -> bool:
        """True where only pages on trial, or adrift, have led to a URL so far: another one must be counted."""
        if not self.awaited and not self._made:
            return False
        key = key_of(url)
        if key in self.awaited or key in self.known:
            return key in self.awaited
        return key in self._made or (key in self._adrift and not self._is_adrift(referrer))

    def _is_adrift(self, referrer: Referrer) -> bool:
        """True for a page that only its being made, or others adrift, have led to."""
        made, adrift, known = self._made, self._adrift, self.known
        return bool(made) and any((key in made or key in adrift) and key not in known for key in referrer.keys)

    def dropped(self, request: Request) -> None:
        """The duplicate filter has dropped a request: another worker, or an earlier process, had asked for its URL."""
        if (awaited := self.awaited.get(key_of(request.url))) is not None:
            awaited.yields -= 1
            if not awaited.yields:
                self._reach(key_of(request.url))

    def failed(self, tried: str) -> None:
        """The page of a URL on trial is one of its own: what it has led to, and will, is found by it like by any."""
        self._failed.add(key_of(tried))
        for key in list(self._only_on.get(tried, ())):
            self._reach(key)

    def _forget(self, key: int) -> None:
        for tried in self.awaited.pop(key).tried:
            del self._only_on[tried][key]
            if not self._only_on[tried]:
                del self._only_on[tried]

    def resume(self, links: OpenLinks) -> None:
        """Before the crawl was stopped no other pages had led to these.

        That the duplicate filter drops requests for them, which it knows from then, says nothing of other pages.
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
        """What `resume` is told when the crawl goes on in another process, in which URLs have other hashes."""
        urls = {**self._beyond, **{key: found.url for key, found in self.awaited.items()}}
        leads_to = [(key, to) for key, found in self._leads_to.items() for to in found]
        return OpenLinks(
            {tried: [one.url for one in found.values()] for tried, found in self._only_on.items()},
            list(self._beyond.values()),
            [(urls[key], urls[to]) for key, to in leads_to if key in urls and to in urls],
        )

    def lost_without(self, url: str, instead: Collection[str] = ()) -> list[str]:
        """The URLs to which so far only the page of this one, which is on trial, has led, and those beyond.

        Other pages on trial do not count: they may be left out, too. Those of the URLs `instead` do, for they are
        fetched when this one is left out.
        """
        only_on, others = self._only_on.get(url, {}), set(instead)
        awaited = {key: found for key, found in only_on.items() if others.isdisjoint(found.tried)}
        keys = list(awaited)
        beyond = dict[int, str]()
        for key in keys:
            new = {
                to: self._beyond[to] for to in self._leads_to.get(key, ()) if to in self._beyond and to not in beyond
            }
            beyond.update(new)
            keys += new
        return [*(one.url for one in awaited.values()), *beyond.values()]
