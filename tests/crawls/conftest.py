"""A real Redis for crawls."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.redis_server import RedisServer, running


@pytest.fixture
def redis_server(tmp_path: Path) -> Iterator[RedisServer]:
    """A server of the test's own, which it may kill. What it has acknowledged it finds again on its disk."""
    (tmp_path / "redis").mkdir()
    with running(tmp_path / "redis", "--save", "", "--appendonly", "yes", "--appendfsync", "no") as server:
        yield server
