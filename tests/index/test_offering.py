"""What every index must answer when a page is offered: kept, or a duplicate of what."""

from __future__ import annotations

import threading

import msgspec
import pytest

from dedupcrawl.content.checks.base import Keys
from dedupcrawl.index import pages
from dedupcrawl.index.record import Entry, Skip
from dedupcrawl.index.steps import Kept
from dedupcrawl.verdict import Verdict
from tests.index.conftest import AnyIndex
from tests.index.toys import LettersCheck, add, drop, duplicate_of, fill, lose, offer, page, store


def test_first_come_first_kept(index: AnyIndex) -> None:
    assert offer(index, page("http://a/1", 7)) == Kept(0)
    assert duplicate_of(offer(index, page("http://a/2", 7))) == "http://a/1"
    assert offer(index, page("http://a/3", 8)) == Kept(1)
    assert [entry.url for entry in index.entries()] == ["http://a/1", "http://a/3"]


@pytest.mark.parametrize("between", [0, 1, 2, 3, 5, 8, 17, 40])
def test_found_wherever_it_has_got_to(index: AnyIndex, between: int) -> None:
    offer(index, page("http://a/1", 7, b"abcd"))
    fill(index, between)
    assert duplicate_of(offer(index, page("http://a/2", 7))) == "http://a/1"
    assert duplicate_of(offer(index, page("http://a/3", 0, b"abc"))) == "http://a/1"
    assert index.verify() == []


def test_same_url_is_an_update(index: AnyIndex) -> None:
    offer(index, page("http://a/1", 7))
    fill(index, 7)
    assert isinstance(offer(index, page("http://a/1", 7)), Kept), "not its own duplicate"
    newer = page("http://a/1", 9)
    assert isinstance(offer(index, newer), Kept)
    assert index.entry("http://a/1") == newer
    assert isinstance(offer(index, page("http://a/2", 7)), Kept), "what it replaced is no candidate"
    assert duplicate_of(offer(index, page("http://a/3", 9))) == "http://a/1"
    assert sum(entry.url == "http://a/1" for entry in index.entries()) == 1
    assert index.info()["ended"] == 2


def test_an_update_that_duplicates_another_page_changes_nothing(index: AnyIndex) -> None:
    first = page("http://a/1", 7)
    offer(index, first)
    offer(index, page("http://a/2", 8))
    assert duplicate_of(offer(index, page("http://a/1", 8))) == "http://a/2"
    assert index.entry("http://a/1") == first


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


def test_of_pages_as_similar_the_nearest_by_all_checks_comes_first(index: AnyIndex) -> None:
    offer(index, page("http://1", 1, b"abcdefgh", title="1"))
    offer(index, page("http://2", 0, b"abcdefgh", title="2"))
    offer(index, page("http://3", 2, b"abcdefgh", title="3"))
    asked: list[tuple[str, str]] = []

    def refuse(check: str, kept: Entry) -> None:
        asked.append((check, kept.url))

    assert isinstance(offer(index, page("http://new", 2, b"abcdefgh"), refuse), Kept)
    assert asked == [("equal", "http://3"), *(("letters", f"http://{number}") for number in (3, 1, 2))]


def test_what_lies_inside_is_told_and_recorded(index: AnyIndex) -> None:
    offer(index, page("http://small", 1, b"ab"))
    offer(index, page("http://other", 2, b"gh"))
    fill(index, 5)
    answer = offer(index, page("http://large", 3, b"abcd"))
    assert isinstance(answer, Kept)
    assert answer.supersedes == ("http://small",)
    assert index.superseded_by("http://small") == "http://large"
    assert index.superseded_by("http://other") is None
    assert index.superseded_by("http://unknown") is None
    fill(index, 9, start=2000)
    assert index.superseded_by("http://small") == "http://large"
    assert index.entry("http://small") is not None, "never dropped for it"


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
    assert not list(found.similar())
    fill(index, 4)
    offer(index, page("http://a/2", 7))
    assert add(index, found) is None
    later = index.search(entry, after=found)
    assert [(check, [kept.url for _, kept, _ in candidates]) for check, candidates in later.similar()] == [
        ("equal", ["http://a/2"])
    ]
    assert add(index, later) == Kept(6)
    assert add(index, later) is None, "once is enough"


def test_what_was_found_to_lie_inside_stands_when_the_search_goes_on(index: AnyIndex) -> None:
    offer(index, page("http://small", 1, b"ab"))
    found = index.search(page("http://large", 3, b"abcdef"))
    found.superseded |= {number: kept.source for _, candidates in found.inside() for number, kept, _ in candidates}
    offer(index, page("http://small-too", 2, b"cd"))
    assert add(index, found) is None
    later = index.search(found.entry, after=found)
    later.superseded |= {number: kept.source for _, candidates in later.inside() for number, kept, _ in candidates}
    assert add(index, later) == Kept(2, ("http://small", "http://small-too"))


