"""The spider of the crash harness: every stored page, in an order of its own, one item each."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from scrapy import Request, Spider
from scrapy.http import Response


class ListedSpider(Spider):
    """Asks for the pages of a list. Processes that share an index and ask in other orders drop for each other's pages.

    Args:
        urls: A file with URLs, one a line.
        order: Seed of the order.
    """

    name = "listed"

    def __init__(self, urls: str, order: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._urls = Path(urls).read_text(encoding="utf-8").splitlines()
        random.Random(order).shuffle(self._urls)

    async def start(self) -> AsyncIterator[Request]:
        for url in self._urls:
            yield Request(url)

    def parse(self, response: Response) -> Iterator[dict[str, str]]:
        yield {"url": response.url, "body": response.body[:1000].decode("latin-1")}
