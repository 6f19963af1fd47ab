"""What an index remembers of each run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.index import runs
from dedupcrawl.index.errors import IndexAwayError, IndexDamagedError
from dedupcrawl.index.open import TemporaryIndex
from dedupcrawl.index.runs import RunTally, read_runs
from tests.index.conftest import AnyIndex
from tests.index.toys import CHECKS


def test_each_run_has_its_own_figures(index: AnyIndex) -> None:
    assert read_runs(index) == []
    for name, kept in (("one", 3), ("\ud800", 5)):
        tally = RunTally(index, name, "spider")
        tally.kept = kept
        tally.save()
        tally.close(lost=1)
        tally.close()
    one, other = read_runs(index)
    assert (one.name, one.spider, one.kept, one.saved, one.begun, one.closed) == ("one", "spider", 2, 1, 1, 1)
    assert (other.name, other.kept) == ("?", 4)
    assert one.is_whole
    assert one.started <= one.ended <= other.ended
    assert one.started * 1000 - 1 <= one.course[0][0] <= one.ended * 1000


def test_processes_of_one_run_add_up_and_the_latest_run_is_the_last(index: AnyIndex) -> None:
    first, second = RunTally(index, "shared", "a"), RunTally(index, "shared", "b")
    RunTally(index, "other", "c").close()
    for tally in (first, second):
        tally.kept = 2
        tally.save()
    first.close()
    shared, _ = read_runs(index)
    assert (shared.kept, shared.begun, shared.closed, shared.is_whole) == (2, 2, 1, False)
    second.close()
    RunTally(index, "shared", "d").close()
    other, shared = read_runs(index)
    assert (shared.name, shared.spider, shared.kept, shared.saved, shared.is_whole) == ("shared", "d", 4, 2, True)
    assert other.name == "other"


def test_what_fell_back_is_saved_no_more(index: AnyIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "_SAVED_AT_ONCE", 4)
    tally = RunTally(index, "one", "s")
    for _ in range(5):
        tally.save()
    tally.fall_back(3)
    tally.save(-2)
    (run,) = read_runs(index)
    assert (run.saved, run.fell_back) == (4, 0), "told now and then"
    tally.close()
    (run,) = read_runs(index)
    assert (run.saved, run.fell_back) == (3, 3)


def test_only_the_newest_runs_are_remembered(index: AnyIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "MOST_RUNS", 3)
    for number in range(5):
        RunTally(index, f"run-{number}", "s").close()
    assert [run.name for run in read_runs(index)] == ["run-2", "run-3", "run-4"]
    assert index.site_state("run-0", "run") == b""


def test_what_cannot_be_read_is_begun_anew(index: AnyIndex) -> None:
    index.update_site_state("", "runs", lambda _: b"\xc1")
    index.update_site_state("one", "run", lambda _: b"nonsense")
    RunTally(index, "one", "s").close()
    assert [(run.name, run.begun) for run in read_runs(index)] == [("one", 1)]


@pytest.mark.parametrize("error", [IndexAwayError("away"), OSError("full"), IndexDamagedError("torn")])
def test_an_index_that_refuses_ends_no_crawl(error: Exception) -> None:
    class Refusing(TemporaryIndex):
        refuses = False

        def update_site_state(
            self, site: str, name: str, change: Callable[[bytes | None], bytes], guess: bytes | None = None
        ) -> bytes:
            if self.refuses:
                raise error
            return super().update_site_state(site, name, change, guess)

    index = Refusing(CHECKS)
    tally = RunTally(index, "one", "s")
    index.refuses = True
    for _ in range(70):
        tally.save()
    index.refuses = False
    tally.save()
    (run,) = read_runs(index)
    assert run.saved == 71, "what could not be told is told later"
    index.refuses = True
    tally.close()
    (run,) = read_runs(index)
    assert not run.is_whole


@given(st.lists(st.tuples(st.integers(0, 10**13), st.integers(1, 10**6)), max_size=2_000))
def test_a_course_is_bounded_and_keeps_its_sum(course: Any) -> None:
    thinned = runs._thinned(course)
    assert len(thinned) <= 256
    assert sum(count for _, count in thinned) == sum(count for _, count in course)
    assert list(thinned) == sorted(thinned)
    if len(course) <= 256:
        assert sorted(course) == list(thinned)
    elif course:
        assert thinned[-1][0] == max(course)[0]
