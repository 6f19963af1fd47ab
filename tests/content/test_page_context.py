"""What of a page is its own, and what is taken or shown besides."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.content.evidence import compare
from dedupcrawl.content.html import extract
from dedupcrawl.content.model import TARGET_PRECISION, packaged
from dedupcrawl.core import main_outline
from dedupcrawl.core.links import link_hash, local_form
from dedupcrawl.core.page_context import LINES, LINKS, PageContext, hashes_of, resource_items
from dedupcrawl.core.pair import Pair, taken
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.core.template import RECURRING, Template
from dedupcrawl.core.view import View
from dedupcrawl.detection.analysis import Analysis, context_of
from dedupcrawl.page import Page
from dedupcrawl.sites import host_alike
from tests.fixtures import table_of
from tests.linked import linked

WORDS = st.lists(st.text("abc 1", min_size=1, max_size=12), max_size=10).map(tuple)


@given(
    WORDS,
    WORDS,
    st.sets(st.integers(0, 2**32 - 1), max_size=10),
    st.sets(st.text(max_size=12)),
    st.tuples(WORDS, WORDS),
)
def test_what_is_stored_is_read(
    asides: tuple[str, ...],
    lines: tuple[str, ...],
    links: set[int],
    paths: set[str],
    shown: tuple[tuple[str, ...], tuple[str, ...]],
) -> None:
    urls = tuple(f"http://www.a.example/{quote(path)}" for path in paths)
    page = Page("http://a.example/", asides=asides, link_lines=lines, links=links, also_at=(*urls, "http://b.example/"))
    page = page.replace(secondary=shown[0], resources=shown[1], theme=b"\1\2\3\4" * len(shown[0]))
    made = Analysis(page).page_context
    read = PageContext.from_bytes(made.to_bytes())
    assert (read.asides, read.link_lines) == (made.asides, made.link_lines)
    assert (read.secondary, read.resources, read.theme) == (made.secondary, made.resources, page.theme)
    assert all(read.links_to([link]) for link in links)
    assert {url >> 16 for url in hashes_of(read.also_at)} == {url >> 16 for url in hashes_of(made.also_at)}
    assert set(hashes_of(made.also_at)) == {link_hash(local_form(url)) for url in urls}


@given(st.binary(max_size=400))
def test_any_bytes_are_read(raw: bytes) -> None:
    read = PageContext.from_bytes(raw)
    assert read.size <= 255 * len(raw)
    assert set(hashes_of(PageContext.from_bytes(read.to_bytes()).asides)) <= set(hashes_of(read.asides))


def test_what_all_pages_of_a_site_show_is_left_out() -> None:
    template = Template()
    for number in range(RECURRING):
        page = Page("", secondary=("Search here", f"{'b' * number} form"), resources=("img/front", f"photo/{number}"))
        Analysis(page).learn(template, "")
    page = Page("", secondary=("Search here", "A word of the page"), resources=("img/front", "photo/3"))
    own = Analysis(page).page_context.without(template)
    assert hashes_of(own.secondary) == SymbolText.of(("A word of the page",)).block_hashes
    assert own.resources == resource_items(("photo/3",))


def test_a_site_template_is_left_out_whatever_its_numbers_say() -> None:
    template = Template()
    for number in range(RECURRING):
        page = Page("", asides=(f"{number} guests are online",), links=linked("/faq", f"/p/{number}"))
        Analysis(page).learn(template, "")
    page = Page("", asides=("77 guests are online", "A word of the page"), links=linked("/faq", "/p/2"))
    own = Analysis(page).page_context.without(template)
    assert hashes_of(own.asides) == SymbolText.of(("A word of the page",)).block_hashes
    assert own.links_to(linked("/p/2"))
    assert not own.links_to(linked("/faq"))


def test_of_a_page_with_many_lines_and_links_some_are_stored() -> None:
    links = linked(*(f"/{number}" for number in range(2_000)))
    page = Page("", link_lines=tuple(f"line {'x' * n}" for n in range(1, 200)), links=links)
    read = PageContext.from_bytes(Analysis(page).page_context.to_bytes())
    assert len(hashes_of(read.link_lines)) == LINES
    assert len(hashes_of(read.links)) == LINKS
    assert read.last == max(hashes_of(read.link_lines))
    template = Template()
    for _ in range(RECURRING):
        template.add({min(hashes_of(read.link_lines))})
    assert read.without(template).last == read.last, "of the same page no line more is known"


ARTICLE = tuple(f"{word} stood in the market square before anybody else of the town had come" for word in "abcdefgh")
BOX = ("Read our learning centre for all about knives and stones", "A fine product of many hard uses in the garden")
TAKEN_LINES = st.lists(st.sampled_from([*ARTICLE[:4], *BOX, "Price 7", "Price 8"]), max_size=8, unique=True).map(tuple)


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
    assert probability(other, view(ARTICLE)) < min(probability(one, other), probability(other, one))


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
    assert probability(one, other) < packaged().threshold(TARGET_PRECISION)


@given(TAKEN_LINES, TAKEN_LINES, TAKEN_LINES, TAKEN_LINES, st.lists(st.sampled_from([*ARTICLE[:4], *BOX]), max_size=3))
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


TEXT = """Welcome to the portal of the gazette, which opens at nine and closes at five on working days. Wait until the
drawer of the collection has come to rest before you read its label, and close it gently when you leave."""


def shown_view(page: Page, site: Template, *, is_kept: bool = False) -> View:
    analysis = Analysis(page)
    seen = View(page.url, host_alike(page.url), page.title, analysis.outline, analysis.page_context, site)
    return View(seen.url, seen.host, seen.titled, seen.main, seen.kept_around, site) if is_kept else seen


def page(number: int = 1, host: str = "a.example", **shown: Any) -> Page:
    return Page(f"http://{host}/{number}", paragraphs=(TEXT,), **shown)


def seen(one: Page, other: Page, site: Template | None = None) -> tuple[float, int, int]:
    """Probability, and how much secondary text and how many resources differ."""
    known = site or Template()
    found = compare(shown_view(one, known), shown_view(other, known, is_kept=True), packaged())
    again = compare(shown_view(other, known), shown_view(one, known, is_kept=True), packaged())
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


def showing(markup: str, number: int) -> Page:
    return extract(f"<h1>News</h1><p>{TEXT}</p>{markup}".encode(), f"http://a.example/{number}")


@pytest.mark.parametrize(("one", "other"), [("a red bridge", "a green tower"), ("share of 3 %", "share of 97 %")])
@table_of("content", "no_two_pages_are_equal_that_differ_in_what_they_show")
def test_no_two_pages_are_equal_that_differ_in_what_they_show(shown: str, one: str, other: str) -> None:
    assert seen(showing(shown.format(one), 1), showing(shown.format(other), 2))[0] < 1
    assert seen(showing(shown.format(one), 1), showing(shown.format(one), 2))[0] == 1


ONE, OTHER = "<img src=/photo/one.jpg>", "<img src=/photo/other.jpg>"


@pytest.mark.parametrize("there", [ONE + OTHER + OTHER, OTHER + ONE, ONE])
def test_how_often_and_in_what_order_pictures_are_shown_counts(there: str) -> None:
    probability, *differs = seen(showing(ONE + OTHER, 1), showing(there, 2))
    assert probability < 1
    assert differs == [0, 1]
    assert seen(showing(there, 1), showing(there, 2)) == (1.0, 0, 0)


def test_values_of_one_line_differ_by_what_they_are_and_how_many() -> None:
    shares = tuple(f"<button>share of {share} %</button>" for share in (3, 97))
    assert seen(showing(shares[0], 1), showing("".join(shares), 2))[1] > 0
    assert seen(showing("".join(shares), 1), showing("".join(reversed(shares)), 2)) == (1.0, 0, 0)


def test_what_the_site_repeats_with_other_values_is_a_slot() -> None:
    site = Template()
    for number in range(RECURRING):
        common = page(number, secondary=(f"share of {number} %",), resources=("star/full",) * number)
        Analysis(common).learn(site, f"page {number}")
    one, other = (page(number, secondary=(f"share of {number} %",)) for number in (11, 12))
    assert seen(one, other, site)[1:] == (0, 0)
    assert seen(one, other)[1:] == (4, 0)
    stars = (page(1, resources=("star/full",) * 3), page(2, resources=("star/full",) * 4))
    assert seen(*stars, site)[1:] == (0, 1), "four pages have a fourth star"
