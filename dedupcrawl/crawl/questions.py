"""Questions past the spider: what a host says where it has no page, and where canonical URLs lead."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial

from scrapy import Request
from scrapy.http import Response

from dedupcrawl.crawl.batch import Batch
from dedupcrawl.crawl.error_pages import ErrorPages, made_up
from dedupcrawl.crawl.pages import FetchedPage, Pages
from dedupcrawl.crawl.rewrites import PendingRewrites
from dedupcrawl.crawl.same_page import Look
from dedupcrawl.crawl.sending import Sending
from dedupcrawl.crawl.trials import Trials
from dedupcrawl.printable import printable

logger = logging.getLogger(__name__)


class ErrorQuestions:
    """Fetches one URL that is made up from each host that it is asked about.

    Args:
        errors: Learns from the answers.
        pages: Of the crawl's responses.
        batch: In which pages are looked at.
        sending: Has requests fetched.
    """

    def __init__(self, errors: ErrorPages, pages: Pages, batch: Batch, sending: Sending) -> None:
        self._errors = errors
        self._pages = pages
        self._batch = batch
        self._sending = sending
        self._waiting: dict[str, list[tuple[str, Callable[[], None]]]] = {}  # host → URLs, and what is to be done then

    @property
    def are_open(self) -> bool:
        """True while an answer is still to come."""
        return bool(self._waiting)

    def ask(self, host: str, url: str) -> None:
        """Ask the host of `url`, unless that was done before."""
        if not self._errors.is_new(host):
            return
        self._waiting.setdefault(host, [])  # a host that was forgotten meanwhile is new again
        question = Request(made_up(url), meta={"dedup_skip": True})
        self._sending.fetch(question, partial(self._answered, host, question.url))

    def then(self, host: str, url: str, work: Callable[[], None]) -> None:
        """Do what has to do with `url` once the host has answered, at once where nobody asked."""
        if host in self._waiting:
            self._waiting[host].append((url, work))
        else:
            work()

    def learn(self, host: str, page: FetchedPage) -> None:
        """This is an error page of the host."""
        self._errors.learn(host, Look.at(page.analyse()).outline)

    def _answered(self, host: str, url: str, response: Response | None) -> None:
        """What the host says to a URL that nobody has; None when it does not answer."""
        page = None
        try:
            if response is not None and (response.status >= 400 or response.url == url):  # else it leads elsewhere
                page = self._pages.of(response)
        except Exception:  # who waits for this answer must not wait forever
            logger.exception("What %s says to a URL that is made up cannot be read.", printable(host))
        self._batch.then(partial(self._settle, host, page), page)

    def _settle(self, host: str, page: FetchedPage | None) -> None:
        waiting = self._waiting.pop(host, [])
        try:
            if page is not None:
                self.learn(host, page)
        finally:
            for url, work in waiting:
                try:
                    work()
                except Exception:
                    logger.exception("What a rule makes of %s could not be looked at.", printable(url))


class CanonicalQuestions:
    """Asks for canonical URLs, and tells the trials that wait for their pages what came of it.

    Args:
        trials: Those under way. Of one whose canonical URL does not answer nothing more can be known: it ends.
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
        self._open: set[str] = set()

    @property
    def are_open(self) -> bool:
        """True while an answer is to come."""
        return bool(self._open)

    def ask(self, canonical: str) -> None:
        """Fetch a canonical URL, unless that is under way."""
        if canonical not in self._open:
            self._open.add(canonical)
            led_nowhere = self._pending.is_refuted(canonical)
            question = Request(canonical, meta={"dedup_skip": True})
            self._sending.fetch(question, partial(self._answered, canonical, led_nowhere))

    def _answered(self, canonical: str, led_nowhere: bool, response: Response | None) -> None:
        page = None
        try:
            if response is not None and 200 <= response.status < 300:
                page = self._pages.of(response)
        except Exception:  # the crawl's end waits for this answer
            logger.exception("What a rule makes of a URL, %s, cannot be read.", printable(canonical))
        self._batch.then(partial(self._settle, canonical, led_nowhere, page), page)

    def _settle(self, canonical: str, led_nowhere: bool, page: FetchedPage | None) -> None:
        self._open.discard(canonical)
        try:
            if page is not None:
                self._trials.found(canonical, Look.at(page.analyse()))
            elif led_nowhere:  # and does so again, while the URL that was asked for has a page
                self._trials.gone(canonical)
        finally:
            self._trials.not_found(canonical)
