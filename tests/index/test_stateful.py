"""Random histories of an index against an index that compares with every page."""

from __future__ import annotations

import shutil
import tempfile
import uuid
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from dedupcrawl.index import redis, segment
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.redis import RedisIndex
from dedupcrawl.verdict import Verdict
from tests.index.conftest import AnyIndex
from tests.index.toys import CHECKS, LETTERS, BruteForce, accept, offer, page
from tests.redis_server import RedisServer

URLS = st.sampled_from([f"http://site/{number}" for number in range(12)])
CONTENTS = st.integers(0, 12)
LETTER_SETS = st.frozensets(st.sampled_from(list(LETTERS)), max_size=6).map(bytes)
TITLES = st.sampled_from(["one", "two", "three", "four"])


class History(RuleBasedStateMachine):
    """LMDB and Redis side by side with brute force; batches of three pages, levels of two batches."""

    server: RedisServer | None = None

    def __init__(self) -> None:
        super().__init__()
        self.url = self.server.url(uuid.uuid4().hex) if self.server is not None else ""
        self.folder = Path(tempfile.mkdtemp())
        self.model = BruteForce()
        self.turn = 0
        self.others = self.opened()

    def opened(self) -> list[AnyIndex]:
        """The indexes that can be closed and opened; of Redis two, which take turns."""
        shared = [RedisIndex(self.url, CHECKS, batch_pages=3) for _ in range(2)] if self.url else []
        return [LmdbIndex(self.folder / "index", CHECKS, batch_pages=3), *shared]

    @property
    def indexes(self) -> list[AnyIndex]:
        """One of each kind."""
        lmdb, *shared = self.others
        self.turn += 1
        return [lmdb, *shared[self.turn % 2 : self.turn % 2 + 1]]

    @rule(url=URLS, content=CONTENTS, letters=LETTER_SETS, title=TITLES, scope=st.integers(0, 3))
    def offer(self, url: str, content: int, letters: bytes, title: str, scope: int) -> None:
        entry = page(url, content, letters, title=title)
        first_id = len(self.model.rows) * scope // 4
        expected = self.model.offer(entry, accept(entry), first_id)
        for index in self.indexes:
            assert offer(index, entry, first_id=first_id) == expected

    @rule(count=st.integers(1, 20), start=st.integers(0, 200))
    def offer_many(self, count: int, start: int) -> None:
        for number in range(start, start + count):
            entry = page(f"http://many/{number % 70}", 100 + number, title=str(number))
            expected = self.model.offer(entry, accept(entry))
            for index in self.indexes:
                assert offer(index, entry) == expected

    @rule(url=URLS, content=CONTENTS, letters=LETTER_SETS, run=st.sampled_from(["run", "another"]))
    def renew(self, url: str, content: int, letters: bytes, run: str) -> None:
        entry = page(url, content, letters, run=run)
        expected = self.model.renew(entry)
        for index in self.indexes:
            assert index.renew(entry) == expected

    @rule(url=URLS)
    def forget(self, url: str) -> None:
        expected = self.model.forget(url)
        for index in self.indexes:
            assert index.forget([url]) == expected

    @rule(url=URLS, similarity=st.floats(0, 1))
    def record(self, url: str, similarity: float) -> None:
        verdict = Verdict(url, "duplicate", "http://kept", "equal", similarity)
        self.model.record(verdict)
        for index in self.indexes:
            index.record(verdict, run="run", site="site")
            if isinstance(index, RedisIndex):
                index.settle()  # what two connections send may arrive in any order

    @rule(run=st.sampled_from(["", "a", "b"]))
    def start_run(self, run: str) -> None:
        expected = self.model.first_id_of_run(run)
        for index in self.indexes:
            assert index.first_id_of_run(run) == expected

    @rule(url=URLS)
    def ask(self, url: str) -> None:
        kept = {entry.url: entry for entry in self.model.entries()}
        for index in self.indexes:
            assert index.entry(url) == kept.get(url)
            assert index.verdict(url) == self.model.newest.get(url)
            assert index.superseded_by(url) == self.model.superseded_by(url)

    @rule()
    def compact(self) -> None:
        for index in self.indexes:
            index.compact()

    @rule()
    def reopen(self) -> None:
        for index in self.others:
            index.close()
        self.others = self.opened()

    @rule()
    def verify(self) -> None:
        for index in self.indexes:
            assert index.verify() == []
            for url in (entry.url for entry in self.model.entries()):
                assert index.superseded_by(url) == self.model.superseded_by(url)
            assert list(index.entries()) == self.model.entries()
            assert [row.verdict for row in index.recorded()] == self.model.recorded
            assert index.info()["pages"] == len(self.model.entries())

    def teardown(self) -> None:
        self.verify()
        for index in self.others:
            index.close()
        shutil.rmtree(self.folder)


def test_any_history_answers_as_brute_force(monkeypatch: pytest.MonkeyPatch, redis_if_any: RedisServer | None) -> None:
    monkeypatch.setattr(segment, "FAN_OUT", 2)
    # Or what another process has replaced would be a keeper for a while.
    monkeypatch.setattr(redis, "FRESH_SECONDS", 0)
    monkeypatch.setattr(History, "server", redis_if_any)
    limits = settings(
        max_examples=30, stateful_step_count=30, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    run_state_machine_as_test(History, settings=limits)
