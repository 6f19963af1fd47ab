"""Which sites a user has named by what a spider starts with and where it may go."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from scrapy import Request, Spider

from dedupcrawl.detection.trust import Trust

START = "start"


def trusted(setting: str | tuple[str, ...], spider: Spider) -> Trust:
    """Whom DEDUP_TRUSTED_SITES names."""
    if setting == START:
        return Trust([*(getattr(spider, "allowed_domains", None) or ()), *(getattr(spider, "start_urls", None) or ())])
    return Trust(None) if isinstance(setting, str) else Trust(setting)


async def trusting(start: AsyncIterator[Any], trust: Trust) -> AsyncIterator[Any]:
    """What a spider starts with, unchanged; its sites are trusted from then on."""
    async for one in start:
        if isinstance(one, Request):
            trust.add(one.url)
        yield one
