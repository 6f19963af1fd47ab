"""Scrapy's duplicate filter: what bypasses it, repetitions that it need not see, and fingerprints, remembered."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from functools import lru_cache

from scrapy import Request
from scrapy.core.scheduler import Scheduler
from scrapy.crawler import Crawler
from scrapy.dupefilters import RFPDupeFilter
from scrapy.exceptions import IgnoreRequest
from scrapy.signalmanager import SignalManager
from scrapy.signals import request_scheduled
from scrapy.utils.misc import load_object
from scrapy.utils.request import RequestFingerprinter

from dedupcrawl.crawl.request_meta import ORIGINAL_URL, is_for_spider
from dedupcrawl.settings import DedupSettings


class DupeFilterBypass:
    """Lets requests past the duplicate filter, and nothing after them that the filter would have dropped.

    The filter may have dropped such a request already, or know it from an earlier run, so it cannot be asked; nor is it
    told, and would let a later link, or a redirect, to the same URL pass. It remembers fingerprints, as the filter
    does, and forgets them with the process: what was on its way when that died is asked for again.
    """

    def __init__(self, signals: SignalManager, fingerprint: Callable[[Request], bytes]) -> None:
        self._signals = signals
        self._fingerprint = fingerprint
        self._known: set[bytes] = set()

    def let_by(self, request: Request) -> Request:
        """`request`, to be sent past the filter."""
        if not self._known:  # before, a signal for every request would cost much and tell nothing
            self._signals.connect(self._scheduled, signal=request_scheduled)
        self._known.add(self._fingerprint(request))
        return request.replace(dont_filter=True)

    def leave_to_filter(self, request: Request) -> None:
        """What a crawl starts with has a callback of its own, on which all the rest may depend: the filter decides."""
        if self._known:
            self._known.discard(self._fingerprint(request))

    def knows(self, request: Request) -> bool:
        """True for a repetition of what was let by."""
        return bool(self._known) and self._fingerprint(request) in self._known

    def _scheduled(self, request: Request) -> None:
        """Called by Scrapy for each request on its way to the filter, with what rules have made of it."""
        if not request.dont_filter and self.knows(request):
            raise IgnoreRequest("It was sent past the duplicate filter before.")


class Repetitions:
    """Links that bring nothing new: the duplicate filter would drop them, or they lead back to where the crawl started.

    Most links of a crawl are those of menus, and each goes through all spider middlewares, a queue, two signals and
    the scheduler on its way to the filter. The filter of Scrapy never forgets, so what it has dropped once need not be
    shown to it again. Of other filters and schedulers that is not known: they see all but links back.

    Scrapy asks for `start_urls` without telling its filter, which lets the first link back pass; the same URL again is
    an update and no duplicate, so that its items would be stored twice. Once a callback has had such a page, a link
    for the same callback can bring nothing else.

    Args:
        settings: Where URLs are not ours to change, links back stay.

    Attributes:
        are_known: Whether the filter is one that never forgets.
    """

    def __init__(self, crawler: Crawler, settings: DedupSettings) -> None:
        assert crawler.request_fingerprinter is not None
        assert crawler.spider is not None
        assert crawler.stats is not None
        self._settings, self._stats = settings, crawler.stats
        self._default = crawler.spider.parse
        self._fingerprint = crawler.request_fingerprinter.fingerprint
        self._is_by_url = isinstance(crawler.request_fingerprinter, RememberedFingerprints)
        self._urls: set[str] = set()  # of links that were dropped as they were
        self._dropped: set[bytes] = set()
        self._started: dict[bytes, list[tuple[object, ...]]] = {}  # by fingerprint: callbacks and their arguments
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
                known = self._started.setdefault(self._fingerprint(request), [])
                if (purpose := self._purpose(request)) not in known:  # a spider may start with one page every minute
                    known.append(purpose)

    def has_started_with(self, request: Request) -> bool:
        """True for a request that would bring the same page to the same callback again."""
        if not self._started or request.dont_filter or not is_for_spider(request):
            return False
        return self._purpose(request) in self._started.get(self._fingerprint(request), ())

    def _purpose(self, request: Request) -> tuple[object, ...]:
        return request.callback or self._default, request.cb_kwargs, request.meta.get("cookiejar")

    def drops_again(self, link: Request) -> bool:
        """True for a link that no rule has changed and that was dropped when it came before, known by its URL alone.

        Rules that have come since are not asked: its page is fetched, or will be. It is yet to be counted.
        """
        return link.url in self._urls and not link.dont_filter and _goes_by_url(link)

    def count(self, links: int) -> None:
        """So many were dropped: counted as the filter does."""
        if links:
            self._stats.inc_value("dupefilter/filtered", links)

    def drops(self, request: Request) -> bool:
        """True when the filter would drop a request, or should; then it is counted as the filter does."""
        if request.dont_filter:
            return False
        was_dropped = bool(self._dropped) and self._fingerprint(request) in self._dropped
        if not was_dropped and not self.has_started_with(request):
            return False
        if was_dropped:
            self._remember(request)
        self.count(1)
        return True

    def dropped(self, request: Request) -> None:
        """The filter has dropped a request: its own scheduler signals this for nothing else."""
        if self.are_known and not request.dont_filter:
            self._dropped.add(self._fingerprint(request))
            self._remember(request)

    def _remember(self, request: Request) -> None:
        """That the URL of a request, if it is a link that no rule has changed, is dropped from now on."""
        is_link = request.meta.keys().isdisjoint((ORIGINAL_URL, "redirect_urls")) and "#" not in request.url
        if is_link and self._is_by_url and _goes_by_url(request):
            if len(self._urls) >= _URLS_KEPT:
                self._urls.clear()
            self._urls.add(request.url)


# Of the links of five sites 67 to 90 % had a URL of the last 10,000 different ones, and hardly more one of the last
# 100,000 (docs/crawl-cost.md, "Links that repeat").
_URLS_KEPT = 10_000

_PLAIN = re.compile(
    r"https?://[a-z0-9.-]*[a-z0-9](?::[0-9]+)?(?:/(?:[\w~,()!'@:*+=-][\w~,()!'@:*+=.-]*)?)+(?:\?(\w+=[\w.-]*(?:&\w+=[\w.-]*)*))?",
    re.ASCII,
)
"""Most URLs, in which Scrapy finds nothing to quote and no dots to resolve. It sorts the arguments."""


class RememberedFingerprints(RequestFingerprinter):
    """Scrapy's own fingerprints, made once a URL where that is all that they go by. The add-on makes it the crawl's.

    Scrapy remembers fingerprints as well, but of request objects, and each page makes its own. Those of most URLs are
    made here, in a twentieth of the time, unless Scrapy makes another one of a URL than is expected.
    """

    def __init__(self, crawler: Crawler | None = None) -> None:
        super().__init__(crawler)
        known = "http://a.example/b?c=d"
        self._is_as_expected = _of_canonical(known) == super().fingerprint(Request(known))
        self._of_url = lru_cache(_URLS_KEPT)(self._made)

    def fingerprint(self, request: Request) -> bytes:
        """As Scrapy's own says."""
        return self._of_url(request.url) if _goes_by_url(request) else super().fingerprint(request)

    def _made(self, url: str) -> bytes:
        canonical = _canonical(url) if self._is_as_expected else None
        return super().fingerprint(Request(url)) if canonical is None else _of_canonical(canonical)


def _canonical(url: str) -> str | None:
    """What Scrapy takes a URL for; None where that is not known here."""
    plain = _PLAIN.fullmatch(url)
    if plain is None or not plain[1] or "&" not in plain[1]:
        return url if plain else None
    pairs = sorted(argument.split("=") for argument in plain[1].split("&"))
    return url[: plain.start(1)] + "&".join(map("=".join, pairs))


def _of_canonical(url: str) -> bytes:
    """Scrapy's fingerprint of a GET request for a URL in canonical form."""
    said = f'{{"body": "", "headers": {{}}, "method": "GET", "url": "{url}"}}'
    return hashlib.sha1(said.encode(), usedforsecurity=False).digest()


def _goes_by_url(request: Request) -> bool:
    """True where a request's fingerprint is that of its URL."""
    return request.method == "GET" and not request.body and "verbatim_url" not in request.meta
