"""Random histories of an index against an index that compares with every page."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    rule,
    run_state_machine_as_test,
)

from dedupcrawl.index import segment
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.memory import MemoryIndex
from dedupcrawl.verdict import Verdict
from tests.index.toys import CHECKS, LETTERS, BruteForce, accept, page

URLS = st.sampled_from([f"http://site/{number}" for number in range(12)])
CONTENTS = st.integers(0, 12)
LETTER_SETS = st.frozensets(st.sampled_from(list(LETTERS)), max_size=6).map(bytes)
TITLES = st.sampled_from(["one", "two", "three", "four"])


class History(RuleBasedStateMachine):
    """Memory and LMDB side by side with brute force; batches of three pages, levels of two batches."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.model = BruteForce()
        self.memory = MemoryIndex(CHECKS, batch_pages=3)
        self.lmdb = self.opened()

    def opened(self) -> LmdbIndex:
        return LmdbIndex(self.folder / "index", CHECKS, batch_pages=3)

    @rule(url=URLS, content=CONTENTS, letters=LETTER_SETS, title=TITLES, scope=st.integers(0, 3))
    def offer(self, url: str, content: int, letters: bytes, title: str, scope: int) -> None:
        entry = page(url, content, letters, title=title)
        first_id = len(self.model.rows) * scope // 4
        expected = self.model.offer(entry, accept(entry), first_id)
        assert self.memory.offer(entry, accept(entry), first_id=first_id) == expected
        assert self.lmdb.offer(entry, accept(entry), first_id=first_id) == expected

    @rule(count=st.integers(1, 20), start=st.integers(0, 200))
    def offer_many(self, count: int, start: int) -> None:
        for number in range(start, start + count):
            entry = page(f"http://many/{number % 70}", 100 + number, title=str(number))
            expected = self.model.offer(entry, accept(entry))
            assert self.memory.offer(entry, accept(entry)) == expected
            assert self.lmdb.offer(entry, accept(entry)) == expected

    @rule(url=URLS)
    def forget(self, url: str) -> None:
        expected = self.model.forget(url)
        assert self.memory.forget([url]) == expected
        assert self.lmdb.forget([url]) == expected

    @rule(url=URLS, similarity=st.floats(0, 1))
    def record(self, url: str, similarity: float) -> None:
        verdict = Verdict(url, "duplicate", "http://kept", "equal", similarity)
        self.model.record(verdict)
        self.memory.record(verdict, run="run", site="site")
        self.lmdb.record(verdict, run="run", site="site")

    @rule(run=st.sampled_from(["", "a", "b"]))
    def start_run(self, run: str) -> None:
        expected = self.model.first_id_of_run(run)
        assert self.memory.first_id_of_run(run) == expected
        assert self.lmdb.first_id_of_run(run) == expected

    @rule(url=URLS)
    def ask(self, url: str) -> None:
        kept = {entry.url: entry for entry in self.model.entries()}
        for index in (self.memory, self.lmdb):
            assert index.entry(url) == kept.get(url)
            assert index.verdict(url) == self.model.newest.get(url)
            assert index.superseded_by(url) == self.model.superseded_by(url)

    @rule()
    def compact(self) -> None:
        last = {verdict.url: number for number, verdict in enumerate(self.model.recorded)}
        self.model.recorded = [self.model.recorded[number] for number in sorted(last.values())]
        self.memory.compact()
        self.lmdb.compact()

    @rule()
    def reopen(self) -> None:
        self.lmdb.close()
        self.lmdb = self.opened()

    @rule()
    def verify(self) -> None:
        for index in (self.memory, self.lmdb):
            assert index.verify() == []
            for url in (entry.url for entry in self.model.entries()):
                assert index.superseded_by(url) == self.model.superseded_by(url)
            assert list(index.entries()) == self.model.entries()
            assert list(index.verdicts()) == self.model.recorded
            assert index.info()["pages"] == len(self.model.entries())

    def teardown(self) -> None:
        self.verify()
        self.memory.close()
        self.lmdb.close()
        shutil.rmtree(self.folder)


def test_any_history_answers_as_brute_force(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment, "FAN_OUT", 2)
    limits = settings(
        max_examples=40, stateful_step_count=30, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    run_state_machine_as_test(History, settings=limits)
