"""Indexes in Redis, for tests."""

from __future__ import annotations

from dedupcrawl.index.redis import RedisIndex
from tests.index.toys import CHECKS


def opened(url: str, wait: float = 0.0) -> RedisIndex:
    return RedisIndex(url, CHECKS, batch_pages=3, wait=wait)


def urls(index: RedisIndex) -> list[str]:
    return [entry.url for entry in index.entries()]
