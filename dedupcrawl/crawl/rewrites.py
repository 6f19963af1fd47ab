"""Which URL is asked for instead of another: what was sent where, and who waits for an answer."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path

from scrapy import Request

from dedupcrawl.crawl.credentials import Credentials
from dedupcrawl.crawl.failures import INDEX_FAILS
from dedupcrawl.crawl.journal_file import JournalFile, packed_url, read_rows, restored
from dedupcrawl.crawl.url_set import UrlSet
from dedupcrawl.index.errors import IndexAwayError
from dedupcrawl.index.notes import RewriteLog
from dedupcrawl.index.record import Rewrite
from dedupcrawl.printable import printable
from dedupcrawl.sites import without_user

logger = logging.getLogger(__name__)

_AT_ONCE = 64  # rewrites


class Rewrites:
    """The first rewrite of each URL to another; a link to it on the next page is no news."""

    def __init__(self, index: RewriteLog, credentials: Credentials, run: str) -> None:
        self._index = index
        self._credentials, self._spider = credentials, credentials.spider
        self._run = run
        self._begun = time.time()
        self._known = UrlSet()  # each followed by its canonical URL
        self._new: list[Rewrite] = []

    def add(self, request: Request, canonical: str, rules: tuple[str, ...]) -> bool:
        """`request` is sent to `canonical`; False when this is known of its URL."""
        if not self._known.add(f"{request.url} {canonical}"):
            return False
        packed = self._credentials.pack_if_possible(request)
        url, target = without_user(request.url), without_user(canonical)
        self._new.append(Rewrite(url, target, rules, self._spider.name, self._run, time.time(), packed))
        if len(self._new) % _AT_ONCE == 0:  # and while the index is away, after as many more
            self.flush()
        return True

    def of(self, url: str) -> Rewrite | None:
        """Where this crawl sent a URL; None where it did not.

        Raises:
            OSError, IndexDamagedError: The index cannot tell.
        """
        self.flush()
        rewrite = self._index.rewrite(without_user(url))
        is_ours = rewrite is not None and (rewrite.spider, rewrite.run) == (self._spider.name, self._run)
        return rewrite if is_ours else None

    def found(self, targets: Collection[str] = (), rules: Collection[str] = ()) -> list[Rewrite]:
        """What this crawl sent to these canonical URLs, or anywhere by rules with these ids, of whatever site.

        Raises:
            OSError, IndexDamagedError: The index cannot tell.
        """
        self.flush()
        if not targets and not rules:
            return []
        return list(
            self._index.rewrites_of(self._spider.name, self._run, canonicals=map(without_user, targets), rules=rules)
        )

    def of_earlier_processes(self) -> list[Rewrite]:
        """What this crawl rewrote before it was resumed, and has not done again since.

        Raises:
            OSError, IndexDamagedError: The index cannot tell.
        """
        whose = self._spider.name, self._run
        ours = (one for one in self._index.rewrites() if (one.spider, one.run) == whose and one.at < self._begun)
        return [one for one in ours if f"{one.url} {one.canonical}" not in self._known]

    def flush(self) -> None:
        """Hand what is new to the index."""
        new, self._new = self._new, []
        try:
            if new:
                self._index.record_rewrites(new)
        except IndexAwayError:
            self._new = new + self._new
        except INDEX_FAILS:
            logger.exception("The index cannot be told what was rewritten; a rule that proves wrong may cost pages.")

    def request(self, rewrite: Rewrite) -> Request:
        """What was asked for, or its URL with the spider's default callback."""
        return restored(rewrite.request, self._spider, rewrite.url)


