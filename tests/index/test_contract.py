"""What every index must do with pages that are offered, judged together and kept, in LMDB and on Redis."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
from msgspec import structs

from dedupcrawl.content.checks.base import Keys
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.detection.batch import judge_batch
from dedupcrawl.detection.comparison import Asked
from dedupcrawl.detection.detector import Detector
from dedupcrawl.index import search
from dedupcrawl.index.contract import Index, Kept, Offer, standing_for
from dedupcrawl.index.errors import IndexMismatchError
from dedupcrawl.index.open import TemporaryIndex, open_index
from dedupcrawl.index.record import Entry, Rewrite, Skip
from dedupcrawl.index.redis import RedisIndex
from dedupcrawl.page import Page
from dedupcrawl.verdict import Verdict
from tests.detection.judged import CHECKS as REAL_CHECKS
from tests.detection.judged import prose
from tests.index.conftest import AnyIndex
from tests.index.toys import (
    CHECKS,
    EqualCheck,
    EqualOff,
    LettersCheck,
    add,
    drop,
    duplicate_of,
    fill,
    lose,
    offer,
    page,
    store,
)
from tests.index.toys import page as toy


def test_entries_come_back_whole(index: AnyIndex) -> None:
    entry = page("http://a/中文?q=é", 7, b"abc", title="标题 “title”")
    offer(index, entry)
    assert index.entry(entry.url) == entry
    assert list(index.entries()) == [entry]
    assert index.entry("http://a/other") is None


def test_the_page_of_a_url_is_found_under_it_or_its_canonical_form(index: AnyIndex) -> None:
    def kept(url: str, fetched_url: str, at: float) -> Entry:
        entry = structs.replace(page(url, int(at)), fetched_url=fetched_url, kept_at=at)
        offer(index, entry)
        return entry

    variant = kept("http://a/1", "http://a/1?sid=7#top", 8)
    assert index.page_at("http://a/1?sid=7", "http://a/1") == variant
    assert index.page_at("http://a/1", "http://a/1") is None, "it was fetched from another URL"
    later = kept("http://a/1?sid=7", "", 9)
    assert index.page_at("http://a/1?sid=7", "http://a/1") == later
    assert index.page_at("http://a/2", "http://a/1") is None


def test_many_rows_are_read_in_blocks(index: AnyIndex) -> None:
    fill(index, 600)
    urls = [f"http://v/{number}" for number in range(600)]
    for url in urls:
        index.record(Verdict(url, "duplicate"), run="", site="")
    assert [entry.url for entry in index.entries()] == [f"http://fill/{1000 + number}" for number in range(600)]
    assert [row.verdict.url for row in index.recorded()] == urls


def test_pages_may_be_added_while_entries_are_read(index: AnyIndex) -> None:
    fill(index, 300)
    read = []
    for number, entry in enumerate(index.entries()):
        read.append(entry.url)
        offer(index, page(f"http://more/{number}", 5000 + number))
    assert read[:300] == [f"http://fill/{1000 + number}" for number in range(300)]


def test_a_compacted_index_answers_as_before(index: AnyIndex) -> None:
    for number in range(40):
        offer(index, page(f"http://a/{number}", 50 + number, b"ab" if number % 2 else b"cdef", title=str(number)))
        index.record(Verdict(f"http://v/{number % 3}", "duplicate", f"http://a/{number}"), run="", site="")
    index.forget(f"http://a/{number}" for number in range(30))
    index.attach("http://a/35", "text", b"text")
    entries, verdicts = list(index.entries()), [row.verdict for row in index.recorded()]
    index.compact()
    assert list(index.entries()) == entries
    assert [row.verdict for row in index.recorded()] == verdicts[-3:], "the newest on each page"
    assert index.verdict("http://v/0") == verdicts[-1]
    assert index.attachments("http://a/35") == {"text": b"text"}
    assert index.verify() == []
    assert duplicate_of(offer(index, page("http://b/1", 50 + 35, title="35"))) == "http://a/35"
    assert isinstance(offer(index, page("http://b/2", 50 + 3, title="3")), Kept)
    index.record(Verdict("http://v/9", "duplicate"), run="", site="")
    fill(index, 9)
    index.compact()
    assert [row.verdict.url for row in index.recorded()][-1] == "http://v/9"
    assert len(list(index.entries())) == len(entries) + 10
    assert index.verify() == []


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\x00", "\U0010ffff", "x" * 100_000, "", "中"])
def test_any_text_is_stored(index: AnyIndex, text: str) -> None:
    entry = page("http://a/" + text, 7, title=text, run=text)
    assert isinstance(offer(index, entry), Kept)
    assert isinstance(offer(index, page("http://a/" + text, 7, title=text)), Kept), "an update"
    index.record(
        Verdict("http://b/" + text, "duplicate", "http://a/" + text, "equal", 1.0, {text: [text]}), run="", site=""
    )
    stored = text.encode("utf-8", "replace").decode()
    found, verdict = index.entry("http://a/" + text), index.verdict("http://b/" + text)
    assert found is not None
    assert verdict is not None
    assert (found.url, found.title) == ("http://a/" + stored, stored)
    assert verdict.evidence == {stored: [stored]}


def test_info_counts(index: AnyIndex) -> None:
    fill(index, 10)
    offer(index, page("http://a", 0, b"abc"))
    info = index.info()
    assert (info["pages"], info["postings/equal"], info["postings/letters"], info["postings/url"]) == (11, 10, 3, 11)
    assert isinstance(info["bytes"], int)
    assert info["bytes"] > 0


@pytest.mark.parametrize(
    "call",
    [
        lambda index: offer(index, page("http://a", 1)),
        lambda index: index.entry("http://a"),
        lambda index: index.record(Verdict("http://a", "duplicate"), run="", site=""),
        lambda index: index.verdict("http://a"),
        lambda index: list(index.entries()),
        lambda index: list(index.recorded()),
        lambda index: index.first_id_of_run("run"),
        lambda index: index.info(),
        lambda index: index.verify(),
        lambda index: index.forget(["http://a"]),
        lambda index: index.superseded_by("http://a"),
        lambda index: index.compact(),
        lambda index: list(index.restored()),
        lambda index: index.withdraw(["http://a"]),
        lambda index: index.is_restored("http://a"),
        lambda index: index.make_due([]),
        lambda index: index.record_rewrites([Rewrite("http://a", "http://b", (), "", "", 0.0)]),
        lambda index: index.rewrite("http://a"),
        lambda index: list(index.rewrites()),
        lambda index: list(index.rewrites_of("spider", "run", rules=["r"])),
        lambda index: index.first_of_run("run", "name", b"value"),
        lambda index: index.site_state("a", "b"),
        lambda index: index.update_site_state("a", "b", lambda old: b""),
        lambda index: index.attach("http://a", "text", b""),
        lambda index: index.detach("http://a", "text"),
        lambda index: index.attachments("http://a"),
        lambda index: index.detach_if("text", lambda url, data: True),
    ],
)
def test_calls_after_close_fail(index: AnyIndex, call: Callable[[Index], object]) -> None:
    offer(index, page("http://a", 1))
    index.close()
    index.close()
    with pytest.raises(ValueError, match="closed"):
        call(index)


def test_verifying_tells_how_far_it_is(index: AnyIndex) -> None:
    fill(index, 9)
    told: list[tuple[int, int]] = []
    assert index.verify(lambda done, total: told.append((done, total))) == []
    assert told == [(number, 9) for number in range(10)]


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


def test_a_check_that_is_on_for_the_first_time_has_its_settings_stored(address: str) -> None:
    for equal in (EqualOff(version=2), EqualCheck(version=3), EqualOff(version=2)):
        open_index(address, (equal, CHECKS[1])).close()
    with pytest.raises(IndexMismatchError, match="version = 3 and now has version = 2"):
        open_index(address, (EqualCheck(version=2), CHECKS[1]))


Places = TemporaryIndex | RedisIndex


@pytest.fixture(params=["lmdb", "redis"])
def place(request: pytest.FixtureRequest) -> Iterator[Places]:
    """An empty index of the default checks."""
    is_redis = request.param == "redis"
    made = RedisIndex(request.getfixturevalue("redis_url"), REAL_CHECKS) if is_redis else TemporaryIndex(REAL_CHECKS)
    yield made
    made.close()


def pages(count: int) -> list[Page]:
    """Pairs of equal texts."""
    return [
        Page(f"http://a.example/{number}", paragraphs=(" ".join(prose(200, number // 2)),)) for number in range(count)
    ]


def judged(detector: Detector, batch: list[Page], canonical: str | None = None) -> list[Verdict]:
    asked = Asked(REAL_CHECKS, canonical=canonical, request=lambda: b"ask")
    return judge_batch(detector.index, (detector.steps(Analysis(page, detector.index.secret), asked) for page in batch))


def test_of_two_equal_pages_in_a_batch_the_first_is_kept(place: Places) -> None:
    verdicts = judged(Detector(place, run="one"), pages(20))
    assert [verdict.url for verdict in verdicts] == [page.url for page in pages(20)]
    assert [verdict.duplicate_of for verdict in verdicts[::2]] == [None] * 10
    assert [verdict.duplicate_of for verdict in verdicts[1::2]] == [page.url for page in pages(20)[::2]]
    assert len(list(place.entries())) == 10
    assert place.verify() == []


def test_the_same_url_twice_in_a_batch_is_an_update(place: Places) -> None:
    one, other = pages(4)[0], pages(4)[2]
    verdicts = judged(Detector(place, run="one"), [one, Page(one.url, paragraphs=other.paragraphs)])
    assert [verdict.verdict for verdict in verdicts] == ["unique", "unique"]
    assert len(list(place.entries())) == 1


def test_two_variants_of_one_url_in_a_batch_are_two_pages(place: Places) -> None:
    one, other = pages(4)[0], pages(4)[2]
    verdicts = judged(Detector(place, run="one"), [one, other], canonical="http://a.example/")
    assert [verdict.verdict for verdict in verdicts] == ["unique", "unique"]
    assert sorted(entry.url for entry in place.entries()) == ["http://a.example/", other.url]


def test_a_batch_is_two_questions_to_a_server(redis_url: str) -> None:
    index = RedisIndex(redis_url, REAL_CHECKS)
    detector = Detector(index, run="one")
    equal = (" ".join(prose(200, 1000)),)
    for number in range(2):  # the site is known then, and the server knows all scripts
        judged(detector, [Page(f"http://a.example/first/{number}", paragraphs=equal)])
    before = index.link.round_trips
    judged(detector, pages(14))
    assert index.link.round_trips - before == 2
    index.close()


def test_two_workers_offer_the_same_batch(redis_url: str) -> None:
    one, other = RedisIndex(redis_url, CHECKS), RedisIndex(redis_url, CHECKS)
    mine = [Offer(one.search(toy(f"http://a/{number}", number + 10)), b"") for number in range(5)]
    theirs = [Offer(other.search(toy(f"http://b/{number}", number + 12)), b"") for number in range(5)]
    assert one.carry_out(mine) == [Kept(number) for number in range(5)]
    assert other.carry_out(theirs) == [None, None, None, Kept(5), Kept(6)]
    assert one.verify() == other.verify() == []
    one.close()
    other.close()


def test_what_nothing_concerns_is_added_where_the_index_takes_batches(index: AnyIndex) -> None:
    found = [
        Offer(index.search(toy(url, number)), b"")
        for url, number in (("http://a", 7), ("http://b", 7), ("http://c", 8))
    ]
    added = index.carry_out(found)
    assert added[:2] == [Kept(0), None]
    assert added[2] == (Kept(1) if index.pages_at_once > 1 else None)


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
    monkeypatch.setattr(search, "COMPARED_LIMIT", 20)
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
