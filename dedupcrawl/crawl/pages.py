"""Fetched pages, and which items were made of them: an item pipeline gets no response, so this is remembered here."""

from __future__ import annotations

from collections import Counter
from dataclasses import InitVar, dataclass, field
from typing import Any, TypeGuard
from weakref import WeakKeyDictionary

from scrapy import Request
from scrapy.extensions.feedexport import FeedSlot
from scrapy.http import HtmlResponse, Response, TextResponse

from dedupcrawl.content.bodies import Kind, kind_of, page_of_body
from dedupcrawl.content.html import extract, facts_of
from dedupcrawl.core.digests import NO_SECRET, Secret
from dedupcrawl.core.facts import Facts
from dedupcrawl.crawl.request_meta import Yielded, urls_before, without_fragment
from dedupcrawl.crawl.software_store import SoftwareStore
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.index.pages import PageStore
from dedupcrawl.index.record import Premise
from dedupcrawl.page import Page
from dedupcrawl.settings import DedupSettings
from dedupcrawl.text.ignored import read_ignored
from dedupcrawl.verdict import Verdict


@dataclass(slots=True, eq=False, repr=False)
class FetchedPage:
    """What is known of one response. All its items share its verdict.

    It holds no reference to the response, which is large with its tree; it holds the body until it is analysed.
    """

    response: InitVar[Response]
    _settings: DedupSettings
    ignored: tuple[str, ...] = ()  # parts to ignore besides those in the settings, written as in DEDUP_IGNORE
    _secret: Secret = NO_SECRET  # secret of the index that it is compared with
    url: str = field(init=False)  # the response's without a fragment, as in the index
    body_length: int = field(init=False)
    mime: str = field(init=False)  # media type that the server states
    kind: Kind = field(init=False)
    _status: int = field(init=False)
    _encoding: str | None = field(init=False)
    _body: bytes | None = field(init=False)  # None once it was analysed
    _facts: Facts | None = None  # what the markup of the body says, until it is analysed
    _analysis: Analysis | None = None
    verdict: Verdict | None = None  # verdict of the content half, once there is one
    request: Request | None = None  # the request that it answers
    linked: set[int] = field(default_factory=set)  # ids of its items that have not come to our pipeline
    # URL of the page, or of an item with a URL of its own → the premise that it is stored, while it is kept in the
    # index but not stored yet.
    kept: dict[str, Premise] = field(default_factory=dict)
    on_their_way: int = 0  # items still in a pipeline, and one more while its callback may yield others
    stored: int = 0  # items that came through all pipelines
    unwritten: int = 0  # those of them that a feed could not write
    lost: int = 0  # items that did not come through
    has_failed: bool = False  # whether a pipeline has raised an error for one of these
    # Items that are judged one by one (DEDUP_ITEM_FIELDS): all their URLs; id of an item → its URL, valid while the
    # item is on its way; and the URLs of lost items.
    item_urls: set[str] = field(default_factory=set)
    judged_as: dict[int, str] = field(default_factory=dict)
    lost_alone: set[str] = field(default_factory=set)
    is_update: bool = False  # whether an earlier crawl has kept the same page at its URL
    named: frozenset[str] = frozenset()  # URLs that it states as its own
    contested: dict[str, str] = field(default_factory=dict)  # such a URL → another page that states it, too
    links: list[Yielded] | None = None  # links that it was the first to yield, from its callback's end until settled
    files: set[FeedSlot] = field(default_factory=set)  # files of feeds that hold its items
    judged_late: bool = False  # whether it was judged after an item of it was let through
    dropped: Counter[str] = field(default_factory=Counter)  # URL of a verdict → items that were dropped by it
    force_keep: tuple[str, ...] = ()  # due URLs for which it was fetched; if any, it is kept whatever it duplicates

    def __post_init__(self, response: Response) -> None:
        self.url, self.body_length, self._status = without_fragment(response.url), len(response.body), response.status
        self._body, self.mime = response.body, media_type(response)
        self._encoding = response.encoding if isinstance(response, TextResponse) else None
        self.kind = "html" if is_html(response) else kind_of(self.mime, self._body)

    @property
    def wanted(self) -> bool:
        """False for the page of an error, and if the request's meta switches the content half off."""
        meta = self.request.meta if self.request is not None else {}
        return 200 <= self._status < 300 and not meta.get("dedup_skip") and bool(meta.get("dedup_content", True))

    @property
    def holds(self) -> str:
        """What its body is, for messages: its kind, or "empty"."""
        return self.kind if self.body_length else "empty"

    @property
    def is_analysed(self) -> bool:
        return self._body is None

    def facts(self, response: TextResponse) -> Facts:
        """What the markup of its response says. The markup is parsed once for this and for the text."""
        facts = self._facts or facts_of(response.body, self._encoding)
        if self._body is not None:
            self._facts = facts
        return facts

    def analyse(self) -> Analysis:
        """The page's text and signatures, the same object at each call.

        Raises:
            RuntimeError: The analysis has failed before.
        """
        if self._analysis is None:
            body, facts, self._body, self._facts = self._body, self._facts, None, None
            if body is None:
                raise RuntimeError(f"{self.url} could not be analysed before")
            led_from = () if self.request is None else urls_before(self.request)
            self._analysis = Analysis(self._page(body, facts, (*led_from, *self.named)), self._secret)
        return self._analysis

    def _page(self, body: bytes, facts: Facts | None, also_at: tuple[str, ...]) -> Page:
        """Extract the page from its body; it has no paragraphs if it is neither HTML nor text."""
        settings = self._settings.for_url(self.url)
        ignored = read_ignored((*settings.ignore, *self.ignored))
        if self.kind != "html":
            return page_of_body(self.kind, body, self.url, encoding=self._encoding, ignored=ignored, also_at=also_at)
        return extract(
            facts or body,
            self.url,
            encoding=self._encoding,
            selector=settings.selector,
            ignored=ignored,
            fields="mwo" in settings.checks,
            also_at=also_at,
        )


