"""What the crawls of a process make of Python's garbage collector, and that it is as it was after the last one."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from dedupcrawl.crawl.freezing import THRESHOLDS, Freezing

PYTHON_S = 700, 10, 10


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    before = gc.get_threshold()
    gc.unfreeze()  # whatever an earlier test has left
    gc.set_threshold(*PYTHON_S)
    yield
    gc.unfreeze()
    gc.set_threshold(*before)


def test_a_crawl_collects_less_often_and_leaves_everything_as_it_was() -> None:
    freezing = Freezing()
    for _ in range(2):  # crawls, one after the other
        freezing.begin()
        assert gc.get_threshold() == THRESHOLDS
        assert gc.get_freeze_count() > 0
        freezing.end()
        assert gc.get_threshold() == PYTHON_S
        assert gc.get_freeze_count() == 0


@pytest.mark.parametrize("own", [(701, 10, 10), (50_000, 20, 5), (0, 10, 10), THRESHOLDS])
def test_thresholds_that_the_program_has_chosen_stay(own: tuple[int, int, int]) -> None:
    gc.set_threshold(*own)
    freezing = Freezing()
    freezing.begin()
    assert gc.get_threshold() == own
    freezing.end()
    assert gc.get_threshold() == own
