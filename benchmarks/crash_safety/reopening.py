"""An index opened as the next crawl opens it, on a copy, so that the next crawl itself finds it untouched."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from scrapy.settings import Settings

from dedupcrawl.content.checks.base import Check
from dedupcrawl.content.checks.registry import make_checks
from dedupcrawl.index.open import open_index
from dedupcrawl.settings import DedupSettings


@dataclass(frozen=True, slots=True)
class Reopened:
    """What was found.

    Attributes:
        cpu_ms: CPU milliseconds to open the index and to forget what the dead had claimed.
        abandoned: Pages that they had claimed.
        pages: Pages that it has then.
        problems: What is wrong with the index.
    """

    cpu_ms: float
    abandoned: int
    pages: int
    problems: list[str]


@lru_cache(maxsize=1)
def checks() -> Sequence[Check]:
    """Those of a crawl with default settings."""
    return make_checks(*DedupSettings.read(Settings()).index_checks())


def reopen(index: Path) -> Reopened:
    """Open a copy of `index`, which nobody may have open, and verify it.

    Raises:
        IndexDamagedError, OSError: It cannot be opened.
    """
    made = checks()
    with _copied(index) as copy:
        started = time.process_time()
        with closing(open_index(f"lmdb:{copy}", made)) as opened:
            opened.start_leasing()
            abandoned = opened.expire()
            cpu_ms = 1000 * (time.process_time() - started)
            return Reopened(cpu_ms, abandoned, int(opened.info()["pages"]), opened.verify())


def kept(index: Path) -> set[str]:
    """The URLs of the pages that `index` has, which nobody may have open."""
    with _copied(index) as copy, closing(open_index(f"lmdb:{copy}", checks())) as opened:
        return {entry.url for entry in opened.entries()}


@contextmanager
def _copied(index: Path) -> Iterator[Path]:
    copy = index.with_name("reopened")
    shutil.copytree(index, copy)
    try:
        yield copy
    finally:
        shutil.rmtree(copy)
