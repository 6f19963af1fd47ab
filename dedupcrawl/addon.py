"""The Scrapy add-on: one line in ADDONS turns everything on."""

from __future__ import annotations

from scrapy.exceptions import NotConfigured
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings
from scrapy.utils.misc import load_object
from scrapy.utils.python import global_object_name

# (setting, component, order). docs/architecture.md explains these orders.
COMPONENTS = (
    ("EXTENSIONS", "dedupcrawl.crawl.extension.Dedup", 0),
    ("SPIDER_MIDDLEWARES", "dedupcrawl.crawl.spider_output.SpiderOutput", 90),
    ("SPIDER_MIDDLEWARES", "dedupcrawl.crawl.spider_output.RepeatedLinks", 1000),
    ("DOWNLOADER_MIDDLEWARES", "dedupcrawl.crawl.downloader.CrawlLogMiddleware", 55),
    ("DOWNLOADER_MIDDLEWARES", "dedupcrawl.crawl.downloader.UrlMiddleware", 60),
    ("DOWNLOADER_MIDDLEWARES", "dedupcrawl.crawl.downloader.RewriteFallback", 610),
    ("ITEM_PIPELINES", "dedupcrawl.crawl.pipeline.DedupPipeline", 0),
)
FINGERPRINTER = "REQUEST_FINGERPRINTER_CLASS"


class Addon:
    """``ADDONS = {"dedupcrawl.Addon": 500}``: enables every component, at the user's own order where one is set.

    Also enables a fingerprinter that remembers Scrapy's fingerprints, unless another fingerprinter is set.
    """

    def update_settings(self, settings: BaseSettings) -> None:
        """Add the components to `settings`.

        Raises:
            NotConfigured: when DEDUP_ENABLED is False.
            SettingError: when a DEDUP_ setting cannot be used.
        """
        from dedupcrawl.crawl.failures import cannot_start
        from dedupcrawl.settings import DedupSettings, SettingError

        try:
            read = DedupSettings.read(settings)
        except SettingError as error:
            raise cannot_start(error) from None
        if not read.enabled:
            raise NotConfigured("DEDUP_ENABLED is False")
        for name, component, order in COMPONENTS:
            there = settings.getdict(name)
            # Scrapy's own method imports every component before it has chosen a reactor, and such an import may
            # install one.
            if component not in (one if isinstance(one, str) else global_object_name(one) for one in there):
                settings.set(name, {**there, load_object(component): order}, settings.getpriority(name) or 0)
        if settings.getpriority(FINGERPRINTER) == SETTINGS_PRIORITIES["default"]:
            # With the priority of a default, so that another add-on can still choose its own.
            remembered = "dedupcrawl.crawl.dupe_filter.RememberedFingerprints"
            settings.set(FINGERPRINTER, load_object(remembered), priority="default")
