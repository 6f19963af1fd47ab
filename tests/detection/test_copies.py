"""Which of two pages that say the same stands for the other, and whose pages may."""

from __future__ import annotations

import pytest

from dedupcrawl.content.html import extract
from dedupcrawl.detection.trust import EVERYBODY, Trust
from dedupcrawl.page import Page
from dedupcrawl.sites import owner_of
from dedupcrawl.verdict import Verdict
from tests.detection.judged import Crawl, Shared, prose, text
from tests.fixtures import table_of

TEXT = [text(60, seed) for seed in range(3)]
BODY = "".join(f"<p>{line}.</p>" for line in TEXT)
HTML = extract(f"<title>Lamps</title><body><h1>Lamps</h1>{BODY}", "http://a.example/lamp")
PLAIN = Page("http://a.example/lamp.txt", paragraphs=("Lamps", *(f"{line}." for line in TEXT)))


def verdicts(*pages: Page, trust: Trust = EVERYBODY) -> list[Verdict]:
    crawl = Crawl(trust=trust)
    return [crawl.meet(page, scope="all") for page in pages]


def stands_for(first: Page, second: Page, trust: Trust = EVERYBODY) -> bool | None:
    """Whether the second page supersedes the first, or is dropped for it; None where both are kept for themselves."""
    verdict = verdicts(first, second, trust=trust)[1]
    if verdict.is_duplicate:
        return False
    return True if verdict.evidence.get("supersedes") == [first.url] else None


def test_a_page_with_a_title_stands_for_its_plain_text() -> None:
    assert stands_for(PLAIN, HTML) is True
    assert stands_for(HTML, PLAIN) is False


def test_a_headline_counts_on_one_host_only() -> None:
    bare = HTML.replace(url="http://a.example/bare", headline="")
    assert stands_for(bare, HTML) is True
    assert stands_for(bare, HTML.replace(url="http://b.example/lamp")) is False


@pytest.mark.parametrize(
    ("general", "own"), [("Lamps of the town", "Made again - Lamps of the town"), ("南开大学", "学院概况-南开大学")]
)
def test_a_page_with_a_name_before_what_the_other_title_says_stands_for_that(general: str, own: str) -> None:
    def titled(path: str, title: str, host: str = "a.example") -> Page:
        return extract(f"<title>{title}</title>{BODY}", f"http://{host}/{path}")

    assert stands_for(titled("diff", general), titled("commit", own)) is True
    assert stands_for(titled("commit", own), titled("diff", general)) is False
    assert stands_for(titled("diff", general), titled("commit", own, "b.example")) is False
    said = titled("diff", general).replace(headline=own)
    assert stands_for(said, titled("commit", own).replace(headline=own)) is False, "the other page says the name"


def test_a_page_whose_title_is_stored_in_part_stands_for_its_equal_copy() -> None:
    page = HTML.replace(title="Lamps of all makes. " * 20)
    assert stands_for(page, page.replace(url="http://a.example/copy")) is False


def test_what_comes_later_is_dropped_for_the_better_one() -> None:
    again = HTML.replace(url="http://a.example/lamp?again")
    *_, html, text = verdicts(PLAIN, HTML, again, PLAIN.replace(url="http://a.example/again.txt"))
    assert html.duplicate_of == HTML.url
    assert text.is_duplicate


@table_of("detection", "the_current_page_stands_for_an_old_revision")
def test_the_current_page_stands_for_an_old_revision(old: str, today: str, notice: str) -> None:
    def wiki(path: str, note: str = "") -> Page:
        return extract(f"<title>Lamp</title><h1>Lamp</h1><p>{note}</p>{BODY}", f"http://wiki.example{path}")

    assert stands_for(wiki(old, notice), wiki(today)) is True
    assert stands_for(wiki(today), wiki(old, notice)) is False
    assert stands_for(wiki(old, notice), wiki(f"{old}1", notice)) is False, "of two old revisions the first one stays"


def test_of_two_pages_of_a_host_the_one_that_says_a_text_more_stands_for_the_other() -> None:
    message = text(24, 9)

    def commit(host: str, path: str, message: str = "") -> Page:
        return extract(f"<title>Commit</title>{BODY}<p>{message}.", f"http://{host}/{path}")

    patch, whole = commit("a.example", "patch"), commit("a.example", "commit", message)
    assert stands_for(patch, whole) is True
    assert stands_for(whole, patch) is False
    assert stands_for(patch, commit("a.example", "also", text(3, 9))) is not None, "few words more"


