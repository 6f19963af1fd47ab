"""Workers of a shared queue, and what tests ask of them."""

from __future__ import annotations

import time
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from scrapy.statscollectors import StatsCollector
from scrapy.utils.test import get_crawler

from dedupcrawl.shared_queue.queue import SharedQueue, Source
from tests.redis_server import RedisServer

SEEN, QUEUE = "seen", "queue"
SOURCES = {
    "sorted": (Source(QUEUE, "ZPOPMIN", "ZADD"), "ZADD"),
    "fifo": (Source(QUEUE, "RPOP", "RPUSH"), "LPUSH"),
    "lifo": (Source(QUEUE, "LPOP", "LPUSH"), "LPUSH"),
    "set": (Source(QUEUE, "SPOP", "SADD"), "SADD"),
    "most": (Source(QUEUE, "ZPOPMAX", "ZADD"), "ZADD"),
}
SORTED = SOURCES["sorted"][0]
ALIVE: list[SharedQueue] = []
"""The workers that a test has started; they end with it."""


def client_of(server: RedisServer) -> Any:
    return redis.Redis(port=server.port, retry=Retry(NoBackoff(), 0))


def get_stats() -> StatsCollector:
    stats = get_crawler().stats
    assert stats is not None
    return stats


def worker(server: RedisServer, *, alive: bool = True) -> tuple[SharedQueue, StatsCollector]:
    stats = get_stats()
    shared = SharedQueue(client_of(server), "spider:requests", stats)
    if alive:
        shared.start()
        ALIVE.append(shared)
        shared._in_touch_since = float("-inf")  # the server has been there for long
    return shared, stats


def push(shared: SharedQueue, name: str, score: int = 0) -> bool:
    return shared.push(SEEN, name, QUEUE, "ZADD", score, name)


def all_taken(shared: SharedQueue, source: Source = SORTED) -> list[bytes]:
    return [data for _, data in shared.take(source, 100)]


def back(shared: SharedQueue) -> None:
    """Until the server is known to be back."""
    deadline = time.monotonic() + 10
    while not shared.catch_up():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def leases_of(server: RedisServer) -> dict[bytes, bytes]:
    """All leases of all workers, by number; each has a number of its own in the tests that ask."""
    client = client_of(server)
    keys = client.keys("spider:requests:leases:*")
    return {number: lease for key in keys for number, lease in client.hgetall(key).items()}
