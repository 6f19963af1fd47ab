"""First referrers: which page was the first of a crawl to lead to a URL."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable

import msgspec
from scrapy import Request
from scrapy.http import Response

from dedupcrawl.core.hash_set import HashSet
from dedupcrawl.crawl.request_meta import TRIAL

_MOST_BEYOND = 10_000  # URLs beyond the pages on trial; further ones are treated as if other pages led to them, too


class _Awaited(msgspec.Struct):
    """A URL to which no page has led that is sure to be fetched: only pages on trial, or pages behind these."""

    url: str
    is_beyond: bool  # no page on trial has led to it first, but one behind these
    yields: int = 0  # requests for it that were yielded, minus those that the duplicate filter dropped


def key_of(url: str) -> int:
    """The hash by which this module knows a URL, without its fragment, which no server sees."""
    return hash(url.partition("#")[0] if "#" in url else url)


def _key_of_trial(url: str) -> int:
    """The key of the page that is fetched as the trial of a URL, never 0."""
    return hash(("trial", url)) or 1


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


class FirstReferrers:
    """Knows every URL that was yielded, by its hash.

    A crawl that skips a page must request the URLs to which that page was the first to lead. Then it finds everything
    again: each page was requested before anything that it led to, so the first referrers form a tree, and each branch
    depends on a page that is fetched or on one whose links are remembered. If no link led to a page, but only a rule or
    another page's statement, the page may not be requested once that is no longer believed. The URLs to which only such
    pages have led are adrift: the next other page that leads to them becomes their first referrer.

    Attributes:
        known: Keys of the URLs to which pages that are not adrift have led.
        awaited: Key → a URL to which only pages on trial have led, or pages of other awaited URLs. A known URL that is
            not here never gets here.
    """

    def __init__(self) -> None:
        self.known = HashSet()
        self._sent_elsewhere = HashSet()  # keys of URLs that rules have changed when they were yielded
        self._made = HashSet()  # keys of URLs that rules made, or that pages state as their own
        self._adrift = HashSet()  # keys of URLs that are adrift, so not in `known`
        self.awaited: dict[int, _Awaited] = {}
        self._beyond = 0  # how many of these are beyond the pages on trial
        # Key of an awaited URL, or of a trial → keys of the awaited URLs to which its page leads.
        self._leads_to: defaultdict[int, set[int]] = defaultdict(set)
        self._failed = HashSet()  # keys of trials that have failed

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
        is_known, is_adrift, tried = key in known, False, 0
        if referrer is not None:
            is_adrift = self._is_adrift(referrer)
            if referrer.tried is not None and (trial := _key_of_trial(referrer.tried)) not in self._failed:
                tried = trial
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
        if tried or self.awaited:
            self._count(sent_key, url if sent is None else sent.url, tried, referrer, was_asked=was_asked)
        return is_new or request.dont_filter or request.method != "GET"

    def was_requested(self, url: str) -> bool:
        """True if a URL was yielded before, and requested as it was: no rule for it was known then."""
        key = key_of(url)
        return key in self.known and key not in self._sent_elsewhere

    def _count(self, key: int, url: str, tried: int, referrer: Referrer | None, *, was_asked: bool) -> None:
        """Count a link to a URL: from a page on trial, from one reached only through such pages, or from another."""
        pages = [tried] if tried else [one for one in referrer.keys if one in self.awaited] if referrer else []
        if not pages:
            self._reach(key)
            return
        awaited = self.awaited.get(key)
        if awaited is None and not was_asked and (tried or self._beyond < _MOST_BEYOND):
            awaited = self.awaited[key] = _Awaited(url, not tried)
            self._beyond += not tried
        if awaited is not None:
            awaited.yields += 1
            for page in pages:  # most pages link to themselves and to their neighbours
                self._leads_to[page].add(key)

    def _reach(self, *keys: int) -> None:
        """Note that a page not on trial leads to these URLs, and through them to all that their pages lead to."""
        reached = list(keys)
        while reached:
            key = reached.pop()
            if (awaited := self.awaited.pop(key, None)) is not None:
                self._beyond -= awaited.is_beyond
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
        self._failed.add(trial := _key_of_trial(tried))
        self._reach(*self._leads_to.pop(trial, ()))

    def lost_without(self, url: str, instead: Collection[str] = ()) -> list[str]:
        """The URLs that the crawl would not reach without the page of `url`, which is on trial.

        Links on other pages on trial do not count, because these may be skipped, too; links on the pages of the URLs
        `instead`, and beyond them, do, because these are fetched if this one is skipped.
        """
        others = self._reached_from(key for other in instead for key in (key_of(other), _key_of_trial(other)))
        return [self.awaited[key].url for key in self._reached_from([_key_of_trial(url)]) - others]

    def _reached_from(self, keys: Iterable[int]) -> set[int]:
        """The keys of the awaited URLs to which the pages of these lead, and the pages of those."""
        reached, waiting = set[int](), list(keys)
        while waiting:
            new = (self._leads_to.get(waiting.pop(), set()) & self.awaited.keys()) - reached
            reached |= new
            waiting += new
        return reached
