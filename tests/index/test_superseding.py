from __future__ import annotations

from dedupcrawl.index.contract import standing_for
from dedupcrawl.index.rows import Rewrite
from tests.index.conftest import AnyIndex
from tests.index.toys import offer, page


def test_the_last_of_those_that_hold_each_other(index: AnyIndex) -> None:
    for number, letters in enumerate((b"ab", b"gh", b"abcd", b"abcdef"), 1):
        offer(index, page(f"http://a/{number}", number, letters))
    assert [standing_for(index, f"http://a/{number}") for number in range(1, 6)] == [
        "http://a/4", None, "http://a/4", None, None,
    ]  # fmt: skip


def test_a_page_that_is_kept_under_another_url(index: AnyIndex) -> None:
    offer(index, page("http://a/1", 1, b"ab"))
    offer(index, page("http://a/2", 2, b"abcd"))
    index.record_rewrites([Rewrite("http://a/1?sid=1", "http://a/1", ("sid",), "s", "one", 1.0)])
    assert standing_for(index, "http://a/1?sid=1") == "http://a/2"


def test_two_that_hold_each_other_do_not_lead_on_for_ever(index: AnyIndex) -> None:
    offer(index, page("http://a/1", 1, b"ab"))
    offer(index, page("http://a/2", 2, b"abcd"))
    offer(index, page("http://a/1", 3, b"abcdef"))  # fetched again, and longer by now
    assert standing_for(index, "http://a/2") == "http://a/1"
    assert standing_for(index, "http://a/1") is None
