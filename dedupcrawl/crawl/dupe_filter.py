"""Scrapy's duplicate filter: what bypasses it, repetitions that it need not see, and fingerprints, remembered."""

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
from dedupcrawl.crawl.first_referrers import FirstReferrers, Referrer
from dedupcrawl.crawl.request_meta import ORIGINAL_URL, is_for_spider
from dedupcrawl.settings import DedupSettings


class DupeFilterBypass:
    """Lets requests past the duplicate filter, and nothing after them that the filter would have dropped.

    The filter may have dropped such a request already, or know it from an earlier run, so the request must bypass it.
    Then the filter does not remember the request, and would let a later link or redirect to the same URL pass. So this
    class remembers fingerprints as the filter does, and forgets them with the process: a request that was on its way
    when the process died is sent again.

    Args:
        dropped: Called with each request that is dropped for that.

    Attributes:
        known: Fingerprints of the requests that bypassed the filter.
    """

    def __init__(
        self, signals: SignalManager, fingerprint: Callable[[Request], bytes], dropped: Callable[[Request], None]
    ) -> None:
        self._signals, self._dropped = signals, dropped
        self._fingerprint = fingerprint
        self.known = HashSet()

    def admit(self, request: Request) -> Request:
        """`request`, to be sent past the filter."""
        if not self.known:  # before, a signal for every request would cost much and tell nothing
            self._signals.connect(self._scheduled, signal=request_scheduled)
        self.known.add(self._fingerprint(request))
        return request.replace(dont_filter=True)

    def leave_to_filter(self, request: Request) -> None:
        """Leave a request of the crawl's start to the filter: its callback may yield all other requests."""
        if self.known:
            self.known.discard(self._fingerprint(request))

    def knows(self, request: Request) -> bool:
        """True for a repetition of what was admitted."""
        return bool(self.known) and self._fingerprint(request) in self.known

    def _scheduled(self, request: Request) -> None:
        """Called by Scrapy for each request on its way to the filter, with what rules have made of it."""
        if not request.dont_filter and self._fingerprint(request) in self.known:
            self._dropped(request)
            raise IgnoreRequest("An earlier request for it bypassed the duplicate filter.")


class Repetitions:
    """Links that bring nothing new: the duplicate filter would drop them, or they lead back to where the crawl started.

    Most links of a crawl are those of menus, and each goes through all spider middlewares, a queue, two signals and the
    scheduler on its way to the filter. Scrapy's own filter never forgets, so a link that it has dropped once need not
    go through it again. Other filters and schedulers may forget, so they see all links except those back to the start.

    Scrapy requests `start_urls` without its filter, which therefore lets the first link back pass; the same URL again
    is an update and no duplicate, so that its items would be stored twice. Once a callback has had such a page, a link
    for the same callback can bring nothing else.

    Args:
        settings: Where URLs are not ours to change, links back stay.
        first_referrers: A link that must be counted there is not left out.

    Attributes:
        are_known: Whether the filter is one that never forgets.
        urls: Of links that were dropped as they were; in none is a fragment.
        dropped: Fingerprints of what the filter has dropped.
        started: By fingerprint, what the crawl has started with: callbacks and their arguments.
    """

    def __init__(self, crawler: Crawler, settings: DedupSettings, first_referrers: FirstReferrers) -> None:
        assert crawler.request_fingerprinter is not None
        assert crawler.spider is not None
        assert crawler.stats is not None
        self._settings, self._stats, self._first_referrers = settings, crawler.stats, first_referrers
        self._default = crawler.spider.parse
        self._fingerprint = crawler.request_fingerprinter.fingerprint
        self._is_by_url = isinstance(crawler.request_fingerprinter, RememberedFingerprints)
        self.urls: set[str] = set()
        self.dropped = HashSet()
        self.started: dict[bytes, list[tuple[object, ...]]] = {}
        self.are_known = (
            load_object(crawler.settings["SCHEDULER"]) is Scheduler
            and load_object(crawler.settings["DUPEFILTER_CLASS"]) is RFPDupeFilter
            and not crawler.settings.getbool("DUPEFILTER_DEBUG")  # which asks for a line of each
        )

    def came(self, request: Request) -> None:
        """The answer to a request has come to its callback."""
        if request.dont_filter and request.meta.get("is_start_request"):
            settings = self._settings.for_url(request.url)
            if settings.enabled and settings.url_mode == "rewrite":
                known = self.started.setdefault(self._fingerprint(request), [])
                if (purpose := self._purpose(request)) not in known:  # a spider may start with one page every minute
                    known.append(purpose)

    def has_started_with(self, request: Request) -> bool:
        """True for a request that would bring the same page to the same callback again."""
        if not self.started or request.dont_filter or not is_for_spider(request):
            return False
        return self._purpose(request) in self.started.get(self._fingerprint(request), ())

    def _purpose(self, request: Request) -> tuple[object, ...]:
        return request.callback or self._default, request.cb_kwargs, request.meta.get("cookiejar")

    def leaves_out(self, link: Request, response: Response) -> bool:
        """Of a link whose URL is in `urls`, True when it would be dropped again; it is yet to be counted.

        Rules that have come since are not asked: its page is fetched, or will be.
        """
        if link.dont_filter or link.method != "GET" or link.body or "verbatim_url" in link.meta:  # `_goes_by_url`
            return False
        key, first_referrers = hash(link.url), self._first_referrers
        if key in first_referrers.known and key not in first_referrers.awaited:  # most
            return True
        return not first_referrers.is_awaited(link.url, Referrer.of(response))

    def count(self, links: int) -> None:
        """So many were dropped: counted as the filter does."""
        if links:
            self._stats.inc_value("dupefilter/filtered", links)

    def drops(self, request: Request, fingerprint: bytes) -> bool:
        """True when the filter would drop a request, or should; then it is counted as the filter does."""
        if request.dont_filter:
            return False
        was_dropped = fingerprint in self.dropped
        if not was_dropped and not self.has_started_with(request):
            return False
        if was_dropped:
            self._remember(request)
        self.count(1)
        return True

    def was_dropped(self, request: Request) -> None:
        """The filter has dropped a request: its own scheduler signals this for nothing else."""
        if self.are_known and not request.dont_filter:
            self.dropped.add(self._fingerprint(request))
            self._remember(request)

    def _remember(self, request: Request) -> None:
        """That the URL of a request, if it is a link that no rule has changed, is dropped from now on."""
        is_link = request.meta.keys().isdisjoint((ORIGINAL_URL, "redirect_urls")) and "#" not in request.url
        if is_link and self._is_by_url and _goes_by_url(request):
            if len(self.urls) >= _URLS_KEPT:
                self.urls.clear()
            self.urls.add(request.url)


