from __future__ import annotations

from typing import Any

import pytest

from dedupcrawl.core import main_outline
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.core.template import Template
from dedupcrawl.detection import provisional
from dedupcrawl.detection.analysis import Analysis, Reading
from dedupcrawl.detection.comparison import Comparison
from dedupcrawl.detection.provisional import ProvisionalPage, ProvisionalPages
from dedupcrawl.index.record import Entry
from dedupcrawl.page import Page

SIZES = {"x": 5, "y": 5, "z": 90, "w": 7}
"""Block → symbols of it."""


def lines_of(blocks: str) -> tuple[str, ...]:
    return tuple(" ".join([block] * SIZES[block]) for block in blocks)


def outline_of(blocks: str) -> bytes:
    return main_outline.packed(SymbolText.of(lines_of(blocks)))


def never_compared(entry: Entry, reading: Reading) -> Comparison:
    raise AssertionError


def add(pages: ProvisionalPages, host: str, name: str, blocks: str, spare: int = -1, text: str = "") -> None:  # noqa: PLR0913 - each may be left out or is a case
    url, packed = f"http://{host}/{name}", outline_of(blocks)
    entry = Entry(url=url, site=host, spider="", run="", kept_at=0, title="", signatures={}, outline=packed)
    page = Page(url, paragraphs=lines_of(blocks))
    one = ProvisionalPage(page, entry, (), Reading.of(Analysis(page), Template()), never_compared)
    one.characters, one.spare = len(text), spare
    pages.add(host, one)


def counted(**held: Any) -> int:
    """Of a page that holds this."""
    page = Page("http://a/", **held)
    analysis = Analysis(page)
    entry = Entry(
        url=page.url, site="a", spider="", run="", kept_at=0, title="", signatures={}, outline=analysis.outline
    )
    return ProvisionalPage(page, entry, (), Reading.of(analysis, Template()), never_compared).characters


@pytest.mark.parametrize("of_one", ["title", "keywords", "description"])
@pytest.mark.parametrize(
    "of_many",
    ["paragraphs", "asides", "headings", "also_at", "anchors_same_site", "anchors_other_sites", "links", "main_links"],
)
def test_all_that_a_page_holds_is_counted(of_one: str, of_many: str) -> None:
    assert counted(**{of_one: "x" * 1000}) >= counted() + 1000
    many = range(100) if "links" in of_many else ("x" * 20,) * 100
    assert counted(**{of_many: many}) >= counted() + 2000


def recur(pages: ProvisionalPages, host: str, blocks: str) -> None:
    pages.recur(host, main_outline.read(outline_of(blocks)).hashes)


def taken(pages: ProvisionalPages, host: str) -> list[str]:
    due = pages.due(host)
    assert pages.due(host) == due, "until they are settled"
    for one in due:
        one.settle(one.entry, Reading.of(Analysis(Page("http://a/")), Template()))
    return [one.page.url for one in due]


def test_a_page_is_taken_once_more_of_it_recurs_than_it_can_spare() -> None:
    pages = ProvisionalPages()
    add(pages, "a", "1", "xy", 9)
    add(pages, "a", "2", "x", 4)
    add(pages, "a", "3", "z", 9)
    add(pages, "b", "1", "x", 0)
    recur(pages, "a", "xw")
    recur(pages, "a", "")
    recur(pages, "c", "x")
    assert taken(pages, "b") == []
    assert taken(pages, "a") == ["http://a/2"]
    assert taken(pages, "a") == []
    recur(pages, "a", "yz")
    assert taken(pages, "a") == ["http://a/1", "http://a/3"]


def test_a_page_that_is_fetched_again_takes_its_own_place() -> None:
    pages = ProvisionalPages()
    add(pages, "a", "1", "x")
    recur(pages, "a", "x")
    add(pages, "a", "1", "y")
    assert len(pages._pages) == 1
    assert taken(pages, "a") == []


def test_the_oldest_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provisional, "MOST_PROVISIONAL", 3)
    monkeypatch.setattr(provisional, "_MOST_CHARACTERS", 100)
    pages = ProvisionalPages()
    for name in "1234":
        add(pages, "a", name, "x", text="x")
    recur(pages, "a", "x")
    assert len(pages._pages) == 3
    add(pages, "b", "long", "", text="x" * 100)
    assert len(pages._pages) == 1
    assert taken(pages, "a") == []
    add(pages, "b", "longer", "", text="x" * 101)
    assert len(pages._pages) == 0
