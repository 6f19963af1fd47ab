"""PageLog: what the crawl log says of each response; pages get their row once they are analysed."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from itertools import zip_longest

from scrapy import Request
from scrapy.http import Response

from dedupcrawl.content.checks.registry import make_checks
from dedupcrawl.crawl.batch import Batch
from dedupcrawl.crawl.log_file import LogFile, LogRow, canonical_href
from dedupcrawl.crawl.pages import FetchedPage, Pages, is_html
from dedupcrawl.settings import DedupSettings
from dedupcrawl.verdict import Verdict

_CHECKS = ("exact", "simhash")  # their signatures are columns of the crawl log


class PageLog:
    """Writes the rows of one crawl.

    Args:
        file: Where they go.
        run: Identifies the crawl.
        settings: The checks' parameters.
        pages: Fetched pages.
        batch: Where pages wait to be analysed.
    """

    def __init__(self, file: LogFile, run: str, settings: DedupSettings, pages: Pages, batch: Batch) -> None:
        self._file = file
        self._run = run
        self._pages = pages
        self._batch = batch
        self._checks = make_checks(_CHECKS, settings.parameters)

    def add(self, request: Request, response: Response, fetched_at: float) -> None:
        """Write the response's row, and one for each redirect that led to it."""
        reasons = request.meta.get("redirect_reasons", ())
        for source, reason in zip_longest(request.meta.get("redirect_urls", ()), reasons):
            if source is not None:
                status = reason if isinstance(reason, int) else 301  # such as a meta refresh
                self._file.write(LogRow(source, status, redirect_to=response.url, fetched_at=fetched_at, run=self._run))
        mime = (response.headers.get("Content-Type") or b"").partition(b";")[0].strip().lower()
        row = LogRow(
            response.url,
            response.status,
            mime=mime.decode("latin-1"),
            bytes=len(response.body),
            fetched_at=round(fetched_at, 3),
            run=self._run,
        )
        if response.status != 200 or not is_html(response):
            self._file.write(row)
            return
        if href := canonical_href(response.body):
            with suppress(ValueError):  # http://[
                row.canonical = response.urljoin(href)
        page = self._pages.of(response)
        self._batch.then(partial(self._add_page, row, page), page)

    def judged(self, verdict: Verdict, fetched_at: float) -> None:
        """Write a row for a page that was found to be a duplicate."""
        self._file.write(
            LogRow(verdict.url, 200, duplicate_of=verdict.duplicate_of or "", fetched_at=fetched_at, run=self._run)
        )

    def _add_page(self, row: LogRow, page: FetchedPage) -> None:
        analysis = page.analyse()
        signatures = [analysis.signature(check) for check in self._checks]
        row.digest = analysis.page.body_digest.hex()
        row.text_digest, row.simhash = (signature.hex() if signature else "" for signature in signatures)
        row.title = analysis.page.title[:200]
        self._file.write(row)