# Of the links of five sites 67 to 90 % had a URL of the last 10,000 different ones, and hardly more one of the last
# 100,000 (docs/measured/cost.md, "Where it goes").
_URLS_KEPT = 10_000

_PLAIN = re.compile(
    r"https?://[a-z0-9.-]*[a-z0-9](?::[0-9]+)?(?:/(?:[\w~,()!'@:*+=-][\w~,()!'@:*+=.-]*)?)+(?:\?(\w+=[\w.-]*(?:&\w+=[\w.-]*)*))?",
    re.ASCII,
)
"""Most URLs, in which Scrapy finds nothing to quote and no dots to resolve. It sorts the arguments."""

_SPLIT = methodcaller("split", "=")


class RememberedFingerprints(RequestFingerprinter):
    """Scrapy's own fingerprints, made once a URL where that is all that they go by. The add-on makes it the crawl's.

    Scrapy remembers fingerprints as well, but of request objects, and each page makes its own. Those of most URLs are
    made here, in a twentieth of the time, unless Scrapy makes another one of a URL than is expected.
    """

    def __init__(self, crawler: Crawler | None = None) -> None:
        super().__init__(crawler)
        known = "http://a.example/b?c=d"
        self._is_as_expected = True
        self._is_as_expected = self._made(known) == super().fingerprint(Request(known))
        self._of_url = lru_cache(_URLS_KEPT)(self._made)

    def fingerprint(self, request: Request) -> bytes:
        """As Scrapy's own says."""
        if request.method == "GET" and not request.body and "verbatim_url" not in request.meta:  # `_goes_by_url`
            return self._of_url(request.url)
        return super().fingerprint(request)

    def _made(self, url: str) -> bytes:
        """That of a GET request for a URL: by what Scrapy takes the URL for, where that is known here."""
        plain = _PLAIN.fullmatch(url) if self._is_as_expected else None
        if plain is None:
            return super().fingerprint(Request(url))
        if (arguments := plain[1]) and "&" in arguments:
            pairs = sorted(map(_SPLIT, arguments.split("&")))
            url = url[: plain.start(1)] + "&".join(map("=".join, pairs))
        said = f'{{"body": "", "headers": {{}}, "method": "GET", "url": "{url}"}}'
        return hashlib.sha1(said.encode(), usedforsecurity=False).digest()


def _goes_by_url(request: Request) -> bool:
    """True where a request's fingerprint is that of its URL."""
    return request.method == "GET" and not request.body and "verbatim_url" not in request.meta
