"""Requests that go around Scrapy's duplicate filter, which therefore does not know them: remembered here instead."""

from __future__ import annotations

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest


class AroundFilter:
    """Lets requests by the duplicate filter, and nothing after them that the filter would have dropped.

    The filter may have dropped such a request already, or know it from an earlier run, so it cannot be asked; nor is it
    told, and would let a later link, or a redirect, to the same URL pass. It remembers fingerprints, as the filter
    does, and forgets them with the process: what was on its way when that died is asked for again.

    Args:
        crawler: Whose requests.
    """

    def __init__(self, crawler: Crawler) -> None:
        assert crawler.request_fingerprinter is not None
        self._signals = crawler.signals
        self._fingerprint = crawler.request_fingerprinter.fingerprint
        self._known: set[bytes] = set()

    def let_by(self, request: Request) -> Request:
        """`request`, to be sent past the filter."""
        if not self._known:  # before, a signal for every request would cost much and tell nothing
            self._signals.connect(self._scheduled, signal=signals.request_scheduled)
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
            raise IgnoreRequest("It was sent around the duplicate filter before.")
