"""An index that is larger than the memory a process may hold."""

from __future__ import annotations

import logging
import random
import sys
from pathlib import Path

import pytest

from dedupcrawl.index import mapped_files
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.mapped_files import ResidentLimit
from tests.index.claimant import keep, keeper_of
from tests.index.toys import CHECKS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc here")


@pytest.fixture
def index(tmp_path: Path) -> LmdbIndex:
    """An index of 64 MB, all of which this process has read."""
    index = LmdbIndex(tmp_path, CHECKS, batch_pages=4)
    for number in range(64):
        keep(index, f"http://a/{number}", number)
    filler = random.Random(1).randbytes(1 << 26)
    index.attach("http://a/1", "filler", filler)
    assert index.attachments("http://a/1")["filler"] == filler
    return index


def test_what_is_mapped_is_given_back_and_still_found(index: LmdbIndex) -> None:
    _, before = mapped_files.resident()
    limit = ResidentLimit(1)
    for _ in range(64):
        limit.look()
    _, after = mapped_files.resident()
    assert before - after > 1 << 25
    assert keeper_of(index, "http://b", 7) == "http://a/7"
    assert index.verify() == []
    index.close()


@pytest.mark.parametrize("limit", [None, 1 << 50])
def test_below_the_limit_nothing_is_given_back(index: LmdbIndex, limit: int | None) -> None:
    _, before = mapped_files.resident()
    watched = ResidentLimit(limit)
    for _ in range(64):
        watched.look()
    assert mapped_files.resident()[1] == before
    index.close()


def test_a_process_that_is_too_large_by_itself_says_so_once(index: LmdbIndex, caplog: pytest.LogCaptureFixture) -> None:
    limit = ResidentLimit(1)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            index.attachments("http://a/1")
            for _ in range(64):
                limit.look()
    assert len(caplog.messages) == 1
    assert "more than DEDUP_INDEX_MEMORY = 0: raise that" in caplog.messages[0]
    index.close()
