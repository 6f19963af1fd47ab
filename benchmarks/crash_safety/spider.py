"""The spider of the crash harness: every stored page, in an order of its own, one item each."""

from __future__ import annotations

import os
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
        met: A file to which each URL is added whose page has come: unlike a feed, it is whole after a kill.
    """

    name = "listed"

    def __init__(self, urls: str, order: str, met: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._met = os.open(met, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._urls = Path(urls).read_text(encoding="utf-8").splitlines()
        random.Random(order).shuffle(self._urls)

    async def start(self) -> AsyncIterator[Request]:
        for url in self._urls:
            yield Request(url)

    def parse(self, response: Response) -> Iterator[Any]:
        os.write(self._met, f"{response.url}\n".encode())
        yield {"url": response.url, "body": response.body[:1000].decode("latin-1")}


class LinkedSpider(ListedSpider):
    """Asks for the first page of a list, and at its answer for all others, in their order."""

    name = "linked"

    def __init__(self, urls: str, **kwargs: Any) -> None:
        super().__init__(urls, **kwargs)
        self._urls = Path(urls).read_text(encoding="utf-8").splitlines()

    async def start(self) -> AsyncIterator[Request]:
        yield Request(self._urls[0])

    def parse(self, response: Response) -> Iterator[Any]:
        yield from super().parse(response)
        if response.url == self._urls[0]:
            yield from map(Request, self._urls[1:])