def is_html(response: Response) -> TypeGuard[TextResponse]:
    if isinstance(response, HtmlResponse):
        return True
    return isinstance(response, TextResponse) and media_type(response) == "application/xhtml+xml"


def media_type(response: Response) -> str:
    """The media type that a response states, in lower case; empty if it states none."""
    return (response.headers.get("Content-Type") or b"").partition(b";")[0].strip().lower().decode("latin-1")


class Pages:
    """Response → FetchedPage, and item → FetchedPage while the item is on its way to the pipeline.

    Items are remembered by identity, for any kind of item: dict, Item, dataclass, attrs, pydantic, frozen or not. Each
    item is held until it is taken, so that no other object can get its id.

    Args:
        software: Tells which parts of pages at a URL to ignore besides those in the settings.
    """

    def __init__(self, settings: DedupSettings, index: PageStore, software: SoftwareStore | None = None) -> None:
        self._settings, self._index, self._software = settings, index, software
        self._of_response: WeakKeyDictionary[Response, FetchedPage] = WeakKeyDictionary()
        self._of_item: dict[int, tuple[Any, FetchedPage]] = {}

    def of(self, response: Response, request: Request | None = None) -> FetchedPage:
        """The page of a response, the same object at each call; pass `request` while `response.request` is unset."""
        page = self._of_response.get(response)
        if page is None:
            ignored = () if self._software is None else self._software.ignored_at(response.url)
            page = FetchedPage(response, self._settings, ignored, self._index.secret)
            page.request = request or response.request
            self._of_response[response] = page
        return page

    def known(self, response: Response | None) -> FetchedPage | None:
        """The page of a response, if `of` or `link` has made it before."""
        return None if response is None else self._of_response.get(response)

    def link(self, item: Any, response: Response) -> None:
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
        """Forget the items of a page that has none left in the pipelines.

        True if some never reached our pipeline as the objects that the callback yielded.
        """
        missed, page.linked = page.linked, set()
        for number in missed:
            self._of_item.pop(number, None)
        return bool(missed)
