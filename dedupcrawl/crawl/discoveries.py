"""Discoveries: which page was the first of a crawl to lead to a URL."""

from __future__ import annotations

import mmh3
from scrapy import Request


class Discoveries:
    """Knows every URL that was yielded, by its hash: some 70 bytes each.

    Whoever skips a page must ask for what it was the first to lead to. That is enough for everything to be found
    again: what a page has found was asked for before anything that it led to, so the first finders form a tree, and
    each branch hangs from a page that is fetched or from one whose discoveries are remembered.
    """

    def __init__(self) -> None:
        self._known: set[int] = set()

    def is_new(self, request: Request) -> bool:
        """Count a request that was yielded; True for the first to its URL, and where its URL is not all there is."""
        key = mmh3.hash64(request.url.partition("#")[0])[0]
        is_known = key in self._known
        self._known.add(key)
        return not is_known or request.dont_filter or request.method != "GET"
