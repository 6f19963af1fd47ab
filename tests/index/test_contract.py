"""What every index must do with the pages that it keeps, in LMDB and on Redis."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec import structs

from dedupcrawl.index.contract import Index, standing_for
from dedupcrawl.index.errors import IndexMismatchError
from dedupcrawl.index.open import open_index
from dedupcrawl.index.record import Entry, Rewrite
from dedupcrawl.index.steps import Kept
from dedupcrawl.verdict import Verdict
from tests.index.conftest import AnyIndex
from tests.index.toys import CHECKS, EqualCheck, EqualOff, duplicate_of, fill, offer, page


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
        lambda index: list(index.rewrites_of("spider", "run", rules=[("a", "r")])),
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
