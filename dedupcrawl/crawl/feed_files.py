"""Which files of the feeds hold an item, and which of these are stored.

Scrapy tells when a file of a feed is closed, but not what is in it: an item that cannot be written is an error in the
log, and no more. So the counts of the open files are looked at after every item.
"""

from __future__ import annotations

import logging
from weakref import WeakSet

from scrapy.crawler import Crawler
from scrapy.extensions.feedexport import FeedExporter, FeedSlot

logger = logging.getLogger(__name__)


class FeedFiles:
    """The files that Scrapy's feed exporter has open.

    Args:
        crawler: Whose feeds are meant, now that its spider is opened.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._exporter = crawler.get_extension(FeedExporter)
        self._counts = self._count()
        self._torn: WeakSet[FeedSlot] = WeakSet()

    def took(self, item: object) -> list[FeedSlot] | None:
        """The files that hold the item which the exporter was given last; to be asked after each item.

        Returns:
            None when a file that should hold it does not, or is torn: whatever follows a row that could not be written
            may be unreadable, too.
        """
        before, self._counts = self._counts, self._count()
        took, whole = [], True
        for file, count in before.items():
            if file.itemcount > count:
                took.append(file)
                whole &= file not in self._torn
            elif file.filter.accepts(item):
                whole = False
                if file not in self._torn:
                    self._torn.add(file)
                    logger.warning(
                        "An item could not be written to %s: pages whose items follow it there count as not stored.",
                        file.uri,
                    )
        return took if whole else None

    def _count(self) -> dict[FeedSlot, int]:
        return {file: file.itemcount for file in self._exporter.slots} if self._exporter is not None else {}
