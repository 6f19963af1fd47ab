"""Requests that were sent to a canonical URL which has not been seen to work yet.

Scrapy's duplicate filter drops the second request for one canonical URL. Should that URL turn out to be wrong (404,
forbidden, a redirect to its own variant), every request that was sent there has to be fetched as it was asked for.
"""

from __future__ import annotations

import logging
from pathlib import Path

from scrapy import Request, Spider

from dedupcrawl.crawl.journal_file import JournalFile, read_rows
from dedupcrawl.crawl.packed_request import pack_request, packed_url, unpack_request

logger = logging.getLogger(__name__)


class PendingRewrites:
    """Canonical URL → the requests that wait for its answer. With a `path` it survives the process.

    A canonical URL is pending (asked for, no answer yet), proven (it answered) or refuted (it led nowhere).
    """

    def __init__(self, path: Path | None, spider: Spider) -> None:
        self._spider = spider
        self._waiting: dict[str, dict[str, Request]] = {}  # canonical URL → original URL → its first request
        self._proven: set[str] = set()
        self._refuted: set[str] = set()
        if path is not None:
            self._resume(path)
        self._journal = JournalFile(path)
        self._survives = path is not None

    def is_refuted(self, canonical: str) -> bool:
        """True when `canonical` led nowhere: nothing may be sent there."""
        return canonical in self._refuted

    def is_unknown(self, canonical: str) -> bool:
        """True when nothing was ever sent to this URL, as far as is known here."""
        return canonical not in self._waiting and canonical not in self._proven

    def waits(self, canonical: str) -> bool:
        """True when somebody waits for this URL's answer."""
        return canonical in self._waiting

    def first(self, canonical: str) -> Request | None:
        """The first of those that wait for this URL's answer, as it was asked for."""
        return next(iter(self._waiting.get(canonical, {}).values()), None)

    def wait(self, canonical: str, original: Request) -> None:
        """Remember that `original` was sent to `canonical`; free when that is proven."""
        if canonical in self._proven:
            return
        waiting = self._waiting.setdefault(canonical, {})
        if original.url not in waiting:
            waiting[original.url] = original
            if self._survives:
                self._write_waiting(canonical, original)

    def prove(self, canonical: str) -> None:
        """`canonical` answered: whoever waits for it has its page."""
        if canonical not in self._proven:
            self._proven.add(canonical)
            self._waiting.pop(canonical, None)
            self._journal.append(("proven", canonical, b""))

    def refute(self, canonical: str) -> list[Request]:
        """`canonical` led nowhere: the requests that waited for it, to be fetched as they were."""
        if canonical not in self._refuted:
            self._refuted.add(canonical)
            self._journal.append(("refuted", canonical, b""))
        return list(self._waiting.pop(canonical, {}).values())

    def unanswered(self) -> list[str]:
        """The canonical URLs that somebody waits for."""
        return list(self._waiting)

    def close(self) -> None:
        """Close the file."""
        self._journal.close()

    def _write_waiting(self, canonical: str, request: Request) -> None:
        try:
            packed = pack_request(request, self._spider)  # MessagePack in a JSON row: headers and body are bytes
        except ValueError as error:
            logger.warning("A rewritten request cannot be stored for a restart: %s (%s)", request, error)
            return
        self._journal.append(("wait", canonical, packed))

    def _resume(self, path: Path) -> None:
        for event, canonical, packed in read_rows(path, tuple[str, str, bytes]):
            if event == "proven":
                self._proven.add(canonical)
                self._waiting.pop(canonical, None)
            elif event == "refuted":
                self._refuted.add(canonical)
                self._waiting.pop(canonical, None)
            else:
                try:
                    request = unpack_request(packed, self._spider)
                except ValueError as error:
                    logger.warning("A request that waits for %r cannot be restored: %s", canonical, error)
                    url = packed_url(packed)
                    if url is None:
                        continue
                    request = Request(url)  # with the spider's default callback
                self._waiting.setdefault(canonical, {}).setdefault(request.url, request)
