"""Scrapy's duplicate filter: requests that bypass it, repeated links that need not reach it, cached fingerprints."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from functools import lru_cache
from operator import methodcaller

from scrapy import Request
from scrapy.core.scheduler import Scheduler
from scrapy.crawler import Crawler
from scrapy.dupefilters import RFPDupeFilter
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.signalmanager import SignalManager
from scrapy.signals import request_scheduled
from scrapy.utils.misc import load_object
from scrapy.utils.request import RequestFingerprinter

from dedupcrawl.core.hash_set import HashSet
from dedupcrawl.crawl.first_referrers import FirstReferrers, Referrer, key_of
from dedupcrawl.crawl.request_meta import ORIGINAL_URL, is_for_spider
from dedupcrawl.urls.spelling import canonical_url


class DupeFilterBypass:
    """Lets requests past the duplicate filter, and drops their repetitions in the filter's place.

    The filter may have dropped such a request already, or know it from an earlier run, so the request must bypass it.
    Then the filter does not remember the request, and would let a later link or redirect to the same URL pass. So this
    class remembers fingerprints as the filter does, and forgets them with the process: a request that was on its way
    when the process died is sent again.

    Scrapy itself requests `start_urls` past the filter, which therefore lets the first link back to one pass. A page
    that comes again at the same URL is an update, not a duplicate, so its items would be stored twice. Once a callback
    has got such a page, a link for the same callback brings nothing new. Links for other callbacks pass.

    A repetition may also have passed the filter before, and still wait in the queue (see `repeats`).

    Args:
        dropped: Called with each repetition that is dropped.
        default: The callback of requests without one.

    Attributes:
        known: Fingerprints of the requests that bypassed the filter because of the add-on.
        started: Fingerprints of start requests whose response has come.
    """

    def __init__(
        self,
        signals: SignalManager,
        fingerprint: Callable[[Request], bytes],
        dropped: Callable[[Request], None],
        default: Callable[..., object],
    ) -> None:
        self._signals, self._dropped, self._default = signals, dropped, default
        self._fingerprint = fingerprint
        self.known, self.started = HashSet(), HashSet()
        self._purposes = HashSet()  # hashes of what these requests are for

    def admit(self, request: Request) -> Request:
        """Return a copy of `request` that bypasses the filter, and drop its repetitions from now on."""
        if not self.known:  # until then, a signal for every request would cost much and change nothing
            self._signals.connect(self._scheduled, signal=request_scheduled)
        fingerprint = self._fingerprint(request)
        self.known.add(fingerprint)
        self._remember(request, fingerprint)
        return request.replace(dont_filter=True)

    def came(self, request: Request) -> None:
        """Remember a start request whose response has come to its callback."""
        fingerprint = self._fingerprint(request)
        self.started.add(fingerprint)
        self._remember(request, fingerprint)

    def leave_to_filter(self, request: Request) -> None:
        """Leave repetitions of a request to the filter again: a start request's callback may yield all others."""
        if self.known:
            self.known.discard(self._fingerprint(request))

    def knows(self, request: Request) -> bool:
        return bool(self.known) and self._fingerprint(request) in self.known

    def repeats(self, request: Request) -> bool:
        """True for a request that would bring the page of one of these requests to the same callback once more."""
        if request.dont_filter or not (self.known or self.started) or not is_for_spider(request):
            return False
        fingerprint = self._fingerprint(request)
        is_known = fingerprint in self.known or fingerprint in self.started
        return is_known and self._purpose(request, fingerprint) in self._purposes

    def _remember(self, request: Request, fingerprint: bytes) -> None:
        if (purpose := self._purpose(request, fingerprint)) is not None:
            self._purposes.add(purpose)

    def _purpose(self, request: Request, fingerprint: bytes) -> int | None:
        """The hash of what a request is for; None, which is no purpose, if its arguments have no hash."""
        callback, arguments = request.callback or self._default, request.cb_kwargs.items()
        try:
            return hash((fingerprint, callback, frozenset(arguments), request.meta.get("cookiejar")))
        except TypeError:
            return None

    def _scheduled(self, request: Request) -> None:
        """Drop repetitions. Scrapy calls this for each request, which rules may have rewritten, before its filter."""
        if not request.dont_filter and self._fingerprint(request) in self.known:
            self._dropped(request)
            raise IgnoreRequest("An earlier request for it bypassed the duplicate filter.")


