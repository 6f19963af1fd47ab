"""A memory of many URLs, by Python's own hash, which does not leave the process.

It has 64 bits and a secret of the process (SipHash), and a string remembers it. So nobody can make URLs that collide.
"""

from __future__ import annotations

from dedupcrawl.crawl.request_meta import without_fragment


def key_of(url: str) -> int:
    """What a URL is remembered by without its fragment, which no server sees: 60 bytes each in a set."""
    return hash(url.partition("#")[0] if "#" in url else url)


class UrlSet:
    """URLs, each remembered by its hash; fragments count."""

    def __init__(self) -> None:
        self._keys: set[int] = set()

    def __contains__(self, url: str) -> bool:
        return hash(url) in self._keys

    def add(self, url: str) -> bool:
        """Put a URL in; False when it is there already."""
        before = len(self._keys)
        self._keys.add(hash(url))
        return len(self._keys) > before

    def discard(self, url: str) -> None:
        """Take a URL out, if it is there."""
        self._keys.discard(hash(url))


class Fetched:
    """URLs that are, or were, fetched as they were asked for.

    Attributes:
        tried: Fetched for a trial, to be compared with what would be requested instead.
        given_back: Fetched because it was wrong to send them elsewhere.
        answered: URLs whose page the spider gets, or has had.
        for_others: Fetched only because other URLs were sent there.
        lost: URLs whose page was kept, and then not stored.
    """

    def __init__(self) -> None:
        self.tried, self.given_back, self.answered, self.for_others = UrlSet(), UrlSet(), UrlSet(), UrlSet()
        self.lost = UrlSet()

    def has(self, url: str) -> bool:
        """True when a URL, fragment aside, is one of them, for its own sake."""
        bare = without_fragment(url)
        return url in self.tried or bare in self.given_back or bare in self.answered

    def has_page_of(self, url: str) -> bool:
        """True when a URL is, or was, fetched as it was asked for, or because others were sent there."""
        return self.has(url) or url in self.for_others
