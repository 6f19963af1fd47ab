"""Fetched pages and the items made of them: an item pipeline gets no response, so the link is kept here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import InitVar, dataclass, field, replace
from typing import Any, TypeGuard
from weakref import WeakKeyDictionary

import mmh3
from scrapy import Request
from scrapy.extensions.feedexport import FeedSlot
from scrapy.http import HtmlResponse, Response, TextResponse

from dedupcrawl.content.encoding import decode
from dedupcrawl.content.html import extract
from dedupcrawl.crawl.request_meta import Yielded, urls_before, without_fragment
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.page import Page, paragraphs_of
from dedupcrawl.settings import DedupSettings
from dedupcrawl.text.ignored import read_ignored
from dedupcrawl.verdict import Verdict


@dataclass(slots=True, eq=False, repr=False)
class FetchedPage:
    """What is known of one response. All its items share its verdict.

    It holds no reference to the response, which is large with its tree, and keeps the body until it is analysed.
    """

    response: InitVar[Response]
    _settings: DedupSettings
    _ignored: tuple[str, ...] = ()
    url: str = field(init=False)  # the response's, without a fragment: that of the index
    body_length: int = field(init=False)
    _status: int = field(init=False)
    _read: Callable[[DedupSettings], Page] | None = field(init=False)
    _analysis: Analysis | None = None
    verdict: Verdict | None = None  # what the content half said, once it was asked
    request: Request | None = None  # whose response it is
    linked: set[int] = field(default_factory=set)  # ids of its items that have not come to our pipeline
    # Where the index keeps it, or its items, by their own URLs, while they are on their way.
    kept_under: dict[str, str] = field(default_factory=dict)
    on_their_way: int = 0  # items that are not at their end yet, and one more while its callback may yield others
    stored: int = 0  # items that came through all pipelines
    unwritten: int = 0  # items that did, but that a feed could not take
    lost: int = 0  # items that did not
    # Of items that are judged one by one (DEDUP_ITEM_FIELDS): all their URLs; these by the id of an item, valid while
    # it is on its way; and of those that were lost.
    item_urls: set[str] = field(default_factory=set)
    judged_as: dict[int, str] = field(default_factory=dict)
    lost_alone: set[str] = field(default_factory=set)
    is_update: bool = False  # whether an earlier crawl has kept the same page at its URL
    named: frozenset[str] = frozenset()  # URLs that it names as its own
    # Those of them of which another page has said so before, and that page.
    contested: dict[str, str] = field(default_factory=dict)
    # What only it led to, once its callback has come to its end; None again when that is settled.
    links: list[Yielded] | None = None
    files: set[FeedSlot] = field(default_factory=set)  # of feeds, that hold its items
    judged_late: bool = False  # whether it was judged after an item of it was let through
    dropped: Counter[str] = field(default_factory=Counter)  # items dropped with it, by the URL of the verdict
    force_keep: tuple[str, ...] = ()  # URLs of orphans for which it was fetched: kept whatever it duplicates

    def __post_init__(self, response: Response) -> None:
        self.url, self.body_length, self._status = without_fragment(response.url), len(response.body), response.status
        self._read = _reader(response)

    @property
    def wanted(self) -> bool:
        """False for the page of an error, and when the request's meta switched the content half off."""
        meta = self.request.meta if self.request is not None else {}
        return 200 <= self._status < 300 and not meta.get("dedup_skip") and bool(meta.get("dedup_content", True))

    @property
    def is_analysed(self) -> bool:
        """True when `analyse` costs nothing."""
        return self._read is None

    def analyse(self) -> Analysis:
        """The page's text and signatures, the same object at each call.

        Raises:
            RuntimeError: It has failed before.
        """
        if self._analysis is None:
            read, self._read = self._read, None
            if read is None:
                raise RuntimeError(f"{self.url} could not be analysed before")
            settings = self._settings.for_url(self.url)
            if self._ignored:
                settings = replace(settings, ignore=(*settings.ignore, *self._ignored))
            led_from = () if self.request is None else urls_before(self.request)
            self._analysis = Analysis(replace(read(settings), also_at=(*led_from, *self.named)))
        return self._analysis


def _reader(response: Response) -> Callable[[DedupSettings], Page]:
    """What makes a Page of a response, without paragraphs when that is neither HTML nor plain text.

    It holds what it needs of the response, and not that.
    """
    url, body, encoding = without_fragment(response.url), response.body, None
    holds_markup, is_plain = is_html(response), media_type(response) == b"text/plain"
    if isinstance(response, TextResponse):
        encoding = response.encoding

    def read(settings: DedupSettings) -> Page:
        ignored, fields = read_ignored(settings.ignore), "mwo" in settings.checks
        if holds_markup:
            return extract(body, url, encoding=encoding, selector=settings.selector, ignored=ignored, fields=fields)
        said = decode(body, encoding) if encoding and is_plain else ""
        digest = mmh3.hash_bytes(body) if body else b""
        return Page(url, paragraphs=ignored.lines(paragraphs_of(said)), body_digest=digest, body_tells=encoding is None)

    return read


def is_html(response: Response) -> TypeGuard[TextResponse]:
    """True for HTML and XHTML."""
    is_xhtml = isinstance(response, TextResponse) and media_type(response) == b"application/xhtml+xml"
    return is_xhtml or isinstance(response, HtmlResponse)


def media_type(response: Response) -> bytes:
    """What a response says that it is, in lower case; empty where it does not."""
    return (response.headers.get("Content-Type") or b"").partition(b";")[0].strip().lower()


class Pages:
    """Response → FetchedPage, and item → FetchedPage while the item is on its way to the pipeline.

    Items are remembered by identity, for any kind of item: dict, Item, dataclass, attrs, pydantic, frozen or not. The
    item itself is held until it is taken, so that its id cannot be that of another.

    Attributes:
        ignored_at: What does not count of pages at a URL, besides what the settings say, as in DEDUP_IGNORE.
    """

    def __init__(self, settings: DedupSettings) -> None:
        self._settings = settings
        self.ignored_at: Callable[[str], tuple[str, ...]] = lambda url: ()
        self._of_response: WeakKeyDictionary[Response, FetchedPage] = WeakKeyDictionary()
        self._of_item: dict[int, tuple[Any, FetchedPage]] = {}

    def of(self, response: Response, request: Request | None = None) -> FetchedPage:
        """The page of a response, the same object at each call; a middleware knows whose response that is."""
        page = self._of_response.get(response)
        if page is None:
            page = FetchedPage(response, self._settings, self.ignored_at(response.url))
            page.request = request or response.request
            self._of_response[response] = page
        return page

    def known(self, response: Response | None) -> FetchedPage | None:
        """The page of a response, if anybody has asked for it before."""
        return None if response is None else self._of_response.get(response)

    def link(self, item: Any, response: Response) -> None:
        """`item` was made of `response`."""
        page = self.of(response)
        page.request = response.request
        page.on_their_way += 1
        page.linked.add(id(item))
        self._of_item[id(item)] = (item, page)

    def take(self, item: Any) -> FetchedPage | None:
        """The page that `item` was made of, once; None for an item that did not come out of a callback."""
        _, page = self._of_item.pop(id(item), (None, None))
        if page is not None:
            page.linked.discard(id(item))
        return page

    def forget_rest(self, page: FetchedPage) -> bool:
        """All items of a page are at their end; True when some have not come to our pipeline as what they were."""
        missed, page.linked = page.linked, set()
        for number in missed:
            self._of_item.pop(number, None)
        return bool(missed)
