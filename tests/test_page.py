"""Page: text and nothing else, whoever makes it."""

from __future__ import annotations

from typing import Any

import pytest

from dedupcrawl.page import Page


class Smart(str):
    """As lxml and parsel give text."""

    __slots__ = ()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"url": 5}, "the url of a page is text, not int"),
        ({"title": None}, "the title of a page is text, not NoneType"),
        ({"keywords": ("a", "b")}, "the keywords of a page is text, not tuple"),
        ({"paragraphs": "letters"}, "the paragraphs of a page are a tuple of texts, not str"),
        ({"paragraphs": ["a"]}, "the paragraphs of a page are a tuple of texts, not list"),
        ({"paragraphs": ("a", 2)}, "the paragraphs of a page are a tuple of texts, not int"),
        ({"headings": None}, "the headings of a page are a tuple of texts, not NoneType"),
    ],
)
def test_what_is_no_text_is_told_when_the_page_is_made(given: dict[str, Any], says: str) -> None:
    with pytest.raises(TypeError, match=says):
        Page(**{"url": "http://a/", **given})


def test_text_of_other_libraries_is_text() -> None:
    assert Page(Smart("http://a/"), paragraphs=(Smart("a"),)) == Page("http://a/", paragraphs=("a",))
