"""What every index remembers besides pages: verdicts, rewrites, states of sites, attachments."""

from __future__ import annotations

import threading
import time

import pytest

from dedupcrawl.index.record import Rewrite
from dedupcrawl.index.redis import RedisIndex
from dedupcrawl.index.steps import Kept
from dedupcrawl.verdict import Verdict
from tests.index.conftest import AnyIndex
from tests.index.toys import CHECKS, offer, page


def test_of_a_page_the_newest_verdict_of_each_run_is_kept_until_the_index_is_compacted(index: AnyIndex) -> None:
    for run, keeper in (("monday", "1"), ("monday", "2"), ("tuesday", "3"), ("monday", "4")):
        index.record(Verdict("http://a/", "duplicate", f"http://a/{keeper}"), run=run, site="a")
    index.record(Verdict("http://b/", "duplicate", "http://b/1"), run="monday", site="b")
    assert [row.verdict.duplicate_of for row in index.recorded()] == ["http://a/3", "http://a/4", "http://b/1"]
    assert index.forget_verdicts(lambda row: row.verdict.url == "http://b/") == 1
    index.compact()
    assert [row.verdict.duplicate_of for row in index.recorded()] == ["http://a/4"]
    assert index.info()["verdicts"] == 1


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
    assert [row.verdict.url for row in index.recorded()] == ["http://a/2", "http://a/3"]
    assert index.is_restored("http://a/1")
    assert not index.is_restored("http://a/2")
    assert list(index.restored()) == [newest]
    assert index.withdraw(["http://a/1"]) == 0
    assert index.withdraw(["http://a/2", "http://a/2"]) == 1
    assert index.due("toy") == []
    index.record(Verdict("http://a/4", "duplicate"), run="", site="a")
    assert [row.verdict.url for row in index.recorded()] == ["http://a/3", "http://a/4"]
    assert sorted(row.verdict.url for row in index.restored()) == ["http://a/1", "http://a/2"]


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


def test_rewrites_of_two_crawls_are_kept_apart(index: AnyIndex) -> None:
    """Two spiders that share an index, and two runs of one of them, send one URL to different places."""

    def rewrite(url: str, canonical: str, rule: str, spider: str, run: str, at: float = 1.5) -> Rewrite:  # noqa: PLR0913 - each may be left out or is a case
        return Rewrite(url, canonical, (rule, "both", rule), spider, run, at, b"asked")

    ours = rewrite("http://a/?x", "http://a/1", "one", "spider", "monday")
    theirs = rewrite("http://a/?x", "http://a/2", "two", "other", "monday")
    later = rewrite("http://a/?x", "http://a/1", "one", "spider", "tuesday")
    more = rewrite("http://a/?y", "http://a/1", "one", "spider", "monday")
    for row in (ours, theirs, later, more):
        index.record_rewrites([row])
    assert list(index.rewrites()) == [ours, theirs, later, more]
    assert index.rewrite("http://a/?x") == later
    assert list(index.rewrites_of("spider", "monday", canonicals=["http://a/1"])) == [ours, more]
    assert list(
        index.rewrites_of("spider", "monday", rules=[("a", "both"), ("a", "one")], canonicals=["http://a/1"])
    ) == [ours, more]
    assert list(index.rewrites_of("other", "monday", rules=[("a", "both")])) == [theirs]
    assert list(index.rewrites_of("other", "monday", rules=[("a", "one")], canonicals=["http://a/1"])) == []
    assert list(index.rewrites_of("spider", "tuesday", rules=[("a", "one")])) == [later]
    assert list(index.rewrites_of("spider", "monday")) == []
    assert list(index.rewrites_of("spider", "monday", rules=[("b", "one")])) == [], "the rule of another site"

    elsewhere = rewrite("http://a/?x", "http://a/3", "three", "spider", "monday", 2.5)
    index.record_rewrites([elsewhere])
    assert list(index.rewrites()) == [theirs, later, more, elsewhere]
    assert list(index.rewrites_of("spider", "monday", canonicals=["http://a/1"])) == [more], "it was sent elsewhere"
    assert list(index.rewrites_of("spider", "monday", rules=[("a", "three")])) == [elsewhere]
    index.compact()
    assert list(index.rewrites()) == [theirs, more, elsewhere], "of a URL and a spider the newest"
    assert list(index.rewrites_of("spider", "tuesday", rules=[("a", "one")])) == []
    assert index.rewrite("http://a/?x") == elsewhere
    assert index.info()["rewrites"] == 3

    many = [rewrite(f"http://many/{number}", "http://many", "m", "spider", "run") for number in range(600)]
    index.record_rewrites(many)
    assert list(index.rewrites_of("spider", "run", rules=[("many", "m")])) == many
    index.record_rewrites(many)
    assert list(index.rewrites_of("spider", "run", canonicals=["http://many"])) == many
    index.compact()
    assert len(list(index.rewrites())) == 603


