"""What every index must do, in memory and in LMDB."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from dedupcrawl.content.checks.base import Keys
from dedupcrawl.index import search
from dedupcrawl.index.contract import Dependent, Entry, Index, Kept, Rewrite
from dedupcrawl.verdict import Verdict
from tests.index.conftest import AnyIndex
from tests.index.toys import LettersCheck, accept, page


def offer(index: Index, entry: Entry, first_id: int = 0) -> Kept | Verdict:
    return index.offer(entry, accept(entry), first_id=first_id)


def fill(index: Index, count: int, start: int = 1000) -> None:
    for number in range(start, start + count):
        assert isinstance(offer(index, page(f"http://fill/{number}", number)), Kept)


def duplicate_of(answer: Kept | Verdict) -> str | None:
    assert isinstance(answer, Verdict)
    assert answer.is_duplicate
    return answer.duplicate_of


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


def test_entries_come_back_whole(index: AnyIndex) -> None:
    entry = page("http://a/中文?q=é", 7, b"abc", title="标题 “title”")
    offer(index, entry)
    assert index.entry(entry.url) == entry
    assert list(index.entries()) == [entry]
    assert index.entry("http://a/other") is None


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


def test_checks_are_asked_in_order_and_the_most_similar_first(index: AnyIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "JUDGED_LIMIT", 5)
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
    assert isinstance(index.offer(new, refuse), Kept)
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

    assert isinstance(index.offer(page("http://new", 2, b"abcdefgh"), refuse), Kept)
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
    answer = index.offer(new, accept(new), holds=holds)
    assert answer == Kept(2, ("http://other",))
    assert asked == [("letters", "http://small"), ("letters", "http://other")]
    assert index.superseded_by("http://small") is None
    assert index.superseded_by("http://other") == "http://large"


def test_what_does_not_count_pushes_nothing_out(index: AnyIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "JUDGED_LIMIT", 2)
    for number in range(9):
        entry = page(f"http://theirs/{number}", 7, b"ab", title=str(number), run="theirs")
        assert isinstance(offer(index, entry), Kept)
    offer(index, page("http://ours", 7, b"ab", run="ours"))
    for number in range(10, 19):
        offer(index, page(f"http://theirs/{number}", 7, b"ab", title=str(number), run="theirs"))
    new = page("http://new", 7, b"abcd")
    asked: list[str] = []

    def judge(check: str, kept: Entry) -> Verdict:
        asked.append(kept.url)
        return Verdict(new.url, "duplicate", kept.url, check, 1.0)

    answer = index.offer(new, judge, counts=lambda check, kept: kept.run == "ours")
    assert duplicate_of(answer) == "http://ours"
    assert asked == ["http://ours"]
    large = page("http://large", 8, b"abcd")
    answer = index.offer(large, judge, counts=lambda check, kept: kept.run == "ours")
    assert isinstance(answer, Kept)
    assert answer.supersedes == ("http://ours",)


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


def test_verdicts(index: AnyIndex) -> None:
    first = Verdict("http://a/1", "duplicate", "http://a/0", "letters", 0.8125, {"differs": ["€", 1, None]})
    second = Verdict("http://a/2", "duplicate", "http://a/0", "equal", 1.0)
    newer = Verdict("http://a/1", "duplicate", "http://a/9", "equal", 1.0)
    for verdict in (first, second, newer):
        index.record(verdict, run="run", site="a")
    assert index.verdict("http://a/1") == newer
    assert index.verdict("http://a/2") == second
    assert index.verdict("http://a/3") is None
    assert list(index.verdicts()) == [first, second, newer]
    assert index.info()["verdicts"] == 3


def test_verdicts_are_recorded_with_where_they_fell(index: AnyIndex) -> None:
    before = time.time()
    verdict = Verdict("http://a/\ud800", "duplicate", "http://a/0", "letters", 0.5, {"differs": [1]})
    index.record(verdict, run="run", site="a", spider="\udfff", request=b"\x00\xff")
    (row,) = index.recorded()
    assert (row.verdict.url, row.run, row.site, row.spider) == ("http://a/?", "run", "a", "?")
    assert (row.verdict.evidence, row.request) == ({"differs": [1]}, b"\x00\xff")
    assert before <= row.at <= time.time()


def test_withdrawn_verdicts(index: AnyIndex) -> None:
    for url in ("http://a/1", "http://a/2", "http://a/1", "http://a/3"):
        index.record(Verdict(url, "duplicate", "http://a/0"), run="", site="a", spider="toy", request=b"as asked")
    newest = next(row for row in list(index.recorded())[::-1] if row.verdict.url == "http://a/1")
    assert index.withdraw(["http://a/1", "http://a/unknown"]) == 1
    assert index.verdict("http://a/1") is None
    assert [verdict.url for verdict in index.verdicts()] == ["http://a/2", "http://a/3"]
    assert index.is_restored("http://a/1")
    assert not index.is_restored("http://a/2")
    assert list(index.restored()) == [newest]
    assert index.orphans("toy") == []
    assert index.withdraw(["http://a/1"], refetch=True) == 0
    assert index.withdraw(["http://a/2", "http://a/2"], refetch=True) == 1
    assert index.orphans("toy") == [Dependent("toy", "http://a/2", b"as asked")]
    index.record(Verdict("http://a/4", "duplicate"), run="", site="a")
    assert [verdict.url for verdict in index.verdicts()] == ["http://a/3", "http://a/4"]
    assert sorted(row.verdict.url for row in index.restored()) == ["http://a/1", "http://a/2"]


def test_many_verdicts_are_withdrawn(index: AnyIndex) -> None:
    urls = [f"http://v/{number}" for number in range(600)]
    for url in urls:
        index.record(Verdict(url, "duplicate"), run="", site="", spider="toy")
    assert index.withdraw(urls[1:], refetch=True) == 599
    assert [verdict.url for verdict in index.verdicts()] == urls[:1]
    assert sorted(row.verdict.url for row in index.restored()) == sorted(urls[1:])
    assert sorted(orphan.url for orphan in index.orphans("toy")) == sorted(urls[1:])


def test_what_is_to_be_fetched_again_is_an_orphan(index: AnyIndex) -> None:
    first, second = Dependent("toy", "http://a/1", b"1"), Dependent("other", "http://a/1", b"2")
    index.refetch([first, second])
    index.refetch([first])
    assert index.orphans("toy") == [first]
    assert index.orphans("other") == [second]
    index.adopt(first, None)
    assert index.orphans("toy") == []


def test_rewrites(index: AnyIndex) -> None:
    def rewrite(url: str, canonical: str, at: float = 1.5) -> Rewrite:
        return Rewrite(url, canonical, ("rule one", "rule two"), "toy", "run", at)

    first, second, third = (rewrite(f"http://a/{number}?x", f"http://a/{number}") for number in range(3))
    index.record_rewrites([first, second])
    index.record_rewrites([])
    index.record_rewrites(iter([third]))
    assert index.rewrite(first.url) == first
    assert index.rewrite("http://a/0") is None
    assert list(index.rewrites()) == [first, second, third]
    newer = rewrite(first.url, "http://a/new", 2.5)
    newest = rewrite(first.url, "http://a/newest", 3.5)
    index.record_rewrites([newer, newest, rewrite("http://a/\ud800", "http://b/\udfff")])
    assert index.rewrite(first.url) == newest
    assert list(index.rewrites()) == [second, third, newest, rewrite("http://a/?", "http://b/?")]
    assert index.rewrite("http://a/\ud800") == rewrite("http://a/?", "http://b/?")
    index.record_rewrites(rewrite(f"http://many/{number}", "http://many") for number in range(600))
    assert len(list(index.rewrites())) == 604
    assert index.info()["rewrites"] == 604


def test_site_states(index: AnyIndex) -> None:
    assert index.site_state("a.com", "template") is None
    assert index.update_site_state("a.com", "template", lambda old: b"first" if old is None else b"") == b"first"
    assert index.update_site_state("a.com", "template", lambda old: (old or b"") + b"\x00" * 10_000)[:5] == b"first"
    state = index.site_state("a.com", "template")
    assert state == b"first" + b"\x00" * 10_000
    for site, name in (("a.com", "other"), ("b.com", "template"), ("", ""), ("\ud800" * 1000, "x" * 1000)):
        assert index.site_state(site, name) is None
        index.update_site_state(site, name, lambda old: b"" if old is None else b"twice")
        assert index.site_state(site, name) == b""

    def broken(old: bytes | None) -> bytes:
        raise KeyError("change")

    with pytest.raises(KeyError, match="change"):
        index.update_site_state("a.com", "template", broken)
    assert index.site_state("a.com", "template") == state


def test_states_are_changed_by_one_at_a_time(index: AnyIndex) -> None:
    def count(old: bytes | None) -> bytes:
        return str(int(old or b"0") + 1).encode()

    def work() -> None:
        for _ in range(50):
            index.update_site_state("a.com", "count", count)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert index.site_state("a.com", "count") == b"200"


def test_attachments(index: AnyIndex) -> None:
    offer(index, page("http://a/1", 7))
    index.attach("http://a/1", "text", b"old")
    index.attach("http://a/1", "text", b"\x00" * 100_000)
    index.attach("http://a/1", "item/1", b"")
    index.attach("http://a/2\ud800", "text", b"2")
    assert index.attachments("http://a/1") == {"item/1": b"", "text": b"\x00" * 100_000}
    assert index.attachments("http://a/2?") == {"text": b"2"}
    assert index.attachments("http://a/3") == {}
    assert isinstance(offer(index, page("http://a/1", 8)), Kept)
    assert index.attachments("http://a/1") != {}, "an update leaves them"
    assert index.forget(["http://a/1", "http://a/2\ud800"]) == 1
    assert index.attachments("http://a/1") == {}
    assert index.attachments("http://a/2?") == {}
    for name in ("", "x" * 65, "é", "a b", "a\n"):
        with pytest.raises(ValueError, match="attachment"):
            index.attach("http://a/1", name, b"")


def test_many_rows_are_read_in_blocks(index: AnyIndex) -> None:
    fill(index, 600)
    urls = [f"http://v/{number}" for number in range(600)]
    for url in urls:
        index.record(Verdict(url, "duplicate"), run="", site="")
    assert [entry.url for entry in index.entries()] == [f"http://fill/{1000 + number}" for number in range(600)]
    assert [verdict.url for verdict in index.verdicts()] == urls


def test_pages_may_be_added_while_entries_are_read(index: AnyIndex) -> None:
    fill(index, 300)
    read = []
    for number, entry in enumerate(index.entries()):
        read.append(entry.url)
        offer(index, page(f"http://more/{number}", 5000 + number))
    assert read[:300] == [f"http://fill/{1000 + number}" for number in range(300)]


def test_forgotten_pages_are_gone(index: AnyIndex) -> None:
    offer(index, page("http://a/1", 7, b"ab"))
    offer(index, page("http://a/2", 8, b"abcd"))
    fill(index, 5)
    assert index.forget(["http://a/1", "http://a/unknown", "http://a/1"]) == 1
    assert index.entry("http://a/1") is None
    assert "http://a/1" not in [entry.url for entry in index.entries()]
    assert isinstance(offer(index, page("http://a/3", 7)), Kept)
    assert index.forget(["http://a/2"]) == 1
    assert index.superseded_by("http://a/1") is None
    assert isinstance(offer(index, page("http://a/1", 8, b"ab")), Kept)
    fill(index, 9, start=2000)
    assert index.verify() == []


def test_a_compacted_index_answers_as_before(index: AnyIndex) -> None:
    for number in range(40):
        offer(index, page(f"http://a/{number}", 50 + number, b"ab" if number % 2 else b"cdef", title=str(number)))
        index.record(Verdict(f"http://v/{number % 3}", "duplicate", f"http://a/{number}"), run="", site="")
    index.forget(f"http://a/{number}" for number in range(30))
    index.attach("http://a/35", "text", b"text")
    entries, verdicts = list(index.entries()), list(index.verdicts())
    index.compact()
    assert list(index.entries()) == entries
    assert list(index.verdicts()) == verdicts[-3:], "the newest on each page"
    assert index.verdict("http://v/0") == verdicts[-1]
    assert index.attachments("http://a/35") == {"text": b"text"}
    assert index.verify() == []
    assert duplicate_of(offer(index, page("http://b/1", 50 + 35, title="35"))) == "http://a/35"
    assert isinstance(offer(index, page("http://b/2", 50 + 3, title="3")), Kept)
    index.record(Verdict("http://v/9", "duplicate"), run="", site="")
    fill(index, 9)
    index.compact()
    assert [verdict.url for verdict in index.verdicts()][-1] == "http://v/9"
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
        index.offer(page("http://a/2", 7), broken)
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
    monkeypatch.setattr(search, "JUDGED_LIMIT", 5)
    for number in range(30):
        offer(index, page(f"http://hot/{number}", 7, title=str(number)))
    asked: list[str] = []

    def refuse(check: str, kept: Entry) -> None:
        asked.append(kept.url)

    assert isinstance(index.offer(page("http://new", 7), refuse), Kept)
    assert asked == [f"http://hot/{number}" for number in range(10, 15)]


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


@pytest.mark.parametrize(
    "call",
    [
        lambda index: offer(index, page("http://a", 1)),
        lambda index: index.entry("http://a"),
        lambda index: index.record(Verdict("http://a", "duplicate"), run="", site=""),
        lambda index: index.verdict("http://a"),
        lambda index: list(index.entries()),
        lambda index: list(index.verdicts()),
        lambda index: index.first_id_of_run("run"),
        lambda index: index.info(),
        lambda index: index.verify(),
        lambda index: index.forget(["http://a"]),
        lambda index: index.superseded_by("http://a"),
        lambda index: index.compact(),
        lambda index: list(index.recorded()),
        lambda index: list(index.restored()),
        lambda index: index.withdraw(["http://a"]),
        lambda index: index.is_restored("http://a"),
        lambda index: index.refetch([]),
        lambda index: index.record_rewrites([]),
        lambda index: index.rewrite("http://a"),
        lambda index: list(index.rewrites()),
        lambda index: index.site_state("a", "b"),
        lambda index: index.update_site_state("a", "b", lambda old: b""),
        lambda index: index.attach("http://a", "text", b""),
        lambda index: index.attachments("http://a"),
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
