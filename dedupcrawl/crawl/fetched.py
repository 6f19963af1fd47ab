"""Which URLs a crawl has fetched as they were requested, and why."""

from __future__ import annotations

from dedupcrawl.core.hash_set import HashSet
from dedupcrawl.crawl.request_meta import without_fragment


class Fetched:
    """URLs that are, or were, fetched as they were requested.

    Attributes:
        tried: Fetched for a trial, to be compared with the page that would be requested instead.
        given_back: Fetched because a request for them had been rewritten wrongly.
        answered: URLs whose page the spider gets, or has got.
        for_others: Fetched only because other URLs were sent there.
        lost: URLs whose page was kept, but not stored.
    """

    def __init__(self) -> None:
        self.tried, self.given_back, self.answered, self.for_others = HashSet(), HashSet(), HashSet(), HashSet()
        self.lost = HashSet()

    def has(self, url: str) -> bool:
        """True if a URL (fragment aside) is fetched for its own sake, not only because others were sent there."""
        bare = without_fragment(url)
        return url in self.tried or bare in self.given_back or bare in self.answered

    def has_page_of(self, url: str) -> bool:
        """True if a URL is, or was, fetched as it was requested, or because other requests were sent to it."""
        return self.has(url) or url in self.for_others
