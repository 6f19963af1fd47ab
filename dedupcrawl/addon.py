"""One line in ADDONS turns everything on."""

from __future__ import annotations

from scrapy.exceptions import NotConfigured
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings

from dedupcrawl.crawl.downloader import CrawlLogMiddleware, RewriteFallback, UrlMiddleware
from dedupcrawl.crawl.dupe_filter import RememberedFingerprints
from dedupcrawl.crawl.extension import Dedup
from dedupcrawl.crawl.failures import cannot_start
from dedupcrawl.crawl.pipeline import DedupPipeline
from dedupcrawl.crawl.spider_output import RepeatedLinks, SpiderOutput
from dedupcrawl.settings import DedupSettings, SettingError

# (setting, component, order). Why these orders, see docs/architecture.md.
COMPONENTS = (
    ("EXTENSIONS", Dedup, 0),
    ("SPIDER_MIDDLEWARES", SpiderOutput, 90),
    ("SPIDER_MIDDLEWARES", RepeatedLinks, 1000),
    ("DOWNLOADER_MIDDLEWARES", CrawlLogMiddleware, 55),
    ("DOWNLOADER_MIDDLEWARES", UrlMiddleware, 60),
    ("DOWNLOADER_MIDDLEWARES", RewriteFallback, 610),
    ("ITEM_PIPELINES", DedupPipeline, 50),
)


FINGERPRINTER = "REQUEST_FINGERPRINTER_CLASS"


class Addon:
    """``ADDONS = {"dedupcrawl.Addon": 500}``: enables every component, at the user's own order where one is set.

    And what remembers Scrapy's fingerprints, where no other fingerprinter is chosen.
    """

    def update_settings(self, settings: BaseSettings) -> None:
        """Add the components to `settings`.

        Raises:
            NotConfigured: when DEDUP_ENABLED is False.
            SettingError: when a DEDUP_ setting cannot be used.
        """
        try:
            read = DedupSettings.read(settings)
        except SettingError as error:
            raise cannot_start(error) from None
        if not read.enabled:
            raise NotConfigured("DEDUP_ENABLED is False")
        for name, component, order in COMPONENTS:
            settings.setdefault_in_component_priority_dict(name, component, order)
        if settings.getpriority(FINGERPRINTER) == SETTINGS_PRIORITIES["default"]:
            # As the default that it is: another add-on may still choose its own.
            settings.set(FINGERPRINTER, RememberedFingerprints, priority="default")
