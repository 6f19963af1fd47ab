"""Refetches: pages that are due, because they, or what they were dropped for, were never stored (`index.ledger`)."""

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

_MOST_TIMES = 2  # that one request is sent again in a crawl
_LEFT = (
    "%s has been fetched again %d times, because a later pipeline dropped or lost the items of each page that it "
    "duplicates. Correct that pipeline: the next crawl with this index fetches again what is not stored by the end."
)


class Refetches:
    """Requests pages that are due, and releases them once they are settled.

    Args:
        parts: Of the crawl; its pages are told which may not be dropped, its detector of each that is fetched again.
    """

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
        self._asked = False  # whether the index has told what earlier runs left
        self._unanswered: dict[str, Skip] = {}  # by URL: asked for at the start, through a queue that may lose it
        self._times: Counter[bytes] = Counter()  # how often a request was sent again, by its fingerprint

    def fetch_again(self, due: Iterable[Skip], lost: Request | None) -> None:
        """Request the pages that were dropped because of items of the page that `lost` fetched.

        The same texts may be lost again. So a page that has been fetched again before, or is on the lost page itself,
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
        """Forget what dead processes kept and did not store; False if it is not known which processes may be dead.

        The requests that they had leased must be fetched first. Otherwise a page that one of them had dropped, and not
        yet released, would be requested as due, stored, and fetched once more when its lease comes back.
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
        """Names as lessees of workers whose requests may come back to a shared queue; None while it cannot tell."""
        if not self._after_leases:
            return ()
        slot = self._crawler.engine._slot if self._crawler.engine is not None else None
        told: Collection[str] | None = slot.scheduler.lessees() if slot is not None else None  # type: ignore[attr-defined]
        return told

    def of_the_dead(self) -> list[Request]:
        """Pages that were dropped because of pages of workers that died later, and pages that could not be requested at
        the start.

        Also, once more, pages that were requested then and never answered. After a kill Scrapy's queue of start
        requests in a JOBDIR no longer knows where it was, and gives out its oldest requests in place of as many new
        ones. Called when there is nothing else to do: that queue is empty now, and made anew.
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
        """Requests for what an interrupted run never stored, and for what was dropped because of that.

        If a shared queue gives back what dead workers had leased, this waits until there is nothing else to do.
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
            if self._shares or self._queue_lasts:  # so does the duplicate filter, which may take them for done
                yield self._bypass.admit(request)
            else:
                yield request.replace(dont_filter=False)

    def answered(self, request: Request, response: Response) -> None:
        """A final response, after redirects: what is due, and its site has taken down or moved, is due no more.

        By any other failure, or a redirect that may be for now (a login, say), nothing is settled.
        """
        refetched, force_keep = request.meta.pop(REFETCHED, None), request.meta.pop(FORCE_KEEP, False)
        if refetched is None:
            return
        asked, urls = refetched["asked"], refetched["urls"]
        for url in urls:
            self._unanswered.pop(url, None)
        self._expect(request, urls)
        if force_keep:
            self._pages.of(response, request).force_keep = tuple(urls)
        if response.status not in GONE or request.meta.get(ORIGINAL_URL, request.url) != request.url:
            reasons = request.meta.get("redirect_reasons", ())
            if 200 <= response.status < 300 and MOVED.issuperset(reasons):
                for url in urls:
                    if asked in (url, page_of_item(url)):
                        self._expected.moved(url, without_fragment(response.url) + url.removeprefix(asked))
            return
        for url in urls:
            self.release(url)
            self._stats.inc_value("dedup/content/refetched_gone")
            logger.info("%s cannot be fetched again: it is gone (status %d).", printable(url), response.status)

    def release(self, url: str, premise: Premise | None = None) -> None:
        """The page at `url` is due no more, unless the premise falls that it was kept for."""
        if premise is not None:
            self._owed.do(partial(self._expected.release, url, premise))
        else:
            self._owed.do(partial(self._index.release, Skip(self._spider.name, url, b""), None))

    def _expect(self, request: Request, urls: Iterable[str]) -> None:
        """From a shared queue also comes what another worker asks for."""
        others = [url for url in urls if not self._expected.expects(url)]
        packed = b""
        if others:
            with suppress(ValueError):  # then its URL has to do
                packed = self._credentials.pack(request)
        for url in others:
            self._expected.expect(Skip(self._spider.name, url, packed))

    def _taken(self, due: Iterable[Skip]) -> list[Skip]:
        """Those of this spider; another spider will ask for its own at its next start."""
        own = [skip for skip in due if skip.spider == self._spider.name]
        try:
            return self._index.take(own)
        except INDEX_FAILS:
            return own  # at worst another worker asks for them, too

    def _count(self, due: Collection[Skip]) -> None:
        if due:
            self._stats.inc_value("dedup/content/refetched", len(due))

    def _requests_for(self, due: Iterable[Skip]) -> Iterator[tuple[bytes, Request]]:
        """For each page that is due, or of which items are, the fingerprint of its request, and that."""
        pages: defaultdict[bytes, list[Skip]] = defaultdict(list)
        for skip in due:
            pages[self._fingerprint(self._request_for(skip))].append(skip)
        for fingerprint, asked in pages.items():
            request = self._request_for(asked[0])
            for skip in asked:
                self._expected.expect(skip)
            meta = {
                **request.meta,
                REFETCHED: {"asked": without_fragment(request.url), "urls": [skip.url for skip in asked]},
            }
            yield fingerprint, request.replace(meta=meta)

    def _request_for(self, skip: Skip) -> Request:
        """By its URL alone no rule may send it elsewhere again."""
        return restored(skip.request, self._spider, skip.url, dedup_url=False)


def forgets_unstored(settings: BaseSettings) -> bool:
    """Whether, after a kill, nothing but the index asks again for a page that was kept but not stored.

    That is where a duplicate filter outlives the process, so that the next one does not ask again for what it had.
    """
    filter_lasts = is_redis(settings.get("DEDUP_INDEX") or "") or bool(settings.get("JOBDIR"))
    return filter_lasts and not returns_unstored(settings)


def returns_unstored(settings: BaseSettings) -> bool:
    """Whether the scheduler gives back what a worker had fetched and not stored when it was killed."""
    return bool(getattr(load_object(settings["SCHEDULER"]), "returns_unstored", False))
