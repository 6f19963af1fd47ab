"""Tells of requests that went back: sent to another URL by a rule, and fetched as they were asked for after all."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from scrapy import Request
from scrapy.statscollectors import StatsCollector

from dedupcrawl.printable import printable

logger = logging.getLogger(__name__)


def tell_gone_back(stats: StatsCollector, requests: Sequence[Request], why: str) -> None:
    """Count them, and log a line of level DEBUG for each."""
    if requests:
        stats.inc_value("dedup/url/fallback", len(requests))
    for request in requests:
        logger.debug("Went back to %s: %s", printable(request.url), printable(why))
