"""Probes: requests past the spider, for what a host answers where it has no page, and where canonical URLs lead."""

from __future__ import annotations

import logging
import random
import string
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.http import Response

from dedupcrawl.crawl.batch import Batch
from dedupcrawl.crawl.error_pages import ErrorPages
from dedupcrawl.crawl.pages import FetchedPage, Pages
from dedupcrawl.crawl.request_meta import LOGGED
from dedupcrawl.crawl.same_page import Look
from dedupcrawl.crawl.sending import Sending
from dedupcrawl.printable import printable

logger = logging.getLogger(__name__)


@dataclass(eq=False)
class Probes:
    """Fetches pages past the spider, and analyses them in batches with others."""

    pages: Pages
    batch: Batch
    sending: Sending
    # Subject of an open probe → URLs and the work on them that waits for its answer.
    _waiting: dict[str, list[tuple[str, Callable[[], None]]]] = field(default_factory=dict, init=False)

    @property
    def are_open(self) -> bool:
        """True while the answer to a probe is still to come."""
        return bool(self._waiting)

    def then(self, about: str, url: str, work: Callable[[], None]) -> None:
        """Do `work`, which concerns `url`, once the probe `about` is answered, or at once if there is no such probe."""
        if about in self._waiting:
            self._waiting[about].append((url, work))
        else:
            work()

    def ask(
        self,
        about: str,
        url: str,
        is_wanted: Callable[[Response], bool],
        settle: Callable[[FetchedPage | None], None],
        *,
        is_made_up: bool = False,
    ) -> None:
        """Fetch a URL, and call `settle` with its page; with None if there is no answer, or none that is wanted.

        Nothing happens while another probe with the subject `about` is open. What a URL answers that is made up is not
        logged, nor is it requested again if the server fails.
        """
        if about in self._waiting:
            return
        self._waiting[about] = []

        def answered(response: Response | None) -> None:
            page = None
            try:
                if response is not None and is_wanted(response):
                    page = self.pages.of(response)
            except Exception:  # whatever waits for this answer must not wait forever
                logger.exception("The answer of %s to a request of dedupcrawl's own cannot be read.", printable(url))
            self.batch.then(partial(self._settle, about, partial(settle, page)), page)

        meta = {"dedup_skip": True, LOGGED: not is_made_up, "dont_retry": is_made_up}
        self.sending.fetch(Request(url, meta=meta), answered)

    def _settle(self, about: str, settle: Callable[[], None]) -> None:
        waiting = self._waiting.pop(about)
        try:
            settle()
        finally:
            for url, work in waiting:
                try:
                    work()
                except Exception:
                    logger.exception("%s could not be processed; the crawl goes on.", printable(url))


def missing_url(url: str) -> str:
    """A random URL in the same folder as `url`, which no site has."""
    parts = urlsplit(url)
    name = "".join(random.choices(string.ascii_lowercase, k=20))
    return parts._replace(path=f"{parts.path.rpartition('/')[0]}/{name}", query="", fragment="").geturl()


def ask_for_error(probes: Probes, errors: ErrorPages, host: str, url: str) -> None:
    """Fetch a made-up URL beside `url`, once for each host, so that `errors` learns from the answer."""
    if errors.is_new(host):
        missing = Request(missing_url(url)).url  # as Scrapy writes it
        learn = partial(learn_error, errors, host)
        probes.ask(host, missing, lambda found: found.status >= 400 or found.url == missing, learn, is_made_up=True)


def learn_error(errors: ErrorPages, host: str, page: FetchedPage | None) -> None:
    """Add the text of a host's error page, if there is one, to `errors`."""
    if page is not None:
        errors.learn(host, Look.at(page.analyse()))
