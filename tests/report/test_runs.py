"""How many fetches had been saved by when."""

from __future__ import annotations

import numpy as np

from dedupcrawl.index.runs import Run
from dedupcrawl.report.sources import figures_of, saved_by


def test_the_course_of_what_was_saved_ends_at_the_figure() -> None:
    runs = [Run("one", "s", 1.0, course=((2_000, 3), (5_000, 2))), Run("two", "s", 2.0, course=((4_000, 9),))]
    rows = figures_of(runs, {}, {}, {}, {"one": 7, "two": 4})
    assert [row.saved for row in rows] == [5, 4], "at most one a variant"
    at = np.array([1_000, 2_000, 4_500, 4_600], dtype=np.int64)
    assert saved_by(rows, at).tolist() == [0, 3, 9, 9]
    assert saved_by(rows, at[:0]).tolist() == []
    assert saved_by(rows[:1], at[:3]).tolist() == [0, 3, 5]


def test_what_fell_back_is_no_dip_below_nothing() -> None:
    runs = [
        Run("one", "s", 1.0, course=((2_000, 3), (3_000, -2)), fell_back=2),
        Run("two", "s", 2.0, course=((1, -5),)),
    ]
    rows = figures_of(runs, {}, {}, {}, {"one": 7, "two": 4})
    assert [(row.saved, row.fell_back) for row in rows] == [(1, 2), (0, 0)]
    assert saved_by(rows, np.array([1_000, 2_500, 3_500], dtype=np.int64)).tolist() == [0, 0, 1]


def test_runs_that_the_index_remembers_no_more_come_first() -> None:
    rows = figures_of([Run("b", "s", 1.0)], {"a": 2, "b": 3}, {"c": 1}, {}, {})
    assert [(row.run.name, row.kept, row.duplicates) for row in rows] == [("a", 2, 0), ("c", 0, 1), ("b", 3, 0)]
