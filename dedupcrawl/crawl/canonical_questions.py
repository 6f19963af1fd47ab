"""Questions for the pages of canonical URLs that were answered before they were needed, or failed: past the spider."""

from __future__ import annotations

from functools import partial

from scrapy import Request
from scrapy.http import Response

from dedupcrawl.crawl.batch import Batch
from dedupcrawl.crawl.pages import FetchedPage, Pages
from dedupcrawl.crawl.pending_rewrites import PendingRewrites
from dedupcrawl.crawl.same_page import Look
from dedupcrawl.crawl.sending import Sending
from dedupcrawl.crawl.trials import Trials


class CanonicalQuestions:
    """Asks for each canonical URL once, and tells the trials what came of it.

    Args:
        trials: Those under way.
        pending: Told which canonical URLs led nowhere before.
        pages: Of the crawl's responses.
        batch: In which pages are looked at.
        sending: Has requests fetched.
    """

    def __init__(self, trials: Trials, pending: PendingRewrites, pages: Pages, batch: Batch, sending: Sending) -> None:
        self._trials = trials
        self._pending = pending
        self._pages = pages
        self._batch = batch
        self._sending = sending
        self._asked: set[str] = set()
        self._open = 0

    @property
    def are_open(self) -> bool:
        """True while an answer is to come."""
        return self._open > 0

    def ask(self, canonical: str) -> None:
        """Fetch a canonical URL."""
        if canonical not in self._asked:
            self._asked.add(canonical)
            self._open += 1
            question = Request(canonical, meta={"dedup_skip": True})
            led_nowhere = self._pending.is_refuted(canonical)
            self._sending.fetch(question, partial(self._answered, canonical, led_nowhere))

    def _answered(self, canonical: str, led_nowhere: bool, response: Response | None) -> None:
        self._open -= 1
        if response is not None and 200 <= response.status < 300:
            page = self._pages.of(response)
            self._batch.then(partial(self._learn, canonical, page), page)
        elif led_nowhere:  # and does so again, while the URL that was asked for has a page
            self._trials.gone(canonical)

    def _learn(self, canonical: str, page: FetchedPage) -> None:
        self._trials.found(canonical, Look.at(page.analyse()))
