"""Scrapy extension: the crawl's stats as a JSON file, while it goes on and for the table that is printed after it."""

from __future__ import annotations

import json
from pathlib import Path

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import create_looping_call

_SECONDS = 1.0  # between two writes


class StatsFile:
    """Writes the stats to STATS_FILE every second, and in the end, when they have a "finish_reason"."""

    def __init__(self, crawler: Crawler) -> None:
        path = crawler.settings.get("STATS_FILE")
        if not path:
            raise NotConfigured("STATS_FILE is not set")
        self._path = Path(path)
        self._crawler = crawler
        self._beat = create_looping_call(self._write)
        crawler.signals.connect(self._spider_opened, signals.spider_opened)
        crawler.signals.connect(self._engine_stopped, signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> StatsFile:
        """Called by Scrapy."""
        return cls(crawler)

    def _spider_opened(self) -> None:
        self._beat.start(_SECONDS)

    def _engine_stopped(self) -> None:
        if self._beat.running:
            self._beat.stop()
        self._write()

    def _write(self) -> None:
        assert self._crawler.stats is not None
        part = self._path.with_suffix(".part")  # who reads never sees half of it
        part.write_text(json.dumps(self._crawler.stats.get_stats(), default=str), encoding="utf-8")
        part.replace(self._path)