@pytest.mark.parametrize("trusted", ["a.example", "stranger.example"])
def test_a_better_copy_is_kept_though_its_host_is_not_trusted_but_takes_no_place(trusted: str) -> None:
    stranger = HTML.replace(url="http://stranger.example/lamp", title="", headline="")
    first, second = verdicts(stranger, HTML, trust=Trust([trusted]))
    assert (first.verdict, second.verdict) == ("unique", "unique")
    assert second.evidence.get("supersedes", []) == [stranger.url] * (trusted == "a.example")


@table_of("detection", "only_ones_own_pages_and_trusted_ones")
def test_only_ones_own_pages_and_trusted_ones(kept: str, new: str, may: bool) -> None:
    assert Trust(["named.org", ""]).may_replace(kept, new) == may
    assert EVERYBODY.may_replace(kept, new)


@pytest.mark.parametrize(
    ("url", "owner"),
    [
        ("http://alice.github.io/", "alice.github.io"),  # the whole list, private part included
        ("http://www.example.co.uk/", "example.co.uk"),
        ("http://[2001:db8::1]:80/a", "[2001:db8::1]"),
        ("x" * 10_000, "x" * 10_000),
        ("http://h.example:8001/a", "h.example:8001"),
        ("https://h.example:443/a", "h.example"),
        ("http://h.example:080/a", "h.example"),
        ("http://user:81@www.h.example.com/a", "example.com"),
        ("http://uni.example/~bo/a", "uni.example/~bo"),
        ("http://uni.example/people/%7Ebo/a?x=/~al/", "uni.example/~bo"),
        ("http://uni.example/~bo/../~al/a", "uni.example/~al"),
        ("http://uni.example/~bo/%2e%2E/~al/a", "uni.example/~al"),
        ("http://uni.example/a~b/~?q=/~al/", "uni.example"),
        ("http://uni.example", "uni.example"),
        ("uni.example:8080/~bo", "uni.example:8080/~bo"),
    ],
)
def test_hosts_ports_and_users_folders_have_owners_of_their_own(url: str, owner: str) -> None:
    assert owner_of(url) == owner
    assert owner_of(owner) == owner


def falsified(text: list[str]) -> list[str]:
    """Something added, inside and at the end."""
    return [*text[:100], "bought", *text[100:], *prose(150, 9)]


def test_who_is_not_trusted_cannot_take_the_place_of_another_site() -> None:
    text = prose(300)
    for trust, taken in ((Trust(["evil.com"]), True), (EVERYBODY, True), (Trust(["a.com"]), False)):
        shared = Shared()
        shared.judge("http://evil.com/copy", falsified(text), trust=trust)
        assert shared.judge("http://a.com/article", text, trust=trust).is_duplicate == taken


def test_who_is_not_trusted_supersedes_no_page_of_another_site() -> None:
    text, page_context = prose(300), prose(200, 9)
    for trust, superseded in ((Trust(["evil.com"]), True), (EVERYBODY, True), (Trust(["a.com"]), False)):
        shared = Shared()
        shared.judge("http://a.com/article", text, trust=trust)
        verdict = shared.judge("http://evil.com/wrapped", [*text, *page_context], trust=trust)
        assert verdict.evidence.get("supersedes", []) == ["http://a.com/article"] * superseded


def test_of_who_is_not_trusted_the_identical_text_will_do() -> None:
    shared = Shared()
    shared.judge("http://mirror.com/1", prose(300), trust=Trust([]))
    verdict = shared.judge("http://a.com/1", prose(300), trust=Trust([]))
    assert (verdict.duplicate_of, verdict.check) == ("http://mirror.com/1", "exact")


def test_many_forgeries_do_not_hide_the_page_that_is_trusted() -> None:
    shared, text, trust = Shared(), prose(300), Trust(["a.com"])
    for number in range(9):
        shared.judge(f"http://evil{number}.com/", [*text, f"more{number}"], trust=trust, scope="all")
    shared.judge("http://a.com/1", text, trust=trust)
    for number in range(9):
        shared.judge(f"http://evil{number}.org/", [*text, f"more{number}"], trust=trust)
    assert shared.judge("http://a.com/2", [*text, "another"], trust=trust).duplicate_of == "http://a.com/1"
