"""The keys that this extension writes into the meta of requests."""

from __future__ import annotations

from typing import Any, NamedTuple

from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from scrapy.http.request import NO_CALLBACK

from dedupcrawl.sites import without_user

ORIGINAL_URL = "dedup_original_url"  # the URL that was asked for before it was rewritten
CANONICAL = "dedup_canonical_urls"  # those that this request's answer proves or refutes, the last rewritten to last
TRAIL = "dedup_url_trail"  # URLs this request was rewritten from, so that it cannot go round
TRIAL = "dedup_trial"  # the URL on trial whose page this request fetches, as it was asked for
REFETCHED = "dedup_refetched"  # URLs that are due and that this request fetches, and what it asked for; until answered
GIVEN_BACK = "dedup_given_back"  # why it is asked for as it was asked for, unless other rules make another URL of it
UNPROVED = "dedup_unproved"  # whether a rule that is yet to be proved has had a part in this request
FORCE_KEEP = "dedup_force_keep"  # whether what it fetches is kept, whatever it duplicates; until it is answered
POSTED = "dedup_posted"  # it was led on from what was sent to a URL by another method: nothing is said of that URL

GONE = (404, 410)  # statuses by which a site says that there is no such page; any other may be a passing failure
MOVED = frozenset({301, 308})  # statuses of a redirect that is for good

_OURS = frozenset({ORIGINAL_URL, CANONICAL, TRAIL, TRIAL, GIVEN_BACK, UNPROVED})


class Yielded(NamedTuple):
    """A request as a callback has yielded it, whatever downloader middlewares write into it since, such as a proxy.

    The attributes that middlewares write into are copied; to copy whole requests takes ten times as long, and few are
    sent again.
    """

    request: Request
    meta: dict[str, Any]
    headers: dict[bytes, list[bytes]]

    @classmethod
    def of(cls, request: Request) -> Yielded:
        """As it is now."""
        return cls(request, dict(request.meta), dict(request.headers))

    def again(self) -> Request:
        """The request, to be sent again; if its class has further arguments, as it is now."""
        try:
            return self.request.replace(meta=self.meta, headers=self.headers)
        except Exception:
            return self.request


class AlreadyFetchedError(IgnoreRequest):
    """Raised for a request that would fetch a page which the spider has, or will have by another request."""


def without_fragment(url: str) -> str:
    """What a server sees of a URL: neither its fragment nor, in the URL, user and password."""
    return without_user(url.partition("#")[0])


def urls_before(request: Request) -> tuple[str, ...]:
    """The URLs that led to this request, by redirects and rules."""
    return (*request.meta.get("redirect_urls", ()), *request.meta.get(TRAIL, ()))


def refreshed_from(request: Request) -> str:
    """The URL whose page has led to this request by a meta refresh; empty where none has, or by another method."""
    is_refreshed = request.meta.get("redirect_reasons", ())[-1:] == ["meta refresh"] and POSTED not in request.meta
    return without_fragment(request.meta["redirect_urls"][-1]) if is_refreshed else ""


def untouched(request: Request) -> Request:
    """The request as it was before any rule changed it, without our marks.

    Other rules may change it, unless it goes past Scrapy's duplicate filter (`dont_filter`).
    """
    return request.replace(meta={name: value for name, value in request.meta.items() if name not in _OURS})


def as_asked(request: Request, **meta: object) -> Request:
    """The request as it was before any rule changed it, for rules to leave alone; with this `meta` besides."""
    bare = untouched(request)
    return bare.replace(meta={**bare.meta, "dedup_url": False, **meta}, dont_filter=True)


def is_for_spider(request: Request) -> bool:
    """False for what is fetched past the spider."""
    return request.method == "GET" and request.callback is not NO_CALLBACK and not request.meta.get("dedup_skip")
