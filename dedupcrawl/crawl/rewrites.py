"""What this crawl rewrote: remembered in the index, and who waits for the answer of a canonical URL."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from scrapy import Request, Spider

from dedupcrawl.crawl.journal_file import JournalFile, pack_request, packed_url, read_rows, unpack_request
from dedupcrawl.crawl.request_meta import key_of
from dedupcrawl.index.contract import RewriteLog
from dedupcrawl.index.errors import IndexAwayError, IndexDamagedError
from dedupcrawl.index.rows import Rewrite
from dedupcrawl.printable import printable

logger = logging.getLogger(__name__)

_AT_ONCE = 64  # rewrites


class Rewrites:
    """The first rewrite of each URL to another; a link to it on the next page is no news."""

    def __init__(self, index: RewriteLog, spider: Spider, run: str) -> None:
        self._index = index
        self._spider = spider
        self._run = run
        self._known: set[int] = set()  # hashes: 60 bytes per URL
        self._new: list[Rewrite] = []

    def add(self, request: Request, canonical: str, rules: tuple[str, ...]) -> bool:
        """`request` is sent to `canonical`; False when this is known of its URL."""
        known = key_of(f"{request.url} {canonical}")
        if known in self._known:
            return False
        self._known.add(known)
        packed = self._packed(request)
        self._new.append(Rewrite(request.url, canonical, rules, self._spider.name, self._run, time.time(), packed))
        if len(self._new) % _AT_ONCE == 0:  # and while the index is away, after as many more
            self.flush()
        return True

    def of(self, url: str) -> Rewrite | None:
        """Where this crawl sent a URL; None where it did not.

        Raises:
            OSError, IndexDamagedError: The index cannot tell.
        """
        self.flush()
        rewrite = self._index.rewrite(url)
        is_ours = rewrite is not None and (rewrite.spider, rewrite.run) == (self._spider.name, self._run)
        return rewrite if is_ours else None

    def found(self, targets: Iterable[str] = (), rules: Iterable[str] = ()) -> list[Rewrite]:
        """What this crawl sent to these canonical URLs, or anywhere by rules with these ids, of whatever site.

        Raises:
            OSError, IndexDamagedError: The index cannot tell.
        """
        self.flush()
        return list(self._index.rewrites_of(self._spider.name, self._run, canonicals=targets, rules=rules))

    def flush(self) -> None:
        """Hand what is new to the index."""
        new, self._new = self._new, []
        try:
            if new:
                self._index.record_rewrites(new)
        except IndexAwayError:
            self._new = new + self._new
        except (OSError, IndexDamagedError):
            logger.exception("The index cannot be told what was rewritten; a rule that proves wrong may cost pages.")

    def request(self, rewrite: Rewrite) -> Request:
        """What was asked for, or its URL with the spider's default callback."""
        try:
            return unpack_request(rewrite.request, self._spider) if rewrite.request else Request(rewrite.url)
        except ValueError as error:
            logger.warning(
                "%s is fetched after all, with the spider's default callback, because its request cannot be read: %s",
                printable(rewrite.url),
                printable(str(error)),
            )
            return Request(rewrite.url)

    def _packed(self, request: Request) -> bytes:
        try:
            return pack_request(request, self._spider)
        except ValueError:  # then its callback will be the spider's default one
            return b""


@dataclass(slots=True)
class _Waiting:
    """Who waits for one canonical URL.

    Attributes:
        first: The first request.
        urls: Hashes of the URLs of all.
        others: The other requests, packed; as they are where that cannot be done.
    """

    first: Request
    urls: set[int]
    others: list[bytes | Request]


