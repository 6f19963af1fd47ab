"""Taken text: what is main text of one page and stands beside that of another is no difference of the two."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.content.evidence import compare
from dedupcrawl.content.model import packaged
from dedupcrawl.content.page_context import context_of
from dedupcrawl.core import main_outline
from dedupcrawl.core.pair import Pair, taken
from dedupcrawl.core.template import RECURRING, Template
from dedupcrawl.core.view import View
from dedupcrawl.page import Page

ARTICLE = tuple(f"{word} stood in the market square before anybody else of the town had come" for word in "abcdefgh")
BOX = ("Read our learning centre for all about knives and stones", "A fine product of many hard uses in the garden")
LINES = st.lists(st.sampled_from([*ARTICLE[:4], *BOX, "Price 7", "Price 8"]), max_size=8, unique=True).map(tuple)


def view(main: tuple[str, ...], beside: tuple[str, ...] = (), template: Template | None = None) -> View:
    page = Page("http://a.example/1", paragraphs=main, asides=beside)
    outline = main_outline.packed(page.main_text())
    return View(page.url, "a.example", page.title, outline, context_of(page, *page.beside()), template or Template())


def repeating(*lines: str) -> Template:
    """What a site repeats of which each page has these lines."""
    template = Template()
    for number in range(RECURRING):
        template.add(view(lines).blocks, f"page {number}")
    return template


def probability(new: View, kept: View) -> float:
    return compare(new, kept, packaged()).probability


def test_a_box_that_stands_beside_the_other_main_text_is_no_difference() -> None:
    one, other = view(ARTICLE, BOX), view((*ARTICLE, *BOX))
    assert min(probability(one, other), probability(other, one)) > 0.85
    assert probability(other, view(ARTICLE)) < 0.75


def test_a_box_that_the_site_repeats_is_none_either() -> None:
    site = repeating(*BOX)
    one, other = view(ARTICLE, template=site), view((*ARTICLE, *BOX), template=site)
    assert probability(one, other) > 0.99 < probability(other, one)


def test_pages_that_say_little_else_are_told_apart_by_what_some_pages_have() -> None:
    """A list of products of which each stands in many lists, in a template that stands on all."""
    products = [f"{word} knife with a handle of wood and a blade of steel" for word in ("folding", "fixed", "hunting")]
    site = repeating(*BOX)
    for number in range(3 * RECURRING):
        site.add(view((*BOX, *(products if number < RECURRING else ()))).blocks, f"list {number}")
    one, other = (view((*BOX, *some), template=site) for some in (products[:2], products[1:]))
    assert 0 < one.own_count < len(one.main.symbols)
    assert probability(one, one) == 1.0
    assert probability(one, other) < packaged().threshold(0.95)


@given(LINES, LINES, LINES, LINES, st.lists(st.sampled_from([*ARTICLE[:4], *BOX]), max_size=3))
def test_what_is_taken_stands_on_both_and_in_no_difference(
    main: tuple[str, ...], beside: tuple[str, ...], other: tuple[str, ...], side: tuple[str, ...], site: list[str]
) -> None:
    known = repeating(*site)
    one, two = view(main, beside, known), view(other, side, known)
    found = Pair(one, two)
    sides = (one, taken(one, two), found.in_kept, 0), (two, taken(two, one), found.in_new, 2)
    for page, flags, stands, column in sides:
        if flags is None:
            continue
        assert all(both for both, flag in zip(stands, flags, strict=False) if flag)
        assert not {at for at, flag in enumerate(flags) if flag} & {piece[column] for piece in found.pieces}
        assert any(own and not flag for own, flag in zip(page.own, flags, strict=False))
    assert all(begin <= end and its <= to for begin, end, its, to in found.pieces)
