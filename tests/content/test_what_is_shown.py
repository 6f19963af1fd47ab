"""Pages that say the same and show something else: none of them is the other's equal."""

from __future__ import annotations

from typing import Any

import pytest

from dedupcrawl.content.evidence import compare
from dedupcrawl.content.html import extract
from dedupcrawl.content.model import packaged
from dedupcrawl.core.template import RECURRING, Template
from dedupcrawl.core.view import View
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.page import Page
from dedupcrawl.sites import host_alike
from tests.fixtures import table_of

TEXT = """Welcome to the portal of the gazette, which opens at nine and closes at five on working days. Wait until the
drawer of the collection has come to rest before you read its label, and close it gently when you leave."""


def view(page: Page, site: Template, *, is_kept: bool = False) -> View:
    analysis = Analysis(page)
    seen = View(page.url, host_alike(page.url), page.title, analysis.outline, analysis.page_context, site)
    return View(seen.url, seen.host, seen.titled, seen.main, seen.kept_around, site) if is_kept else seen


def page(number: int = 1, host: str = "a.example", **shown: Any) -> Page:
    return Page(f"http://{host}/{number}", paragraphs=(TEXT,), **shown)


def seen(one: Page, other: Page, site: Template | None = None) -> tuple[float, int, int]:
    """Probability, and how much secondary text and how many resources differ."""
    known = site or Template()
    found = compare(view(one, known), view(other, known, is_kept=True), packaged())
    again = compare(view(other, known), view(one, known, is_kept=True), packaged())
    assert (found.pair.secondary, found.pair.resources) == (again.pair.secondary, again.pair.resources)
    return found.probability, found.pair.secondary, found.pair.resources


@pytest.mark.parametrize(
    ("one", "other", "secondary", "resources"),
    [
        ({"secondary": ("Red shoes",)}, {"secondary": ("Blue shoes for men",)}, 4, 0),
        ({"secondary": ("Red shoes",)}, {}, 2, 0),
        ({"resources": ("photo/1",)}, {"resources": ("photo/2", "photo/3")}, 0, 2),
    ],
)
def test_what_differs_in_what_it_shows_is_not_equal(
    one: dict[str, Any], other: dict[str, Any], secondary: int, resources: int
) -> None:
    probability, *differs = seen(page(1, **one), page(2, **other))
    assert probability < 1
    assert differs == [secondary, resources]
    assert seen(page(1, **one), page(2, **one)) == (1.0, 0, 0)


def test_what_the_site_repeats_does_not_count() -> None:
    site = Template()
    for number in range(RECURRING):
        common = page(number, secondary=("Search here",), resources=("img/front",))
        Analysis(common).learn(site, f"page {number}")
    one = page(1, secondary=("Search here",), resources=("img/front", "photo/1"))
    assert seen(one, page(2, resources=("photo/1",)), site)[1:] == (0, 0)


@table_of("content", "no_two_pages_are_equal_that_differ_in_what_they_show")
def test_no_two_pages_are_equal_that_differ_in_what_they_show(shown: str) -> None:
    def read(text: str, number: int) -> Page:
        return extract(f"<h1>News</h1><p>{TEXT}</p>{shown.format(text)}".encode(), f"http://a.example/{number}")

    assert seen(read("a red bridge", 1), read("a green tower", 2))[0] < 1
    assert seen(read("a red bridge", 1), read("a red bridge", 2))[0] == 1
