"""Sites that nobody named: what they can take the place of."""

from __future__ import annotations

from dedupcrawl.detection.trust import EVERYBODY, Trust
from tests.detection.judged import Shared, prose


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