class PendingRewrites:
    """Canonical URL → the requests that wait for its answer. With a `path` it survives the process.

    Scrapy's duplicate filter drops the second request for one canonical URL. Should that URL turn out to be wrong (404,
    forbidden, a redirect to its own variant), every request that was sent there has to be fetched as it was asked for.

    A canonical URL is pending (asked for, no answer yet), proven (it answered) or refuted (it led nowhere). For an
    identity, which may be no URL, the first URL stands that was met of it.

    Attributes:
        first_seen: Identity → the URL that stands for it, as far as this process knows.
        shared: Where several workers agree on it: (identity, URL) → the first URL that any of them named.
    """

    def __init__(self, path: Path | None, credentials: Credentials) -> None:
        self._credentials, self._spider = credentials, credentials.spider
        # By canonical URL, by hashes of their own: the first as it is, the others packed where that can be done.
        self._waiting: dict[str, dict[int, Request | bytes]] = {}
        self._proven, self._refuted = UrlSet(), UrlSet()  # every page of a site with rules is in one of them
        self._led_on: dict[int, str] = {}  # hash of a canonical URL → what is asked for instead; 200 bytes each
        self.first_seen: dict[str, str] = {}  # identity → URL
        self.shared: Callable[[str, str], str] = lambda identity, url: url
        self._survives = path is not None
        self._journal = JournalFile(None)  # nothing is written while it resumes
        for event, canonical, content in read_rows(path, tuple[str, str, bytes]):
            if event == "proven":
                self.prove(canonical)
            elif event == "refuted":
                self.refute(canonical)
            elif event == "led on":
                self.lead_on(canonical, content.decode())
            elif event == "first":
                self.first_seen[canonical] = content.decode()
            elif packed_url(content):
                self.wait(canonical, self._unpacked(content))
        self._journal = JournalFile(path)

    def is_refuted(self, canonical: str) -> bool:
        """True when `canonical` led nowhere: nothing may be sent there."""
        return canonical in self._refuted

    def is_proven(self, canonical: str) -> bool:
        """True when `canonical`, or what is asked for instead, has answered."""
        return self.end(canonical) in self._proven

    def is_unknown(self, canonical: str) -> bool:
        """True when nothing was ever sent to this URL, as far as is known here."""
        canonical = self.end(canonical)
        return canonical not in self._waiting and canonical not in self._proven

    def waits(self, canonical: str) -> bool:
        """True when somebody waits for this URL's answer."""
        return canonical in self._waiting

    def first(self, canonical: str) -> Request | None:
        """The first of those that wait for this URL's answer, as it was asked for."""
        first = next(iter(self._waiting.get(canonical, {}).values()), None)
        return self._unpacked(first) if isinstance(first, bytes) else first

    def wait(self, canonical: str, original: Request) -> None:
        """Remember that `original` was sent to `canonical`; free when that is proven."""
        canonical, key = self.end(canonical), hash(original.url)
        waiting = self._waiting.get(canonical, {})
        if canonical in self._proven or key in waiting:
            return
        try:
            packed = self._credentials.pack(original)  # a quarter of a request's room
        except ValueError as error:
            packed = b""
            if self._survives:
                logger.warning(
                    "A rewritten request cannot be stored for a restart: %s (%s)", printable(original.url), error
                )
        if packed and self._survives:
            self._journal.append(("wait", canonical, packed))  # MessagePack in a JSON row: headers and body are bytes
        self._waiting.setdefault(canonical, {})[key] = packed if packed and waiting else original

    def lead_on(self, canonical: str, target: str) -> None:
        """`target` is asked for instead of `canonical`: whoever waits for this, now or later, waits for that.

        Where `canonical` was to be asked for instead of `target`, that no longer holds.
        """
        end, key = self.end(target), hash(canonical)
        if end == canonical != target:
            del self._led_on[hash(target)]
            end = target
        if canonical == end or self._next(canonical) is not None:
            return
        self._led_on[key] = end
        self._journal.append(("led on", canonical, target.encode()))
        for request in self._taken(canonical):
            self.wait(end, request)

    def prove(self, canonical: str) -> None:
        """`canonical` answered: whoever waits for it has its page."""
        if self._proven.add(canonical):
            self._waiting.pop(canonical, None)
            self._journal.append(("proven", canonical, b""))

    def refute(self, canonical: str) -> list[Request]:
        """`canonical` led nowhere: the requests that waited for it, to be fetched as they were."""
        if self._refuted.add(canonical):
            self._journal.append(("refuted", canonical, b""))
        return self._taken(canonical)

    def release(self, canonical: str, url: str) -> None:
        """What was sent to `canonical` from this URL waits for its answer no more."""
        canonical = self.end(canonical)
        waiting = self._waiting.get(canonical, {})
        if waiting.pop(hash(url), None) is not None and not waiting:
            del self._waiting[canonical]

    def _taken(self, canonical: str) -> list[Request]:
        """Those that waited for this URL, and do no more."""
        waiting = self._waiting.pop(canonical, {}).values()
        return [self._unpacked(one) if isinstance(one, bytes) else one for one in waiting]

    def _unpacked(self, packed: bytes) -> Request:
        return restored(packed, self._spider, packed_url(packed) or "")

    def unanswered(self) -> list[str]:
        """The canonical URLs that somebody waits for."""
        return list(self._waiting)

    def stand_in(self, identity: str, url: str, identity_of: Callable[[str], str]) -> str:
        """The first URL of `identity`; `url` when there was none before, or when it has another identity by now."""
        known = first = self.first_seen.get(identity)
        if first is None:
            with suppress(*INDEX_FAILS):  # while the workers cannot be asked: a page more is fetched
                first = self.shared(identity, url)
        if first is None or identity_of(first) != identity:
            first = url
        if first != known:
            self.first_seen[identity] = first
            self._journal.append(("first", identity, first.encode()))
        return first

    def close(self) -> None:
        """Close the file."""
        self._journal.close()

    def end(self, canonical: str) -> str:
        """What is asked for in the end; there are no circles."""
        while self._led_on and (target := self._next(canonical)) is not None:
            canonical = target
        return canonical

    def _next(self, canonical: str) -> str | None:
        """What is asked for instead, while that has not led nowhere."""
        target = self._led_on.get(hash(canonical))
        return None if target is None or target in self._refuted else target
