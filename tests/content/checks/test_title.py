from __future__ import annotations

import pytest

from dedupcrawl.content.checks.title import MOST_PAGES, TitleCheck
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.page import Page
from tests.content.postings import keepers, posted

CHECK = TitleCheck()
TEXT = "Twenty words are what it takes for a page to be looked for at all, and these are some more than that."


def signature(url: str, title: str, text: str = TEXT) -> bytes | None:
    return CHECK.signature(Page(url, title=title, paragraphs=(text,)), SymbolText.of((text,)))


def test_pages_of_one_host_and_title_are_found() -> None:
    made = signature("http://www.a.example/1", "Red  Kettle")
    assert made is not None
    assert made == signature("http://a.example/2?sort=up", "red kettle", TEXT + " Sold out.")
    assert signature("http://a.example/1", "茶壶的历史") == signature("http://a.example/2", "茶壺的歷史")
    assert keepers(CHECK, made, {7: made}) == {7: 1.0}


@pytest.mark.parametrize(
    ("url", "title"),
    [("http://b.example/1", "Red kettle"), ("http://a.example/1", "Red kettles"), ("http://a.example/1", " ")],
)
def test_of_another_host_or_title_none_is(url: str, title: str) -> None:
    assert signature(url, title) != signature("http://a.example/2", "Red kettle")


def test_a_page_of_a_few_words_is_not_looked_for() -> None:
    assert signature("http://a.example/1", "Red kettle", "Sold out.") is None


def test_a_title_of_many_pages_is_none_of_theirs() -> None:
    made = signature("http://a.example/1", "Kettles & Co.")
    assert made is not None
    for count, found in ((MOST_PAGES, MOST_PAGES), (MOST_PAGES + 1, 0)):
        assert len(CHECK.candidates(made, posted(CHECK, dict.fromkeys(range(count), made)))) == found