def test_a_page_that_is_replaced_is_told(index: AnyIndex) -> None:
    assert offer(index, page("http://a", 7)) == Kept(0)
    assert offer(index, page("http://a", 7)) == Kept(1, replaces=True)
    index.forget(["http://a"])
    answer = offer(index, page("http://a", 7))
    assert isinstance(answer, Kept)
    assert not answer.replaces


def test_first_id_limits_the_comparison(index: AnyIndex) -> None:
    offer(index, page("http://old", 7, b"ab"))
    fill(index, 5)
    start = index.first_id_of_run("second")
    assert start == 6
    answer = offer(index, page("http://new", 7, b"abcd"), first_id=start)
    assert answer == Kept(6), "what lies inside is limited too"
    assert index.first_id_of_run("second") == start
    assert index.first_id_of_run("third") == 7
    assert duplicate_of(offer(index, page("http://newer", 7), first_id=start)) == "http://new"
    assert isinstance(offer(index, page("http://old", 9), first_id=start), Kept)
    assert sum(entry.url == "http://old" for entry in index.entries()) == 1, "the old one is replaced all the same"


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


def test_an_exception_of_the_judge_changes_nothing(index: AnyIndex) -> None:
    offer(index, page("http://a/1", 7))

    def broken(check: str, kept: Entry) -> Verdict | None:
        raise KeyError("judge")

    with pytest.raises(KeyError, match="judge"):
        offer(index, page("http://a/2", 7), broken)
    assert [entry.url for entry in index.entries()] == ["http://a/1"]
    assert duplicate_of(offer(index, page("http://a/2", 7))) == "http://a/1"


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


def test_hot_candidates_are_limited(index: AnyIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "COMPARED_LIMIT", 20)
    for number in range(30):
        offer(index, page(f"http://hot/{number}", 7, title=str(number)))
    asked: list[str] = []

    def refuse(check: str, kept: Entry) -> None:
        asked.append(kept.url)

    assert isinstance(offer(index, page("http://new", 7), refuse), Kept)
    assert asked == [f"http://hot/{number}" for number in range(10, 30)]


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


def test_another_reading_takes_the_place_of_a_page(index: AnyIndex) -> None:
    first = page("http://a/1", 7, b"abcd")
    offer(index, first)
    fill(index, 7)
    index.attach(first.url, "text", b"as it was stored")
    newer = msgspec.structs.replace(first, signatures=page("http://a/1", 9, b"efgh").signatures, asides=b"1234")
    assert index.renew(newer)
    assert index.entry("http://a/1") == newer
    assert index.attachments(first.url) == {"text": b"as it was stored"}
    assert isinstance(offer(index, page("http://a/3", 7)), Kept), "nobody is a duplicate of the reading that is gone"
    assert duplicate_of(offer(index, page("http://a/4", 9))) == "http://a/1"
    assert duplicate_of(offer(index, page("http://a/5", 0, b"efgh"))) == "http://a/1"
    fill(index, 40)
    assert duplicate_of(offer(index, page("http://a/6", 9))) == "http://a/1"
    assert sum(entry.url == "http://a/1" for entry in index.entries()) == 1
    assert index.verify() == []


def test_what_lies_inside_a_page_lies_inside_another_reading_of_it(index: AnyIndex) -> None:
    offer(index, page("http://a/1", 1, b"ab"))
    larger = page("http://a/2", 2, b"abcdefgh")
    assert offer(index, larger) == Kept(1, ("http://a/1",))
    assert index.renew(larger)
    assert index.superseded_by("http://a/1") == "http://a/2"
    assert index.verify() == []


def test_another_reading_of_a_page_lies_inside_what_that_lies_inside(index: AnyIndex) -> None:
    small = page("http://a/1", 1, b"ab")
    offer(index, small)
    offer(index, page("http://a/2", 2, b"abcdefgh"))
    for content in (3, 4):  # twice: the reading of a reading
        fill(index, 7, start=1000 * content)
        assert index.renew(page("http://a/1", content, b"ab"))
        assert index.superseded_by("http://a/1") == "http://a/2"
    assert index.renew(page("http://a/2", 5, b"abcdefgh"))
    assert index.superseded_by("http://a/1") == "http://a/2"
    assert index.verify() == []
    again = offer(index, msgspec.structs.replace(small, kept_at=small.kept_at + 1), lambda check, kept: None)
    assert isinstance(again, Kept)
    assert index.superseded_by("http://a/1") is None, "it was fetched again, and is judged anew"


def test_there_is_no_other_reading_of_what_is_not_kept(index: AnyIndex) -> None:
    entry = page("http://a/1", 7)
    assert not index.renew(entry)
    offer(index, entry)
    index.forget([entry.url])
    assert not index.renew(entry)
    again = msgspec.structs.replace(entry, kept_at=entry.kept_at + 1)
    offer(index, again)
    assert not index.renew(entry)
    assert index.entry(entry.url) == again
    assert not index.renew(msgspec.structs.replace(again, run="another"))
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
