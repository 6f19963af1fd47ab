"""What rules rewrote."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.index.rows import Rewrite
from dedupcrawl.report import rules
from dedupcrawl.report.rules import read_rewritten


def rewrite(url: str, canonical: str, at: float, *rules: str) -> Rewrite:
    return Rewrite(url, canonical, rules, "spider", "run", at)


def test_variants_and_their_pages_are_counted() -> None:
    found = read_rewritten(
        [
            rewrite("http://www.a.com/1?sid=2", "http://www.a.com/1", 3, "sid"),
            rewrite("http://www.a.com/1?sid=1", "http://www.a.com/1", 1, "sid"),
            rewrite("http://www.a.com/print/1?sid=1", "http://www.a.com/1", 2, "sid", "print"),
            rewrite("http://b.com/?x", "http://b.com/", 9, "sid"),
        ]
    )
    assert (found.variants, found.pages) == (4, 2)
    assert found.by_rule == {("a.com", "sid"): 3, ("a.com", "print"): 1, ("b.com", "sid"): 1}


def test_what_two_crawls_rewrote_counts_in_each() -> None:
    found = read_rewritten(
        Rewrite(f"http://a.com/1?sid={sid}", "http://a.com/1", ("sid",), spider, run, at)
        for at, (sid, spider, run) in enumerate(
            [(1, "one", "monday"), (2, "one", "monday"), (1, "two", "monday"), (1, "one", "tuesday")]
        )
    )
    assert (found.variants, found.pages) == (4, 3)
    assert found.by_run == {"monday": 3, "tuesday": 1}


def test_nothing_was_rewritten() -> None:
    found = read_rewritten([])
    assert (found.variants, found.pages) == (0, 0)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 10**6))))
def test_however_many_are_held_at_once(rows: Sequence[tuple[int, int]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rules, "_AT_ONCE", 3)
        found = read_rewritten(rewrite(f"http://a/{n}", f"http://b/{page}", at) for n, (page, at) in enumerate(rows))
    assert found.variants == len(rows)
    assert found.pages == len({page for page, _ in rows})
