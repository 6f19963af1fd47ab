"""Both kinds of index, with batches so small that every test folds and merges."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dedupcrawl.index import segment
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.memory import MemoryIndex
from tests.index.toys import CHECKS

AnyIndex = LmdbIndex | MemoryIndex
OpenIndex = Callable[[], LmdbIndex]


@pytest.fixture
def small_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Levels of two, so that a few dozen pages fill several."""
    monkeypatch.setattr(segment, "FAN_OUT", 2)


@pytest.fixture(params=["memory", "lmdb"])
def index(request: pytest.FixtureRequest, tmp_path: Path, small_levels: None) -> Iterator[AnyIndex]:
    """An empty index of each kind."""
    made: AnyIndex
    if request.param == "memory":
        made = MemoryIndex(CHECKS, batch_pages=3)
    else:
        made = LmdbIndex(tmp_path / "index", CHECKS, batch_pages=3)
    yield made
    made.close()
