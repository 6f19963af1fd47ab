"""Counts the fetches that rules save, and what fell back: was sent elsewhere, and fetched as asked for after all."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from scrapy import Request
from scrapy.statscollectors import StatsCollector

from dedupcrawl.crawl.request_meta import ORIGINAL_URL, key_of
from dedupcrawl.index.runs import RunTally
from dedupcrawl.printable import printable

logger = logging.getLogger(__name__)


class Savings:
    """Each URL counts once, and not while it is fetched after all.

    Args:
        stats: Scrapy's.
        tally: Of the run, for its report.
    """

    def __init__(self, stats: StatsCollector, tally: RunTally) -> None:
        self._stats = stats
        self._tally = tally
        self._spent: set[int] = set()  # hashes: 60 bytes per URL
        self._saved: set[int] = set()
        self._fetched_for: dict[int, int] = {}  # a URL → what it is fetched instead of, both by their hashes

    def spend(self, url: str, canonical: str) -> None:
        """`url` saves nothing as yet: `canonical` is fetched for it."""
        self._spent.add(key_of(url))
        self._fetched_for[key_of(canonical)] = key_of(url)

    def try_both(self, canonical: str) -> None:
        """What `canonical` is fetched for is fetched as well: that is no fetch saved."""
        self._fetched_for.pop(key_of(canonical), None)

    def meet(self, canonical: str) -> None:
        """There is a link to `canonical` itself: it would have been fetched beside what it was fetched for."""
        key = self._fetched_for.pop(key_of(canonical), None)
        if key is not None:
            self._spent.discard(key)
            self._save(key)

    def save(self, url: str) -> None:
        """The fetch of `url` is saved."""
        self._save(key_of(url))

    def _save(self, key: int) -> None:
        if key not in self._spent and key not in self._saved:
            self._saved.add(key)
            self._stats.inc_value("dedup/url/saved")
            self._tally.save()

    def fall_back(self, requests: Sequence[Request], why: str) -> None:
        """These are fetched as they were asked for after all; a DEBUG log line for each says so."""
        if not requests:
            return
        not_saved = self._saved & {key_of(request.meta.get(ORIGINAL_URL, request.url)) for request in requests}
        self._saved -= not_saved
        if not_saved:
            self._stats.inc_value("dedup/url/saved", -len(not_saved))
        self._stats.inc_value("dedup/url/fallback", len(requests))
        self._tally.fall_back(len(requests), not_saved=len(not_saved))
        for request in requests:
            logger.debug("Fell back to %s: %s", printable(request.url), printable(why))
