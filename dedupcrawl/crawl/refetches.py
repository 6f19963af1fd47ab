"""Refetches of pages that are due: they, or the pages that they duplicate, were never stored (see `index.ledger`)."""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from functools import partial

from scrapy import Request
from scrapy.http import Response
from scrapy.settings import BaseSettings
from scrapy.utils.misc import load_object

from dedupcrawl.crawl.failures import INDEX_FAILS
from dedupcrawl.crawl.packed_request import restored
from dedupcrawl.crawl.parts import Parts
from dedupcrawl.crawl.request_meta import FORCE_KEEP, GONE, MOVED, ORIGINAL_URL, REFETCHED, without_fragment
from dedupcrawl.index.contract import Ledger
from dedupcrawl.index.open import is_redis
from dedupcrawl.index.record import Premise, Skip
from dedupcrawl.page import page_of_item
from dedupcrawl.printable import printable

logger = logging.getLogger(__name__)

_MOST_TIMES = 2  # times that one request is sent again in a crawl
_LEFT = (
    "%s has been fetched again %d times, because a later pipeline dropped or lost the items of each page that it "
    "duplicates. Correct that pipeline: the next crawl with this index fetches again what is not stored by the end."
)


class Refetches:
    """Requests pages that are due, and releases them once they are settled."""

    def __init__(self, parts: Parts) -> None:
        settings = parts.crawler.settings
        self._crawler, self._spider, self._stats = parts.crawler, parts.spider, parts.stats
        self._index: Ledger = parts.index
        self._pages, self._expected, self._bypass = parts.pages, parts.detector, parts.bypass
        self._fingerprint, self._credentials, self._sending = parts.fingerprint, parts.credentials, parts.sending
        self._owed = parts.owed
        self._shares = is_redis(settings.get("DEDUP_INDEX") or "")
        self._queue_lasts = bool(settings.get("JOBDIR"))
        self._after_leases = returns_unstored(settings)
        self._asked = False  # whether the index was asked for the pages that earlier runs left due
        self._unanswered: dict[str, Skip] = {}  # by URL: requested at the start, through a queue that may lose them
        self._times: Counter[bytes] = Counter()  # fingerprint of a request → how often it was sent again

    def fetch_again(self, due: Iterable[Skip], lost: Request | None) -> None:
        """Request the pages that were dropped because of items of the lost page, which the request `lost` fetched.

        A pipeline may lose the same texts again. So a page that was fetched again before, or is the lost page itself,
        is marked FORCE_KEEP: it is kept whatever it duplicates, and passes the pipelines by itself.
        """
        if self._sending.is_over:
            return
        own = self._fingerprint(lost) if lost is not None else b""
        taken = self._taken(due)
        self._count(taken)
        for fingerprint, request in self._requests_for(taken):
            self._times[fingerprint] += 1
            if self._times[fingerprint] > _MOST_TIMES:
                if self._times[fingerprint] == _MOST_TIMES + 1:
                    logger.warning(_LEFT, printable(request.url), _MOST_TIMES)
                continue
            if fingerprint == own or self._times[fingerprint] > 1:
                request.meta[FORCE_KEEP] = True
            self._sending.schedule(request.replace(dont_filter=True))

    def expire(self) -> bool:
        """Forget the pages that dead processes kept and did not store; False if it is unknown which are dead.

        The requests that those processes had leased must be fetched first. Otherwise a page that one of them had
        dropped, and not yet released, would be requested as due, stored, and fetched once more when its lease expires.
        """
        leasing = self._leasing()
        if leasing is None:
            return False
        abandoned = self._index.expire(leasing)
        if abandoned:
            logger.info(
                "%d pages of interrupted runs may not have been stored: they no longer count as kept.", abandoned
            )
        return True

    def _leasing(self) -> Collection[str] | None:
        """Lessee names of workers whose requests may come back to a shared queue; None if the queue cannot tell."""
        if not self._after_leases:
            return ()
        slot = self._crawler.engine._slot if self._crawler.engine is not None else None
        lessees: Collection[str] | None = slot.scheduler.lessees() if slot is not None else None  # type: ignore[attr-defined]
        return lessees

    def of_the_dead(self) -> list[Request]:
        """Requests for pages that became due when other workers died, or that could not be requested at the start.

        Also, once more, for pages that were requested at the start and never answered: after a kill Scrapy's queue of
        start requests in a JOBDIR has lost its position, and returns its oldest requests in place of as many new ones.
        Call this when the crawl is idle: then that queue is empty, and starts anew.
        """
        lost = [skip for skip in self._unanswered.values() if self._expected.expects(skip.url)]
        self._unanswered.clear()
        again = [request.replace(dont_filter=True) for _, request in self._requests_for(lost)]
        if self._asked and not self._shares:
            return again
        try:
            if (self._shares or self._after_leases) and not self.expire():
                return again
        except INDEX_FAILS:
            return again
        return again + [request.replace(dont_filter=True) for request in self._due()]

    def at_start(self) -> Iterator[Request]:
        """Requests for pages that an interrupted run never stored, and for pages dropped as duplicates of these.

        There are none yet if a shared queue gives back the requests that dead workers had leased: `of_the_dead` makes
        them later.
        """
        return iter(()) if self._after_leases else self._due(at_start=True)

    def _due(self, *, at_start: bool = False) -> Iterator[Request]:
        try:
            due = self._index.take(self._index.due(self._spider.name))
        except INDEX_FAILS as error:
            logger.error("What an earlier crawl lost cannot be fetched again at the moment: %s", printable(str(error)))
            return
        self._asked = True
        self._count(due)
        if at_start and self._queue_lasts:
            self._unanswered = {skip.url: skip for skip in due}
        for _, request in self._requests_for(due):
            if self._shares or self._queue_lasts:  # then the duplicate filter lasts, too, and may know these requests
                yield self._bypass.admit(request)
            else:
                yield request.replace(dont_filter=False)

    def answered(self, request: Request, response: Response) -> None:
        """Settle due pages that their site has taken down or moved, given a final response (after redirects).

        Any other failure, or a redirect that may be temporary (to a login, say), leaves them due.
        """
        refetched, force_keep = request.meta.pop(REFETCHED, None), request.meta.pop(FORCE_KEEP, False)
        if refetched is None:
            return
        requested, urls = refetched["asked"], refetched["urls"]
        for url in urls:
            self._unanswered.pop(url, None)
        self._expect(request, urls)
        if force_keep:
            self._pages.of(response, request).force_keep = tuple(urls)
        if response.status not in GONE or request.meta.get(ORIGINAL_URL, request.url) != request.url:
            reasons = request.meta.get("redirect_reasons", ())
            if 200 <= response.status < 300 and MOVED.issuperset(reasons):
                for url in urls:
                    if requested in (url, page_of_item(url)):
                        self._expected.moved(url, without_fragment(response.url) + url.removeprefix(requested))
            return
        for url in urls:
            self.release(url)
            self._stats.inc_value("dedup/content/refetched_gone")
            logger.info("%s cannot be fetched again: it is gone (status %d).", printable(url), response.status)

    def release(self, url: str, premise: Premise | None = None) -> None:
        """Release the page at `url`: it is no longer due; with a `premise`, it is due again if that falls."""
        if premise is not None:
            self._owed.do(partial(self._expected.release, url, premise))
        else:
            self._owed.do(partial(self._index.release, Skip(self._spider.name, url, b""), None))

    def _expect(self, request: Request, urls: Iterable[str]) -> None:
        """Have the detector expect these URLs, too, if another worker put the request into a shared queue."""
        others = [url for url in urls if not self._expected.expects(url)]
        packed = b""
        if others:
            with suppress(ValueError):  # then only its URL is stored
                packed = self._credentials.pack(request)
        for url in others:
            self._expected.expect(Skip(self._spider.name, url, packed))

    def _taken(self, due: Iterable[Skip]) -> list[Skip]:
        """The due pages of this spider that it may request; another spider requests its own at its next start."""
        own = [skip for skip in due if skip.spider == self._spider.name]
        try:
            return self._index.take(own)
        except INDEX_FAILS:
            return own  # at worst another worker requests them, too

    def _count(self, due: Collection[Skip]) -> None:
        if due:
            self._stats.inc_value("dedup/content/refetched", len(due))

    def _requests_for(self, due: Iterable[Skip]) -> Iterator[tuple[bytes, Request]]:
        """One request, after its fingerprint, for each page that is due or has due items."""
        pages: defaultdict[bytes, list[Skip]] = defaultdict(list)
        for skip in due:
            pages[self._fingerprint(self._request_for(skip))].append(skip)
        for fingerprint, refetch in pages.items():
            request = self._request_for(refetch[0])
            for skip in refetch:
                self._expected.expect(skip)
            meta = {
                **request.meta,
                REFETCHED: {"asked": without_fragment(request.url), "urls": [skip.url for skip in refetch]},
            }
            yield fingerprint, request.replace(meta=meta)

    def _request_for(self, skip: Skip) -> Request:
        """The stored request; if there is none, one for its URL that no rule may rewrite again."""
        return restored(skip.request, self._spider, skip.url, dedup_url=False)


def forgets_unstored(settings: BaseSettings) -> bool:
    """Whether, after a kill, only the index makes the crawl fetch again a page that was kept but not stored.

    That is so if the duplicate filter outlives the process, and no queue gives the page's request back.
    """
    filter_lasts = is_redis(settings.get("DEDUP_INDEX") or "") or bool(settings.get("JOBDIR"))
    return filter_lasts and not returns_unstored(settings)


def returns_unstored(settings: BaseSettings) -> bool:
    """Whether the scheduler gives back the requests of a killed worker whose items were not stored."""
    return bool(getattr(load_object(settings["SCHEDULER"]), "returns_unstored", False))
