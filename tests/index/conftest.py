"""All kinds of index, with batches so small that every test folds and merges."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dedupcrawl.index import segment
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.redis import RedisIndex
from tests.index.toys import CHECKS
from tests.redis_server import RedisServer, is_installed, running

AnyIndex = LmdbIndex | RedisIndex


@pytest.fixture
def small_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Levels of two, so that a few dozen pages fill several."""
    monkeypatch.setattr(segment, "FAN_OUT", 2)


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[RedisServer]:
    """A server that the test may kill; it forgets everything then."""
    with running(tmp_path) as server:
        yield server


@pytest.fixture
def lasting_server(tmp_path: Path) -> Iterator[RedisServer]:
    """A server that finds again what it had acknowledged when it was killed."""
    with running(tmp_path, "--save", "", "--appendonly", "yes", "--appendfsync", "no") as server:
        yield server


@pytest.fixture
def redis_if_any(request: pytest.FixtureRequest) -> RedisServer | None:
    """The server, where there is one."""
    return request.getfixturevalue("redis_server") if is_installed() else None


@pytest.fixture(params=["lmdb", "redis"])
def index(request: pytest.FixtureRequest, tmp_path: Path, small_levels: None) -> Iterator[AnyIndex]:
    """An empty index of each kind."""
    made: AnyIndex
    if request.param == "redis":
        made = RedisIndex(request.getfixturevalue("redis_url"), CHECKS, batch_pages=3)
    else:
        made = LmdbIndex(tmp_path / "index", CHECKS, batch_pages=3)
    yield made
    made.close()


@pytest.fixture(params=["lmdb", "redis"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an index of each kind can be made."""
    url: str = request.getfixturevalue("redis_url") if request.param == "redis" else f"lmdb:{tmp_path / 'index'}"
    return url
