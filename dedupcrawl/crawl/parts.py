"""Parts: what everything that follows the URLs of one crawl works with, put together in one place."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.statscollectors import StatsCollector

from dedupcrawl.crawl.batch import Batch
from dedupcrawl.crawl.dupe_filter import DupeFilterBypass
from dedupcrawl.crawl.earlier_pages import EarlierPages
from dedupcrawl.crawl.pages import Pages
from dedupcrawl.crawl.rewrites import PendingRewrites, Rewrites
from dedupcrawl.crawl.same_page import FurnitureOf
from dedupcrawl.crawl.savings import Savings
from dedupcrawl.crawl.sending import Sending
from dedupcrawl.detection.detector import Detector
from dedupcrawl.index.contract import Index
from dedupcrawl.settings import DedupSettings
from dedupcrawl.urls.normalizer import Normalizer
from dedupcrawl.urls.rule_book import RuleBook


@dataclass(frozen=True, slots=True)
class Parts:
    """What belongs to one crawl.

    Attributes:
        book: Of the rules that are tried, or None: none are, ever.
        run: Identifies the crawl.
        spider: Whose requests are remembered.
        furniture_of: What pages are compared by.
        earlier: Pages of this crawl, if of other workers.
    """

    settings: DedupSettings
    normalizer: Normalizer
    index: Index
    run: str
    spider: Spider
    stats: StatsCollector
    book: RuleBook | None
    furniture_of: FurnitureOf
    pages: Pages
    batch: Batch
    sending: Sending
    bypass: DupeFilterBypass
    savings: Savings
    pending: PendingRewrites
    rewrites: Rewrites
    earlier: EarlierPages


def parts_of(  # noqa: PLR0913 - what a crawl opens
    crawler: Crawler,
    settings: DedupSettings,
    normalizer: Normalizer,
    index: Index,
    run: str,
    detector: Detector,
    *,
    folder: Path | None = None,
    read: Callable[[Collection[str]], None] = lambda urls: None,
) -> Parts:
    """The parts of a crawler's crawl; with a `folder` its requests survive the process, `read` is as of Batch."""
    assert crawler.spider is not None
    assert crawler.stats is not None
    spider, stats = crawler.spider, crawler.stats
    return Parts(
        settings,
        normalizer,
        index,
        run,
        spider,
        stats,
        RuleBook(normalizer, settings.trial_share) if settings.trial_share else None,
        detector.furniture_of,
        Pages(settings),
        Batch(index, read),
        Sending(crawler),
        DupeFilterBypass(crawler),
        Savings(stats, detector.tally),
        PendingRewrites(folder / "pending-rewrites.jsonl" if folder else None, spider),
        Rewrites(index, spider, run),
        EarlierPages(index, run, normalizer),
    )
