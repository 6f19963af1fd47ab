"""Random histories of an index against brute force, and of crawls that are killed: no text of a site is lost."""

from __future__ import annotations

import shutil
import tempfile
import uuid
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from msgspec.structs import replace

from dedupcrawl.content.checks.registry import make_checks
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.detection.detector import Detector
from dedupcrawl.index import redis_journal, segment
from dedupcrawl.index.contract import Drop, Index, Kept
from dedupcrawl.index.ledger import key_of, lease_cell
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.open import open_index
from dedupcrawl.index.record import Premise, Recorded, Skip, unpack_skip
from dedupcrawl.index.redis import RedisIndex
from dedupcrawl.index.tables import Cell
from dedupcrawl.page import Page
from dedupcrawl.verdict import Verdict
from tests.crawls.site import prose
from tests.index.claimant import COPY, keep
from tests.index.conftest import AnyIndex
from tests.index.toys import CHECKS, LETTERS, BruteForce, accept, drop, offer, page, premise
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
    monkeypatch.setattr(redis_journal, "FRESH_SECONDS", 0)
    monkeypatch.setattr(History, "server", redis_if_any)
    limits = settings(
        max_examples=30, stateful_step_count=30, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    run_state_machine_as_test(History, settings=limits)


REAL_CHECKS = make_checks(["exact"], {})
SPIDER = "toy"
SITE_URLS = [f"http://s.example/{number}{argument}" for number in range(2) for argument in ("", "?sid=1")]
TEXTS = st.integers(1, 3)


def canonical(url: str) -> str:
    """What a rule makes of a URL."""
    return url.partition("?")[0]


@dataclass(eq=False)
class Process:
    """One that crawls: what it keeps is on its way until it is stored or lost."""

    index: Index
    detector: Detector
    on_their_way: list[tuple[Premise, int]] = field(default_factory=list)  # with its text


class Crawls(RuleBasedStateMachine):
    """Crawls of one site, one after the other on an index in a folder, two at a time on a server."""

    server: RedisServer | None = None

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.where = f"lmdb:{self.folder.name}/index"
        self.at_once = 1
        self.shows: dict[str, int] = {}  # what the site shows
        self.seen: dict[str, set[int]] = {}  # URL → texts that it has shown
        self.stored: set[int] = set()
        self.living: list[Process] = []
        self.run = 0

    @initialize(shared=st.booleans(), shows=st.lists(TEXTS, min_size=len(SITE_URLS), max_size=len(SITE_URLS)))
    def begin(self, shared: bool, shows: list[int]) -> None:
        self.shows = dict(zip(SITE_URLS, shows, strict=True))
        if shared and self.server is not None:
            self.where, self.at_once = self.server.url(uuid.uuid4().hex), 2

    @rule(same_run=st.booleans())
    def start(self, same_run: bool) -> None:
        """A process buries the dead, and fetches what is to be fetched again."""
        if len(self.living) >= self.at_once:
            return
        self.run += not same_run
        index = open_index(self.where, REAL_CHECKS)
        index.start_leasing()
        index.expire()
        detector = Detector(index, spider=SPIDER, run=str(self.run), remembers_requests=True)
        self.living.append(Process(index, detector))
        for skip in index.take(index.due(SPIDER)):
            detector.expect(skip)
            self._fetch(self.living[-1], skip.url)

    @rule(which=st.integers(0, 1), url=st.sampled_from(SITE_URLS))
    def fetch(self, which: int, url: str) -> None:
        if self.living:
            self._fetch(self.living[which % len(self.living)], url)

    def _fetch(self, process: Process, url: str, *, force_keep: bool = False) -> None:
        text = self.shows[url]
        self.seen.setdefault(url, set()).add(text)
        analysis = Analysis(Page(url, paragraphs=(prose(text),)), process.index.secret)
        verdict = process.detector.judge(
            analysis,
            REAL_CHECKS,
            scope="all",
            request=url.encode,
            force_keep=force_keep,
            canonical=canonical(url),
            is_same=lambda kept: canonical(kept) == canonical(url),
        )
        if analysis.kept is not None:
            assert not verdict.is_duplicate
            process.on_their_way.append((analysis.kept, text))

    @rule(which=st.integers(0, 1), number=st.integers(0, 9))
    def store(self, which: int, number: int) -> None:
        """An item reaches its storage."""
        if (taken := self._taken(which, number)) is not None:
            process, premise, text = taken
            self.stored.add(text)
            process.index.hold([premise])

    @rule(which=st.integers(0, 1), number=st.integers(0, 9), again=st.booleans())
    def lose(self, which: int, number: int, again: bool) -> None:
        """An item is lost in a later pipeline; what waited for it is asked for, now or by a later crawl."""
        if (taken := self._taken(which, number)) is not None:
            process, premise, _ = taken
            due = process.index.fall([premise])
            for skip in process.index.take(due) if again else ():
                process.detector.expect(skip)
                self._fetch(process, skip.url, force_keep=True)

    def _taken(self, which: int, number: int) -> tuple[Process, Premise, int] | None:
        process = self.living[which % len(self.living)] if self.living else None
        if process is None or not process.on_their_way:
            return None
        return process, *process.on_their_way.pop(number % len(process.on_their_way))

    @rule(which=st.integers(0, 1))
    def kill(self, which: int) -> None:
        """All that a kill does to an index is that nobody lives who answers for what it holds."""
        if self.living:
            self.living.pop(which % len(self.living)).index.close()

    @rule(url=st.sampled_from(SITE_URLS))
    def forget(self, url: str) -> None:
        if self.living:
            self.living[0].index.forget([canonical(url)])

    @rule(url=st.sampled_from(SITE_URLS), text=TEXTS)
    def change(self, url: str, text: int) -> None:
        self.shows[url] = text

    @invariant()
    def nothing_is_lost(self) -> None:
        on_their_way = {text for process in self.living for _, text in process.on_their_way}
        wanted = {text for texts in self.seen.values() for text in texts} - self.stored - on_their_way
        if not wanted:
            return
        index = open_index(self.where, ())
        try:
            assert list(index.broken()) == []
            supported = waiting(index)
        finally:
            index.close()
        for text in wanted:
            showing = {url for url in SITE_URLS if text in self.seen.get(url, ())}
            shown = {url for url in showing if self.shows[url] == text}
            assert not shown or showing & supported, f"text {text} of {showing} is lost"

    def teardown(self) -> None:
        for process in self.living:
            process.index.close()
        self.folder.cleanup()


def waiting(index: Index) -> set[str]:
    """The URLs that are due, or will be where their premise falls."""
    hanging = {unpack_skip(cell.value or b"").url for cell in index.cells("skips")}
    return hanging | {skip.url for skip in index.due(SPIDER)}


def test_no_text_is_lost(monkeypatch: pytest.MonkeyPatch, redis_if_any: RedisServer | None) -> None:
    monkeypatch.setattr(Crawls, "server", redis_if_any)
    limits = settings(max_examples=150, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck))
    run_state_machine_as_test(Crawls, settings=limits)


