"""Spider middleware: remembers which response each item was made of."""

from __future__ import annotations

from typing import Any

from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from dedupcrawl.crawl.extension import Dedup


class ItemLink(BaseSpiderMiddleware):
    """Hands the page of each item to the pipeline, without touching the item."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._pages = Dedup.of(crawler).pages

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        """The item itself."""
        if response is not None:
            self._pages.link(item, response)
        return item