def test_the_processes_of_a_run_agree_on_what_was_named_first(index: AnyIndex) -> None:
    assert index.first_of_run("monday", "http://a/ id", b"http://a/?x") == b"http://a/?x"
    assert index.first_of_run("monday", "http://a/ id", b"http://a/?y") == b"http://a/?x"
    assert index.first_of_run("monday", "http://b/ id", b"") == b""
    assert index.first_of_run("tuesday", "http://a/ id", b"http://a/?y") == b"http://a/?y"
    assert index.first_of_run("\ud800", "\ud800", b"1") == b"1"


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


def test_a_guess_of_a_state_may_be_wrong(index: AnyIndex) -> None:
    def more(old: bytes | None) -> bytes:
        return (old or b"") + b"x"

    assert index.update_site_state("a.com", "count", more, b"wrong") == b"x"
    assert index.update_site_state("a.com", "count", more, b"wrong") == b"xx"
    assert index.update_site_state("a.com", "count", more, b"xx") == b"xxx"
    assert index.site_state("a.com", "count") == b"xxx"


def test_a_state_that_is_what_was_guessed_is_one_question_to_a_server(redis_url: str) -> None:
    index = RedisIndex(redis_url, CHECKS)
    first = index.update_site_state("a.com", "count", lambda old: b"1")
    before = index.link.round_trips
    index.update_site_state("a.com", "count", lambda old: b"2", first)
    assert index.link.round_trips - before == 1
    index.close()


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
    for url, name in (("1", "item/1"), ("1", "item/2"), ("1", "items"), ("2", "item/1")):
        index.attach(f"http://a/{url}", name, b"x")
    index.detach("http://a/1", "item/")
    index.detach("http://a/3", "item/")
    assert index.attachments("http://a/1") == {"items": b"x"}
    assert index.attachments("http://a/2") == {"item/1": b"x"}
    assert index.info()["attachments"] == 2
    for name in ("", "x" * 65, "é", "a b", "a\n"):
        with pytest.raises(ValueError, match="attachment"):
            index.attach("http://a/1", name, b"")


def test_attachments_that_are_meant_go_from_wherever_they_lie(index: AnyIndex) -> None:
    for number in range(600):
        index.attach(f"http://a/{number}", "alias", b"%d" % (number % 3))
        index.attach(f"http://a/{number}", "alias.said", b"0")
    named = "http://a/1"
    assert index.detach_if("alias", lambda url, data: url == named or data == b"0", [named, "http://a/x"]) == 201
    left = index.attached([f"http://a/{number}" for number in range(4)], "alias")
    assert [sorted(beside) for beside in left.values()] == [
        ["alias.said"], ["alias.said"], ["alias", "alias.said"], ["alias.said"]
    ]  # fmt: skip
    assert index.info()["attachments"] == 999
    assert index.detach_if("alias", lambda url, data: False) == 0


def test_attachments_where_there_is_none_yet(index: AnyIndex) -> None:
    index.attach("http://a/1", "alias", b"old")
    rows = {"http://a/1": b"new", "http://a/2": b"two", "http://a/3\ud800": b""}
    assert index.attach_new("alias", rows) == {"http://a/1": b"old"}
    assert [index.attachments(url).get("alias") for url in (*rows, "http://a/4")] == [b"old", b"two", b"", None]
    beside = index.attached(["http://a/1", "http://a/3?", "http://a/4"], "ali")
    assert beside == {"http://a/1": {"alias": b"old"}, "http://a/3?": {"alias": b""}, "http://a/4": {}}
    assert index.attached(["http://a/1"], "text") == {"http://a/1": {}}
    assert index.attachments("http://a/2") == {"alias": b"two"}
    assert index.info()["attachments"] == 3
    assert index.attach_new("alias", {}) == {}
    with pytest.raises(ValueError, match="attachment"):
        index.attach_new("é", {"http://a/1": b""})
