"""Scrapy's fingerprints of requests, remembered by URL: the links of a menu come with every page."""

from __future__ import annotations

from collections import OrderedDict

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.utils.request import RequestFingerprinter

# Of the links of five sites 67 to 90 % had a URL of the last 10,000 different ones, and hardly more one of the last
# 100,000 (docs/crawl-cost.md, "Links that repeat").
URLS_KEPT = 10_000


class RememberedFingerprints(RequestFingerprinter):
    """Scrapy's own fingerprinter, asked once a URL where that is all that it goes by. The add-on makes it the crawl's.

    Scrapy remembers fingerprints as well, but of request objects, and each page makes its own.
    """

    def __init__(self, crawler: Crawler | None = None) -> None:
        super().__init__(crawler)
        self._known: OrderedDict[str, bytes] = OrderedDict()

    def fingerprint(self, request: Request) -> bytes:
        """As Scrapy's own says."""
        if not goes_by_url(request):
            return super().fingerprint(request)
        url = request.url
        known = self._known.get(url)
        if known is not None:
            self._known.move_to_end(url)
            return known
        if len(self._known) >= URLS_KEPT:
            self._known.popitem(last=False)
        known = self._known[url] = super().fingerprint(request)
        return known


def goes_by_url(request: Request) -> bool:
    """True where a request's fingerprint is that of its URL."""
    return request.method == "GET" and not request.body and "verbatim_url" not in request.meta
