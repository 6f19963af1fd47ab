"""Requests that were sent to a canonical URL which has not been seen to work yet.

Scrapy's duplicate filter drops the second request for one canonical URL. Should that URL turn out to be wrong (404,
forbidden, a redirect to its own variant), every request that was sent there has to be fetched as it was asked for.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import IO

import msgspec
from scrapy import Request, Spider

from dedupcrawl.crawl.journal_file import read_rows
from dedupcrawl.crawl.packed_request import pack_request, unpack_request

logger = logging.getLogger(__name__)


class PendingRewrites:
    """Canonical URL → the requests that wait for its answer. With a `path` it survives the process.

    A canonical URL is pending (asked for, no answer yet), proven (it answered) or refuted (it led nowhere).
    """

    def __init__(self, path: Path | None, spider: Spider) -> None:
        self._spider = spider
        self._waiting: dict[str, list[Request]] = {}
        self._proven: set[str] = set()
        self._refuted: set[str] = set()
        self._file: IO[bytes] | None = None
        if path is not None:
            self._resume(path)
            self._file = path.open("ab")

    def is_refuted(self, canonical: str) -> bool:
        """True when `canonical` led nowhere: nothing may be sent there."""
        return canonical in self._refuted

    def wait(self, canonical: str, original: Request) -> None:
        """Remember that `original` was sent to `canonical`; free when that is proven."""
        if canonical not in self._proven:
            self._waiting.setdefault(canonical, []).append(original)
            self._write("wait", canonical, original)

    def prove(self, canonical: str) -> None:
        """`canonical` answered: whoever waits for it has its page."""
        if canonical not in self._proven:
            self._proven.add(canonical)
            self._waiting.pop(canonical, None)
            self._write("proven", canonical)

    def refute(self, canonical: str) -> list[Request]:
        """`canonical` led nowhere: the requests that waited for it, to be fetched as they were."""
        waiting = self._waiting.pop(canonical, [])
        if waiting:
            self._refuted.add(canonical)
            self._write("refuted", canonical)
        return waiting

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write(self, event: str, canonical: str, request: Request | None = None) -> None:
        if self._file is None:
            return
        try:
            packed = pack_request(request, self._spider) if request is not None else b""
        except (TypeError, ValueError) as error:
            assert request is not None
            logger.warning(
                "A rewritten request will not survive a restart, for its meta cannot: %s (%s)", request, error
            )
            return
        self._file.write(msgspec.json.encode((event, canonical, packed)) + b"\n")
        self._file.flush()

    def _resume(self, path: Path) -> None:
        for event, canonical, packed in read_rows(path, tuple[str, str, bytes]):
            if event == "proven":
                self._proven.add(canonical)
                self._waiting.pop(canonical, None)
            elif event == "refuted":
                self._refuted.add(canonical)
                self._waiting.pop(canonical, None)
            else:
                self._waiting.setdefault(canonical, []).append(unpack_request(packed, self._spider))