class PendingRewrites:
    """Canonical URL → the requests that wait for its answer. With a `path` it survives the process.

    Scrapy's duplicate filter drops the second request for one canonical URL. Should that URL turn out to be wrong (404,
    forbidden, a redirect to its own variant), every request that was sent there has to be fetched as it was asked for.

    A canonical URL is pending (asked for, no answer yet), proven (it answered) or refuted (it led nowhere).
    """

    def __init__(self, path: Path | None, spider: Spider) -> None:
        self._spider = spider
        self._waiting: dict[str, _Waiting] = {}  # by canonical URL
        self._proven: set[int] = set()  # hashes of canonical URLs, as below: every page of a site with rules is here
        self._refuted: set[int] = set()
        self._led_on: dict[int, str] = {}  # hash of a canonical URL → what is asked for instead of that
        self._survives = path is not None
        self._journal = JournalFile(None)
        if path is not None:
            self._resume(path)
            self._journal = JournalFile(path)

    def is_refuted(self, canonical: str) -> bool:
        """True when `canonical` led nowhere: nothing may be sent there."""
        return key_of(canonical) in self._refuted

    def is_unknown(self, canonical: str) -> bool:
        """True when nothing was ever sent to this URL, as far as is known here."""
        canonical = self._end(canonical)
        return canonical not in self._waiting and key_of(canonical) not in self._proven

    def waits(self, canonical: str) -> bool:
        """True when somebody waits for this URL's answer."""
        return canonical in self._waiting

    def first(self, canonical: str) -> Request | None:
        """The first of those that wait for this URL's answer, as it was asked for."""
        waiting = self._waiting.get(canonical)
        return None if waiting is None else waiting.first

    def wait(self, canonical: str, original: Request) -> None:
        """Remember that `original` was sent to `canonical`; free when that is proven."""
        canonical = self._end(canonical)
        if key_of(canonical) in self._proven or not self._is_new(canonical, original.url):
            return
        try:
            packed = pack_request(original, self._spider)  # a quarter of a request's room
        except ValueError as error:
            packed = b""
            if self._survives:
                logger.warning("A rewritten request cannot be stored for a restart: %s (%s)", original, error)
        if packed and self._survives:
            self._journal.append(("wait", canonical, packed))  # MessagePack in a JSON row: headers and body are bytes
        self._add(canonical, original, packed)

    def lead_on(self, canonical: str, target: str) -> None:
        """`target` is asked for instead of `canonical`: whoever waits for this, now or later, waits for that."""
        target = self._end(target)
        if canonical == target or (key := key_of(canonical)) in self._led_on:
            return
        self._led_on[key] = target
        self._journal.append(("led on", canonical, target.encode()))
        for request in self._taken(canonical):
            self.wait(target, request)

    def prove(self, canonical: str) -> None:
        """`canonical` answered: whoever waits for it has its page."""
        if (key := key_of(canonical)) not in self._proven:
            self._proven.add(key)
            self._waiting.pop(canonical, None)
            self._journal.append(("proven", canonical, b""))

    def refute(self, canonical: str) -> list[Request]:
        """`canonical` led nowhere: the requests that waited for it, to be fetched as they were."""
        if (key := key_of(canonical)) not in self._refuted:
            self._refuted.add(key)
            self._journal.append(("refuted", canonical, b""))
        return self._taken(canonical)

    def _taken(self, canonical: str) -> list[Request]:
        """Those that waited for this URL, and do no more."""
        waiting = self._waiting.pop(canonical, None)
        if waiting is None:
            return []
        others = (self._unpacked(one, canonical) if isinstance(one, bytes) else one for one in waiting.others)
        return [waiting.first, *(one for one in others if one is not None)]

    def unanswered(self) -> list[str]:
        """The canonical URLs that somebody waits for."""
        return list(self._waiting)

    def close(self) -> None:
        """Close the file."""
        self._journal.close()

    def _end(self, canonical: str) -> str:
        """What is asked for in the end; there are no circles."""
        while self._led_on and (target := self._led_on.get(key_of(canonical))) is not None:
            canonical = target
        return canonical

    def _is_new(self, canonical: str, url: str) -> bool:
        waiting = self._waiting.get(canonical)
        return waiting is None or key_of(url) not in waiting.urls

    def _add(self, canonical: str, request: Request, packed: bytes) -> None:
        waiting = self._waiting.get(canonical)
        if waiting is None:
            self._waiting[canonical] = _Waiting(request, {key_of(request.url)}, [])
        else:
            waiting.urls.add(key_of(request.url))
            waiting.others.append(packed or request)

    def _unpacked(self, packed: bytes, canonical: str) -> Request | None:
        """The request as it was, or one for its URL with the spider's default callback."""
        try:
            return unpack_request(packed, self._spider)
        except ValueError as error:
            logger.warning(
                "A request that waits for %s cannot be restored: %s", printable(canonical), printable(str(error))
            )
            url = packed_url(packed)
            return None if url is None else Request(url)

    def _resume(self, path: Path) -> None:
        """Nothing is written meanwhile."""
        for event, canonical, content in read_rows(path, tuple[str, str, bytes]):
            if event == "proven":
                self.prove(canonical)
            elif event == "refuted":
                self.refute(canonical)
            elif event == "led on":
                self.lead_on(canonical, content.decode())
            elif (request := self._unpacked(content, canonical)) is not None:
                self.wait(canonical, request)
