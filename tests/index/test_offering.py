"""What every index must answer when a page is offered, beyond what random histories (test_stateful.py) compare."""

from __future__ import annotations

import threading

import pytest

from benchmarks.offering import inside, similar
from dedupcrawl.content.checks.base import Keys
from dedupcrawl.core.search import COMPARED_LIMIT
from dedupcrawl.index.record import Entry, Skip
from dedupcrawl.index.steps import Kept
from tests.index.conftest import AnyIndex
from tests.index.toys import LettersCheck, add, drop, duplicate_of, fill, lose, offer, page, store


def test_checks_are_asked_in_order_and_the_most_similar_first(index: AnyIndex) -> None:
    offer(index, page("http://6-of-8", 1, b"abcdef", title="1"))
    offer(index, page("http://7-of-8", 2, b"abcdefg", title="2"))
    offer(index, page("http://8-of-8", 3, b"abcdefgh", title="3"))
    offer(index, page("http://equal", 4, b"a", title="4"))
    offer(index, page("http://8-of-8-too", 5, b"abcdefgh", title="5"))
    offer(index, page("http://7-of-8-too", 6, b"bcdefgh", title="6"))
    asked: list[tuple[str, str]] = []

    def refuse(check: str, kept: Entry) -> None:
        asked.append((check, kept.url))

    new = page("http://new", 4, b"abcdefgh")
    assert isinstance(offer(index, new, refuse), Kept)
    assert asked == [
        ("equal", "http://equal"),
        ("letters", "http://8-of-8"),
        ("letters", "http://8-of-8-too"),
        ("letters", "http://7-of-8"),
        ("letters", "http://7-of-8-too"),
        ("letters", "http://6-of-8"),
    ]


def test_what_seems_to_lie_inside_is_asked_about(index: AnyIndex) -> None:
    offer(index, page("http://small", 1, b"ab"))
    offer(index, page("http://other", 2, b"cd"))
    asked = []

    def holds(check: str, kept: Entry) -> bool:
        asked.append((check, kept.url))
        return kept.url == "http://other"

    new = page("http://large", 3, b"abcdef")
    answer = offer(index, new, holds=holds)
    assert answer == Kept(2, ("http://other",))
    assert asked == [("letters", "http://small"), ("letters", "http://other")]
    assert index.superseded_by("http://small") is None
    assert index.superseded_by("http://other") == "http://large"


def test_a_page_that_came_since_is_brought_up_before_anything_is_added(index: AnyIndex) -> None:
    offer(index, page("http://a/0", 5, b"ab"))
    entry = page("http://a/1", 7)
    found = index.search(entry)
    assert not list(similar(found))
    fill(index, 4)
    offer(index, page("http://a/2", 7))
    assert add(index, found) is None
    later = index.search(entry, after=found)
    assert [(check, kept.url) for check, _, kept in similar(later)] == [("equal", "http://a/2")]
    assert add(index, later) == Kept(6)
    assert add(index, later) is None, "once is enough"


def test_what_was_found_to_lie_inside_stands_when_the_search_goes_on(index: AnyIndex) -> None:
    offer(index, page("http://small", 1, b"ab"))
    found = index.search(page("http://large", 3, b"abcdef"))
    found.superseded |= {number: kept.source for _, number, kept in inside(found)}
    offer(index, page("http://small-too", 2, b"cd"))
    assert add(index, found) is None
    later = index.search(found.entry, after=found)
    later.superseded |= {number: kept.source for _, number, kept in inside(later)}
    assert add(index, later) == Kept(2, ("http://small", "http://small-too"))


def test_runs_of_any_name(index: AnyIndex) -> None:
    names = ["", "x" * 5000, "\ud800", "运行"]
    for number, name in enumerate(names):
        assert index.first_id_of_run(name) == number
        fill(index, 1, start=3000 + number)
    assert [index.first_id_of_run(name) for name in names] == [0, 1, 2, 3]


def test_an_unknown_signature_is_refused(index: AnyIndex) -> None:
    entry = page("http://a", 1)
    entry.signatures["mystery"] = b"x"
    with pytest.raises(ValueError, match="mystery"):
        offer(index, entry)
    assert list(index.entries()) == []


def test_an_exception_of_a_check_changes_nothing(index: AnyIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(index, page("http://a/1", 7))

    def broken(self: LettersCheck, signature: bytes) -> Keys:
        raise KeyError("check")

    with monkeypatch.context() as patched:
        patched.setattr(LettersCheck, "keys", broken)
        with pytest.raises(KeyError, match="check"):
            offer(index, page("http://a/2", 8, b"ab"))
    assert [entry.url for entry in index.entries()] == ["http://a/1"]
    assert isinstance(offer(index, page("http://a/3", 8)), Kept)
    assert index.verify() == []


def test_hot_candidates_are_limited(index: AnyIndex) -> None:
    for number in range(COMPARED_LIMIT + 10):
        add(index, index.search(page(f"http://hot/{number}", 7, title=str(number))))
    asked: list[str] = []

    def refuse(check: str, kept: Entry) -> None:
        asked.append(kept.url)

    assert isinstance(offer(index, page("http://new", 7), refuse), Kept)
    assert asked == [f"http://hot/{number}" for number in range(10, COMPARED_LIMIT + 10)]


def test_threads_take_turns(index: AnyIndex) -> None:
    kept: list[int] = []
    failed: list[BaseException] = []

    def work(name: int) -> None:
        try:
            for content in range(1, 101):
                answer = offer(index, page(f"http://{name}/{content}", content))
                if isinstance(answer, Kept):
                    kept.append(content)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert sorted(kept) == list(range(1, 101))
    assert index.verify() == []


def test_a_claim_stays_what_it_is(index: AnyIndex) -> None:
    index.start_leasing()
    for number in (1, 2):
        offer(index, page(f"http://a/{number}", number))
    store(index, "http://a/1")
    for number in (1, 2):
        assert index.renew(page(f"http://a/{number}", number + 10))
    dependent = Skip("spider", "http://a/3", b"request")
    for number in (1, 2):
        assert drop(index, f"http://a/{number}", dependent)
    assert index.info()["unstored"] == 1
    assert lose(index, "http://a/1") == []
    assert lose(index, "http://a/2") == [dependent]
    assert list(index.entries()) == []
    assert index.verify() == []


def test_a_search_that_is_under_way_leaves_nothing_of_a_page_that_ends_meanwhile(index: AnyIndex) -> None:
    offer(index, page("http://a", 7))
    index._catalog.at_hand.clear()  # as if many had come since
    found = index.search(page("http://b", 7))
    pages = [row[2] for of_check in found.signed for row in found.accepted(*of_check)]
    assert pages
    assert index.forget(["http://a"]) == 1
    assert index.entry("http://a") is None
    kept = list(map(found.entry_of, pages))
    assert {one.url for one in kept if one} <= {"http://a"}  # as it was found, or as it is
    assert isinstance(offer(index, page("http://b", 7)), Kept)
    assert duplicate_of(offer(index, page("http://c", 7))) == "http://b"
