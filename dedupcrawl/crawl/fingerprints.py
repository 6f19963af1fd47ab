"""Fingerprints of requests, remembered by URL: the links of a menu come with every page."""

from __future__ import annotations

from collections import OrderedDict

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.utils.request import RequestFingerprinter

# Of the links of five sites 67 to 90 % had a URL of the last 10,000 different ones, and hardly more one of the last
# 100,000 (docs/crawl-cost.md, "Links that repeat").
_URLS_KEPT = 10_000


class Fingerprints:
    """The crawl's own fingerprinter, asked once a URL where that is all that it goes by.

    Scrapy remembers fingerprints as well, but of request objects, and each page makes its own.

    Args:
        crawler: Whose fingerprinter.
    """

    def __init__(self, crawler: Crawler) -> None:
        fingerprinter = crawler.request_fingerprinter
        assert fingerprinter is not None
        self._fingerprint = fingerprinter.fingerprint
        self._goes_by_url = type(fingerprinter) is RequestFingerprinter
        self._known: OrderedDict[str, bytes] = OrderedDict()

    def of(self, request: Request) -> bytes:
        """As the fingerprinter says."""
        if not self._goes_by_url or request.method != "GET" or request.body or "verbatim_url" in request.meta:
            return self._fingerprint(request)
        known = self._known.get(request.url)
        if known is not None:
            self._known.move_to_end(request.url)
            return known
        if len(self._known) >= _URLS_KEPT:
            self._known.popitem(last=False)
        known = self._known[request.url] = self._fingerprint(request)
        return known
