"""Discoveries: which page was the first of a crawl to lead to a URL."""

from __future__ import annotations

from collections import defaultdict

import msgspec
from scrapy import Request
from scrapy.http import Response

from dedupcrawl.crawl.request_meta import TRIAL


class _Awaited(msgspec.Struct):
    """A URL that only the page of one on trial has led to so far."""

    url: str
    tried: str  # the URL on trial
    yields: int = 0  # that the duplicate filter did not drop


class Discoveries:
    """Knows every URL that was yielded, by its hash: some 70 bytes each.

    Whoever skips a page must ask for what it was the first to lead to. That is enough for everything to be found
    again: what a page has found was asked for before anything that it led to, so the first finders form a tree, and
    each branch hangs from a page that is fetched or from one whose discoveries are remembered. A page that no link led
    to, but a rule or what another page says, hangs from nothing once that is no longer believed: what it has led to is
    adrift, and found again by whoever else leads to it.
    """

    def __init__(self) -> None:
        self._known: set[int] = set()
        self._made: set[int] = set()  # hashes of URLs that rules made of others, or that pages name
        self._adrift: set[int] = set()  # hashes of URLs that only by way of such were yielded; they are not known
        self._awaited: dict[int, _Awaited] = {}  # by hash
        self._only_on: defaultdict[str, dict[int, _Awaited]] = defaultdict(dict)  # the same by URL on trial
        self._failed: set[int] = set()  # hashes of URLs whose trial has failed

    def is_new(self, request: Request, response: Response | None = None, sent: Request | None = None) -> bool:
        """Count a request that the callback of a response has yielded, or that a crawl starts with.

        True for the first to its URL, and where its URL is not all there is.

        Args:
            request: As it was yielded.
            response: Whose callback has yielded it.
            sent: What rules made of it. A trial counts what its page leads to by this: it is what is fetched and kept,
                and other pages may lead to it by URLs of other forms.
        """
        key = asked = _key(request.url)
        is_adrift = response is not None and self._is_adrift(response)
        was_asked = key in self._known or key in self._adrift
        is_known = key in self._known or (is_adrift and was_asked)
        if sent is None or sent.url == request.url:
            was_asked = was_asked or key in self._made
        else:
            asked = _key(sent.url)
            was_asked = asked in self._known or asked in self._made or asked in self._adrift
            self._made.add(asked)
        if not is_adrift:
            self._known.add(key)
            self._adrift.discard(key)
        elif not is_known and key not in self._made:
            self._adrift.add(key)
        tried = response.meta.get(TRIAL) if response is not None and response.request is not None else None
        if tried is not None and _key(tried) in self._failed:
            tried = None
        if tried is not None and not was_asked:
            found = _Awaited(request.url if sent is None else sent.url, tried)
            self._awaited[asked] = self._only_on[tried][asked] = found
        if (awaited := self._awaited.get(asked)) is not None:
            awaited.yields += 1
            if tried is None:
                self._forget(asked)
        return not is_known or request.dont_filter or request.method != "GET"

    def made(self, url: str) -> None:
        """A URL is asked for that no page has led to."""
        self._made.add(_key(url))

    def is_awaited(self, url: str, response: Response) -> bool:
        """True where only pages on trial, or adrift, have led to a URL so far: another one must be counted."""
        if not self._awaited and not self._made:
            return False
        key = _key(url)
        if key in self._awaited or key in self._known:
            return key in self._awaited
        return key in self._made or (key in self._adrift and not self._is_adrift(response))

    def _is_adrift(self, response: Response) -> bool:
        urls = {response.url} if response.request is None else {response.url, response.request.url}
        keys = {_key(url) for url in urls} - self._known if self._made else set()
        return not keys.isdisjoint(self._made) or not keys.isdisjoint(self._adrift)

    def dropped(self, request: Request) -> None:
        """The duplicate filter has dropped a request: another worker, or an earlier process, had asked for its URL."""
        if (awaited := self._awaited.get(_key(request.url))) is not None:
            awaited.yields -= 1
            if not awaited.yields:
                self._forget(_key(request.url))

    def failed(self, tried: str) -> None:
        """The page of a URL on trial is one of its own: what it has led to, and will, is found by it like by any."""
        self._failed.add(_key(tried))
        for key in list(self._only_on.pop(tried, ())):
            del self._awaited[key]

    def _forget(self, key: int) -> None:
        tried = self._awaited.pop(key).tried
        del self._only_on[tried][key]
        if not self._only_on[tried]:
            del self._only_on[tried]

    def only_on(self, url: str) -> list[str]:
        """The URLs that only the page of this one, which was fetched on trial, has led to so far."""
        return [one.url for one in self._only_on.get(url, {}).values()]


def _key(url: str) -> int:
    """Python's own hash, of 64 bits, which a string remembers: it does not leave the process."""
    return hash(url.partition("#")[0] if "#" in url else url)
