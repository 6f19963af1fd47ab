"""What this crawl rewrote, remembered in the index, so that it can be explained, and fetched after all."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet

import mmh3
from scrapy import Request, Spider

from dedupcrawl.crawl.packed_request import pack_request, unpack_request
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
        self._known: set[int] = set()  # hashes: 60 bytes a URL
        self._told: set[int] = set()  # hashes of URL and canonical URL that `requests` has given
        self._new: list[Rewrite] = []

    def add(self, request: Request, canonical: str, rules: tuple[str, ...]) -> bool:
        """`request` is sent to `canonical`; False when this is known of its URL."""
        known = mmh3.hash64(f"{request.url} {canonical}")[0]
        if known in self._known:
            return False
        self._known.add(known)
        packed = self._packed(request)
        self._new.append(Rewrite(request.url, canonical, rules, self._spider.name, self._run, time.time(), packed))
        if len(self._new) % _AT_ONCE == 0:  # and while the index is away, after as many more
            self.flush()
        return True

    def requests(
        self, targets: AbstractSet[str], rules: AbstractSet[str], is_lost: Callable[[str, tuple[str, ...]], bool]
    ) -> Iterator[Request]:
        """What to ask for to fetch after all what this crawl sent to `targets`, or anywhere by a wrong rule; once.

        Args:
            targets: Canonical URLs.
            rules: Ids of rules, of whatever site, that are wrong somewhere.
            is_lost: Called with a URL and the rules that had a part in rewriting it: whether one was wrong there.

        Raises:
            OSError, IndexDamagedError: The index cannot tell; nothing was given yet.
        """
        for rewrite in self._found(targets, rules):
            key = mmh3.hash64(f"{rewrite.url} {rewrite.canonical}")[0]
            lost = rewrite.canonical in targets or is_lost(rewrite.url, rewrite.rules)
            if lost and key not in self._told:
                self._told.add(key)
                yield self._unpacked(rewrite)

    def of(self, url: str) -> Request | None:
        """What to ask for to fetch after all a URL that this crawl sent elsewhere; None where it did not.

        Raises:
            OSError, IndexDamagedError: The index cannot tell.
        """
        self.flush()
        rewrite = self._index.rewrite(url)
        is_ours = rewrite is not None and (rewrite.spider, rewrite.run) == (self._spider.name, self._run)
        return self._unpacked(rewrite) if is_ours and rewrite is not None else None

    def sample(
        self, rules: AbstractSet[str], is_wanted: Callable[[str, tuple[str, ...]], bool]
    ) -> Iterator[tuple[Request, str, tuple[str, ...]]]:
        """Requests that these rules had a part in rewriting, where to, and all rules that had; in no order of theirs.

        Args:
            rules: Ids, of whatever site.
            is_wanted: Called with a URL and the rules that had a part in rewriting it.

        Raises:
            OSError, IndexDamagedError: The index cannot tell; nothing was given yet.
        """
        for rewrite in sorted(self._found(set(), rules), key=lambda one: int(mmh3.hash64(one.url)[0])):
            if is_wanted(rewrite.url, rewrite.rules):
                yield self._unpacked(rewrite), rewrite.canonical, rewrite.rules

    def _found(self, targets: AbstractSet[str], rules: AbstractSet[str]) -> list[Rewrite]:
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

    def _unpacked(self, rewrite: Rewrite) -> Request:
        """The request as it was, or one for its URL with the spider's default callback."""
        try:
            return unpack_request(rewrite.request, self._spider) if rewrite.request else Request(rewrite.url)
        except ValueError as error:
            logger.warning(
                "%s is fetched after all with the spider's default callback, for its request cannot be read: %s",
                printable(rewrite.url),
                printable(str(error)),
            )
            return Request(rewrite.url)

    def _packed(self, request: Request) -> bytes:
        try:
            return pack_request(request, self._spider)
        except ValueError:  # then its callback will be the spider's default one
            return b""
