"""Scrapy extension: the crawl's stats as a JSON file, for the table that is printed after it."""

from __future__ import annotations

import json
from pathlib import Path

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured


class StatsFile:
    """Writes the stats to STATS_FILE when the crawl is over."""

    def __init__(self, crawler: Crawler) -> None:
        path = crawler.settings.get("STATS_FILE")
        if not path:
            raise NotConfigured("STATS_FILE is not set")
        self._path = Path(path)
        self._crawler = crawler
        crawler.signals.connect(self._engine_stopped, signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> StatsFile:
        """Called by Scrapy."""
        return cls(crawler)

    def _engine_stopped(self) -> None:
        assert self._crawler.stats is not None
        self._path.write_text(json.dumps(self._crawler.stats.get_stats(), default=str), encoding="utf-8")
