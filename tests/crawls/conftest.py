"""A real Redis for crawls, and the same draws in each run of a test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from dedupcrawl.crawl import parts
from tests.redis_server import RedisServer, running


@pytest.fixture(autouse=True)
def same_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which uses of rules are tried in crawls of this process."""
    monkeypatch.setattr(parts, "Random", lambda _: Random(1))


@pytest.fixture
def redis_server(tmp_path: Path) -> Iterator[RedisServer]:
    """A server of the test's own, which it may kill. What it has acknowledged it finds again on its disk."""
    (tmp_path / "redis").mkdir()
    with running(tmp_path / "redis", "--save", "", "--appendonly", "yes", "--appendfsync", "no") as server:
        yield server