class Repetitions:
    """Drops links early that bring nothing new: the filter would drop them, or they lead back to a start URL.

    Most links of a crawl are those of menus, and each goes through all spider middlewares, a queue, two signals and the
    scheduler on its way to the filter. Scrapy's own filter never forgets, so a link that it has dropped once need not
    go through it again. Other filters and schedulers may forget, so they see all links except those back to the start.

    Args:
        first_referrers: A link that must be counted there is not dropped early.

    Attributes:
        are_known: Whether the filter is Scrapy's own, which never forgets.
        urls: URLs, without their fragments, of dropped links that no rule had changed.
        dropped: Fingerprints of the requests that the filter has dropped.
    """

    def __init__(self, crawler: Crawler, bypass: DupeFilterBypass, first_referrers: FirstReferrers) -> None:
        assert crawler.request_fingerprinter is not None
        assert crawler.stats is not None
        self._stats, self._bypass, self._first_referrers = crawler.stats, bypass, first_referrers
        self._fingerprint = crawler.request_fingerprinter.fingerprint
        self._is_by_url = isinstance(crawler.request_fingerprinter, RememberedFingerprints)
        self.urls: set[str] = set()
        self.dropped = HashSet()
        self.are_known = (
            load_object(crawler.settings["SCHEDULER"]) is Scheduler
            and load_object(crawler.settings["DUPEFILTER_CLASS"]) is RFPDupeFilter
            and not crawler.settings.getbool("DUPEFILTER_DEBUG")  # the filter logs each dropped request then
        )

    def leaves_out(self, link: Request, response: Response) -> bool:
        """True if a link whose URL, without its fragment, is in `urls` would be dropped again; the caller counts it.

        Rules that are newer than that drop are not applied: the link's page is fetched, or will be.
        """
        if link.dont_filter or link.method != "GET" or link.body or "verbatim_url" in link.meta:  # `_goes_by_url`
            return False
        if "#" in link.url and "#" in canonical_url(link.url):  # a page of its own, for which there may be rules
            return False
        key, first_referrers = key_of(link.url), self._first_referrers
        if key in first_referrers.known and key not in first_referrers.awaited:  # most links
            return True
        return not first_referrers.is_awaited(link.url, Referrer.of(response))

    def count(self, links: int) -> None:
        """Count so many dropped links, in the filter's own stat."""
        if links:
            self._stats.inc_value("dupefilter/filtered", links)

    def drops(self, request: Request, fingerprint: bytes) -> bool:
        """True if the filter would drop a request, or if it leads back to the start; then it is counted."""
        if request.dont_filter:
            return False
        was_dropped = fingerprint in self.dropped
        if not was_dropped and not self._bypass.repeats(request):
            return False
        if was_dropped:
            self._remember(request)
        self.count(1)
        return True

    def was_dropped(self, request: Request) -> None:
        """Remember a request that the filter has dropped; Scrapy's scheduler sends this signal for nothing else."""
        if self.are_known and not request.dont_filter:
            self.dropped.add(self._fingerprint(request))
            self._remember(request)

    def _remember(self, request: Request) -> None:
        """Drop links to the URL of a request from now on, unless a rule or a redirect has made this URL."""
        is_link = request.meta.keys().isdisjoint((ORIGINAL_URL, "redirect_urls"))
        if is_link and self._is_by_url and _goes_by_url(request):
            if len(self.urls) >= _URLS_KEPT:
                self.urls.clear()
            self.urls.add(request.url.partition("#")[0])


# On five sites 67 to 90 % of the links had one of the last 10,000 different URLs, and hardly more had one of the last
# 100,000 (docs/measured/cost.md, "Where it goes").
_URLS_KEPT = 10_000

_PLAIN = re.compile(
    r"https?://[a-z0-9.-]*[a-z0-9](?::[0-9]+)?(?:/(?:[\w~,()!'@:*+=-][\w~,()!'@:*+=.-]*)?)+(?:\?(\w+=[\w.-]*(?:&\w+=[\w.-]*)*))?",
    re.ASCII,
)
"""Matches most URLs: Scrapy has nothing to quote and no dots to resolve there, and only sorts the arguments."""

_SPLIT = methodcaller("split", "=")


class RememberedFingerprints(RequestFingerprinter):
    """Scrapy's own fingerprints, cached by URL where nothing else goes into them. The add-on has the crawl use it.

    Scrapy caches fingerprints by request object, but each page makes new objects. For most URLs this class computes the
    fingerprint itself, in a twentieth of the time, unless Scrapy's differs for a sample URL.
    """

    def __init__(self, crawler: Crawler | None = None) -> None:
        super().__init__(crawler)
        sample = "http://a.example/b?c=d"
        self._is_as_expected = True
        self._is_as_expected = self._made(sample) == super().fingerprint(Request(sample))
        self._of_url = lru_cache(_URLS_KEPT)(self._made)

    def fingerprint(self, request: Request) -> bytes:
        if request.method == "GET" and not request.body and "verbatim_url" not in request.meta:  # `_goes_by_url`
            url = request.url
            return self._of_url(url.partition("#")[0] if "#" in url else url)
        return super().fingerprint(request)

    def _made(self, url: str) -> bytes:
        """The fingerprint of a GET request for a URL, computed here if the URL is plain."""
        plain = _PLAIN.fullmatch(url) if self._is_as_expected else None
        if plain is None:
            return super().fingerprint(Request(url))
        if (arguments := plain[1]) and "&" in arguments:
            pairs = sorted(map(_SPLIT, arguments.split("&")))
            url = url[: plain.start(1)] + "&".join(map("=".join, pairs))
        text = f'{{"body": "", "headers": {{}}, "method": "GET", "url": "{url}"}}'
        return hashlib.sha1(text.encode(), usedforsecurity=False).digest()


def _goes_by_url(request: Request) -> bool:
    return request.method == "GET" and not request.body and "verbatim_url" not in request.meta
