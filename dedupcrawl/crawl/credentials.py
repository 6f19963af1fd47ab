"""Credentials in requests: which of them are stored with a request that may have to be fetched again."""

from __future__ import annotations

import logging
from collections.abc import Iterator

from scrapy import Request, Spider
from scrapy.http.request import NO_CALLBACK

from dedupcrawl.crawl.packed_request import pack_request
from dedupcrawl.sites import without_user

logger = logging.getLogger(__name__)

_AUTHORIZATION, _COOKIE, _PROXY_AUTHORIZATION = b"Authorization", b"Cookie", b"Proxy-Authorization"
_HEADERS = (_AUTHORIZATION, _COOKIE, _PROXY_AUTHORIZATION)
_PROXY = ("proxy", "_auth_proxy", "_scheme_proxy")  # what HttpProxyMiddleware reads and writes in meta


class Credentials:
    """Tells the credentials that a spider sets itself from those that downloader middlewares add.

    What a middleware adds, such as Scrapy's for HTTP authentication, cookies and proxies, it adds again when the
    request is sent again, so it is not stored. What the spider sets is stored, because nothing else could add it; the
    log says so once.

    Args:
        merges_cookies: Whether CookiesMiddleware is on (COOKIES_ENABLED).
    """

    def __init__(self, spider: Spider, *, merges_cookies: bool = True) -> None:
        self.spider = spider
        self._merges_cookies = merges_cookies
        # A request that is sent again (a retry, say) still has the values that middlewares added. So a value that was
        # first seen after the middlewares does not come from the spider.
        self._own: set[bytes] = set()
        self._added: set[bytes] = set()
        self._said: set[str] = set()

    def asked(self, request: Request) -> None:
        """Note the credentials in a request that no other downloader middleware has seen yet; warn about new kinds."""
        kinds = []
        self._own.update(value for value in _values(request) if value not in self._added)
        for name in _HEADERS:
            if name in request.headers.keys() and self._is_own(request, name):  # noqa: SIM118 - a plain look-up
                kinds.append(f"the header {name.decode()}")
        if _user_in(request.meta.get("proxy")):
            kinds.append("a user in the URL of a proxy")
        if request.cookies and request.callback is not NO_CALLBACK:
            kinds.append("cookies")
        if _user_in(request.url):
            kinds.append("a user in the URL")
        if not self._said.issuperset(kinds):
            self._said.update(kinds)
            logger.warning(
                "The spider sets credentials itself (%s). Requests that may have to be fetched again are stored with "
                "them, in the index and in JOBDIR, where only this user can read them. This is logged once a kind.",
                ", ".join(kinds),
            )

    def sent(self, request: Request) -> None:
        """Note the credentials that middlewares have added to a request that was sent, or could not be sent."""
        self._added.update(value for value in _values(request) if value not in self._own)

    def pack(self, request: Request) -> bytes:
        """Pack a request as `pack_request` does, without the credentials that middlewares added."""
        added = [name for name in _HEADERS if name in request.headers and not self._is_own(request, name)]
        if added:
            headers = {name: value for name, value in request.headers.items() if name not in added}
            is_proxied = _PROXY_AUTHORIZATION in added
            meta = {name: value for name, value in request.meta.items() if not (is_proxied and name in _PROXY)}
            request = request.replace(headers=headers, meta=meta)
        return pack_request(request, self.spider)

    def _is_own(self, request: Request, name: bytes) -> bool:
        if name == _COOKIE:  # CookiesMiddleware writes this header itself, from `request.cookies` and its jar
            return not self._merges_cookies or bool(request.meta.get("dont_merge_cookies"))
        if name == _PROXY_AUTHORIZATION and _proxy(request) not in self._added:
            return True
        return self._added.isdisjoint(request.headers.getlist(name))


def _values(request: Request) -> Iterator[bytes]:
    """The values by which `Credentials` tells who has set them: those of headers, except cookies, and the proxy."""
    for name in (_AUTHORIZATION, _PROXY_AUTHORIZATION):
        if name in request.headers.keys():  # noqa: SIM118
            yield from request.headers.getlist(name)
    if "proxy" in request.meta:
        yield _proxy(request)


def _proxy(request: Request) -> bytes:
    return without_user(str(request.meta.get("proxy"))).rstrip("/").encode()


def _user_in(url: object) -> bool:
    return isinstance(url, str) and without_user(url) != url
