"""The keys that this extension writes into the meta of requests."""

from __future__ import annotations

from typing import Any, NamedTuple

from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from scrapy.http.request import NO_CALLBACK

from dedupcrawl.sites import without_user

ORIGINAL_URL = "dedup_original_url"  # the URL before any rule changed it
CANONICAL = "dedup_canonical_urls"  # URLs that this request's answer proves or refutes; it was rewritten to the last
TRAIL = "dedup_url_trail"  # URLs that this request was rewritten from, so that it cannot run in a circle
TRIAL = "dedup_trial"  # the URL on trial, whose page this request fetches as the spider asked for it
REFETCHED = "dedup_refetched"  # due URLs that this request fetches, and its own URL at first; until it is answered
GIVEN_BACK = "dedup_given_back"  # why it is sent as the spider made it, unless other rules rewrite it
UNPROVED = "dedup_unproved"  # whether a rule that is not proven yet has rewritten this request
FORCE_KEEP = "dedup_force_keep"  # whether its page is kept, whatever it duplicates; until it is answered
LOGGED = "dedup_logged"  # whether its answer is logged, though the spider does not get it
POSTED = "dedup_posted"  # it follows a request of another method, which says nothing about that request's URL

GONE = (404, 410)  # statuses by which a site says that there is no such page; any other failure may be temporary
MOVED = frozenset({301, 308})  # statuses of a permanent redirect

_OURS = frozenset({ORIGINAL_URL, CANONICAL, TRAIL, TRIAL, GIVEN_BACK, UNPROVED})


class Yielded(NamedTuple):
    """A request as a callback has yielded it, without what downloader middlewares write into it later (a proxy, say).

    It copies only the attributes that middlewares write into: to copy whole requests takes ten times as long, and few
    are sent again.
    """

    request: Request
    meta: dict[str, Any]
    headers: dict[bytes, list[bytes]]

    @classmethod
    def of(cls, request: Request) -> Yielded:
        return cls(request, dict(request.meta), dict(request.headers))

    def again(self) -> Request:
        """The request as it was yielded, to be sent again; as it is now, if its class cannot be copied."""
        try:
            return self.request.replace(meta=self.meta, headers=self.headers)
        except Exception:
            return self.request


class AlreadyFetchedError(IgnoreRequest):
    """Raised for a request that would fetch a page which the spider has, or will get by another request."""


def without_fragment(url: str) -> str:
    """A URL without its fragment, user and password: a server does not see these as part of the URL."""
    return without_user(url.partition("#")[0])


def urls_before(request: Request) -> tuple[str, ...]:
    return (*request.meta.get("redirect_urls", ()), *request.meta.get(TRAIL, ()))


def refreshed_from(request: Request) -> str:
    """The URL whose page led to this request by a meta refresh; empty if none did, or if that answered no GET."""
    is_refreshed = request.meta.get("redirect_reasons", ())[-1:] == ["meta refresh"] and POSTED not in request.meta
    return without_fragment(request.meta["redirect_urls"][-1]) if is_refreshed else ""


def untouched(request: Request) -> Request:
    """The request as it was before any rule changed it, without our marks.

    Rules may change it again, unless it bypasses Scrapy's duplicate filter (`dont_filter`).
    """
    return request.replace(meta={name: value for name, value in request.meta.items() if name not in _OURS})


def as_asked(request: Request, **meta: object) -> Request:
    """The request as it was before any rule changed it, with additional `meta`; rules leave it alone."""
    bare = untouched(request)
    return bare.replace(meta={**bare.meta, "dedup_url": False, **meta}, dont_filter=True)


def is_for_spider(request: Request) -> bool:
    """True for a GET request whose response goes to the spider."""
    return request.method == "GET" and request.callback is not NO_CALLBACK and not request.meta.get("dedup_skip")