def test_verify_says_where_the_ledger_is_broken(index: AnyIndex) -> None:
    index.start_leasing()
    keep(index, "http://a/1", 7)
    keep(index, "http://a/2", 8)
    drop(index, "http://a/1", COPY)
    assert index.verify() == []
    index.change([lease_cell(premise(index, "http://a/1"))])
    said = f"{COPY.url} is skipped for http://a/1, which is not stored, and nobody answers for that"
    assert index.verify() == [said]
    (row,) = index.groups("skips", [key_of(premise(index, "http://a/1"))])
    index.change([Cell("skips", key_of(premise(index, "http://a/2")), *one) for one in row.items()])
    assert sorted(index.verify()) == [f"{COPY.url} is skipped for http://a/1, but hangs on another page", said]


def test_what_two_readings_of_a_url_stand_for_does_not_hang_together(index: AnyIndex) -> None:
    """What is stored of the one is not stored of the other."""
    index.start_leasing()
    for number in (1, 2):
        entry = replace(page("http://a/1", number), kept_at=float(number))
        assert isinstance(offer(index, entry, request=b"ask for it"), Kept)
        assert drop(index, "http://a/1", Skip("toy", f"http://a/copy/{number}", b""))
    first, second = (Premise("http://a/1", float(number)) for number in (1, 2))
    assert not index.carry_out([Drop(first, COPY)])[0], "it is not kept as it was"
    index.hold([first])
    assert [skip.url for skip in index.fall([second])] == ["http://a/1", "http://a/copy/2"]
    assert index.entry("http://a/1") is None
    assert index.verify() == []


def test_a_page_is_dropped_and_its_verdict_recorded_in_one_step(index: AnyIndex) -> None:
    index.start_leasing()
    offer(index, page("http://a/1", 1), request=b"ask for it")
    verdict = Verdict(COPY.url, "duplicate", "http://a/1")
    row = index.verdict_cell(Recorded(verdict, "run", "a", "toy", 1.0, b"ask for it"))
    assert index.carry_out([Drop(Premise("http://a/1", 0.5), COPY, row)]) == [False]
    assert index.verdict(COPY.url) is None, "it is not dropped"
    assert index.carry_out([Drop(premise(index, "http://a/1"), COPY, row)]) == [True]
    assert index.verdict(COPY.url) == verdict
    assert {skip.url for skip in index.fall([premise(index, "http://a/1")])} == {"http://a/1", COPY.url}


def test_what_was_lost_of_a_url_does_not_end_what_is_kept_of_it_since(index: AnyIndex) -> None:
    index.start_leasing()
    for number in (1, 2):
        offer(index, replace(page("http://a/1", number), kept_at=float(number)), request=b"ask for it")
    index.attach("http://a/1", "text", b"said")
    assert [skip.url for skip in index.fall([Premise("http://a/1", 1.0)])] == ["http://a/1"]
    assert index.entry("http://a/1") is not None
    assert index.attachments("http://a/1") == {"text": b"said"}
    assert index.info()["unstored"] == 1
