"""A Redis server, and workers that are soon taken for dead."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dedupcrawl.shared_queue import queue
from tests.redis_server import RedisServer, running
from tests.shared_queue.queue_workers import ALIVE


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    """A server of the test's own; what it has acknowledged it finds again."""
    with running(tmp_path, "--save", "", "--appendonly", "yes", "--appendfsync", "no") as one:
        yield one


@pytest.fixture
def short_lives(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(queue, "LIFE_SECONDS", 0.3)
    monkeypatch.setattr(queue, "_LONGEST_PAUSE", 0.1)
    yield
    for shared in ALIVE:
        shared._ended.set()
    ALIVE.clear()
