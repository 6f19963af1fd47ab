"""Parts: the objects that the URL half of one crawl shares, put together in one place."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from random import Random

from scrapy.crawler import Crawler

from dedupcrawl.aliases.alias import SOURCE_RULES
from dedupcrawl.crawl.alias_store import AliasStore
from dedupcrawl.crawl.batch import Batch
from dedupcrawl.crawl.credentials import Credentials
from dedupcrawl.crawl.dupe_filter import DupeFilterBypass
from dedupcrawl.crawl.earlier_pages import EarlierPages
from dedupcrawl.crawl.failures import INDEX_FAILS, LoggedFailures
from dedupcrawl.crawl.fetched import Fetched
from dedupcrawl.crawl.outage import Owed
from dedupcrawl.crawl.pages import Pages
from dedupcrawl.crawl.rewrites import Rewrites
from dedupcrawl.crawl.same_page import PageComparer
from dedupcrawl.crawl.savings import Savings
from dedupcrawl.crawl.sending import Sending
from dedupcrawl.crawl.software_store import SoftwareStore
from dedupcrawl.detection.detector import Detector
from dedupcrawl.index.contract import Index
from dedupcrawl.settings import DedupSettings
from dedupcrawl.urls.normalizer import Normalizer
from dedupcrawl.urls.rule_book import RuleBook
from dedupcrawl.urls.rules_in_use import RulesInUse

logger = logging.getLogger(__name__)


@dataclass(eq=False)
class Parts:
    """The parts of one crawl; with a `folder` its requests outlive the process.

    Attributes:
        tries: Whether rules are tried. Aliases that pages state, and rules of known software, are used only then.
        chance: Draws which rewrites are tried.
        comparer: Says whether two URLs lead to one page, as the content half would.
        book: The rule book; it has no rules if none are tried.
        rules: The rules in use.
        software: What is known of the software of sites; None if it is not used.
        earlier: Pages that this crawl has fetched, also by other workers.
        owed: Work that waits until the index can be used again.
    """

    crawler: Crawler
    settings: DedupSettings
    normalizer: Normalizer
    index: Index
    run: str
    detector: Detector
    folder: Path | None = None
    software: SoftwareStore | None = None

    def __post_init__(self) -> None:
        crawler, share, folder = self.crawler, self.settings.trial_share, self.folder
        assert crawler.spider is not None
        assert crawler.stats is not None
        assert crawler.request_fingerprinter is not None
        self.fingerprint = crawler.request_fingerprinter.fingerprint
        merges_cookies = crawler.settings.getbool("COOKIES_ENABLED")
        self.credentials = Credentials(crawler.spider, merges_cookies=merges_cookies)
        self.spider = crawler.spider
        self.stats = crawler.stats
        self.tries = share > 0
        self.chance = Random(bytes(self.index.secret) + self.run.encode())  # no site can foresee which URLs are tried
        self.alias_store = store = AliasStore(self.index, crawler.stats, self.settings)
        tried = (self.normalizer, SOURCE_RULES) if self.tries else (Normalizer(), ())
        self.book = RuleBook(tried[0], share or 1, self.chance, tried[1], store.credits)
        self.rules = RulesInUse(self.normalizer, self.book if self.tries else None)
        self.pages = Pages(self.settings, self.index, self.software)
        self.comparer = PageComparer(self.detector.template_of, self.detector.model, self.settings)
        self.batch = Batch(self.index, store.read)
        self.sending, self.owed = Sending(crawler), Owed()
        self.fetched = Fetched()
        self.savings = Savings(crawler.stats, self.detector.tally, self.fetched)
        self.bypass = DupeFilterBypass(crawler.signals, self.fingerprint, self.savings.drop, self.spider.parse)
        self.rewrites = Rewrites(
            self.index,
            self.credentials,
            self.run,
            self.owed,
            lasts=folder is not None,
            is_shared=bool(self.settings.run),
        )
        what = "The index cannot tell which pages this crawl has fetched"
        asked = LoggedFailures(crawler.stats, "dedup/index/errors", what, INDEX_FAILS)
        self.earlier = EarlierPages(self.index, self.run, self.rules, asked)
