"""A process that claims pages in an index, and what becomes of them after it."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dedupcrawl.index import redis_leases
from dedupcrawl.index.contract import Index
from dedupcrawl.index.open import open_index
from dedupcrawl.index.record import Skip
from dedupcrawl.index.steps import Kept
from dedupcrawl.verdict import Verdict
from tests import warm
from tests.index.toys import CHECKS, drop, offer, page, store

ROOT = Path(__file__).parents[2]
COPY = Skip("toy", "http://a/copy", b"ask for the copy")
LIFE_SECONDS = 1.0  # of its claims, where they need a sign of life


def keep(index: Index, url: str, content: int, request: bytes = b"") -> None:
    entry = page(url, content)
    assert isinstance(offer(index, entry, request=request), Kept)


def keeper_of(index: Index, url: str, content: int) -> str | None:
    entry = page(url, content)
    answer = offer(index, entry)
    return answer.duplicate_of if isinstance(answer, Verdict) else None


@contextmanager
def claimant(spec: str, end: str) -> Iterator[warm.Process]:
    """A process that has stored one page, and claims another with two dependents; with the `end` "close" no more."""
    theirs, its_output = os.pipe()
    with open(theirs, encoding="utf-8") as said:
        with open(its_output, "wb") as output:
            process = warm.start(["tests.index.claimant", spec, end], cwd=ROOT, output=(output, output))
        try:
            assert said.readline() == "ready\n"
            yield process
        finally:
            process.send_signal(signal.SIGKILL)


def assert_reaped(index: Index) -> None:
    """Its claim is forgotten and what hung on it is to be fetched again; what it had stored stays."""
    assert index.entry("http://a/1") is None
    assert index.entry("http://a/stored") is not None
    assert {orphan.request for orphan in index.due("toy")} == {COPY.request, b"ask for it"}
    assert index.info()["unstored"] == 0
    assert index.verify() == []


if __name__ == "__main__":
    redis_leases.LIFE_SECONDS = LIFE_SECONDS
    index = open_index(sys.argv[1], CHECKS)
    index.start_leasing()
    keep(index, "http://a/stored", 6)
    store(index, "http://a/stored")
    keep(index, "http://a/1", 7, b"ask for it")
    drop(index, "http://a/1", COPY)
    if sys.argv[2] == "close":
        index.close()
    print("ready", flush=True)
    time.sleep(600)
