from __future__ import annotations

from urllib.parse import quote

from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.core.links import link_hash, local_form
from dedupcrawl.core.page_context import LINES, LINKS, PageContext, resource_hashes
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.core.template import RECURRING, Template
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.page import Page
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
    page = page.replace(secondary=shown[0], resources=shown[1])
    made = Analysis(page).page_context
    read = PageContext.from_bytes(made.to_bytes())
    assert (read.asides, read.link_lines) == (made.asides, made.link_lines)
    assert (read.secondary, read.resources) == (made.secondary, made.resources)
    assert all(read.links_to([link]) for link in links)
    assert {url >> 16 for url in read.also_at} == {url >> 16 for url in made.also_at}
    assert len(made.also_at) == len({link_hash(local_form(url)) for url in urls})


@given(st.binary(max_size=400))
def test_any_bytes_are_read(raw: bytes) -> None:
    read = PageContext.from_bytes(raw)
    assert read.size <= 255 * len(raw)
    assert PageContext.from_bytes(read.to_bytes()).asides.keys() <= read.asides.keys()


def test_what_all_pages_of_a_site_show_is_left_out() -> None:
    template = Template()
    for number in range(RECURRING):
        page = Page("", secondary=("Search here", f"{'b' * number} form"), resources=("img/front", f"photo/{number}"))
        Analysis(page).learn(template, "")
    page = Page("", secondary=("Search here", "A word of the page"), resources=("img/front", "photo/3"))
    own = Analysis(page).page_context.without(template)
    assert list(own.secondary) == SymbolText.of(("A word of the page",)).block_hashes
    assert own.resources == resource_hashes(("photo/3",))


def test_a_site_template_is_left_out_whatever_its_numbers_say() -> None:
    template = Template()
    for number in range(RECURRING):
        page = Page("", asides=(f"{number} guests are online",), links=linked("/faq", f"/p/{number}"))
        Analysis(page).learn(template, "")
    page = Page("", asides=("77 guests are online", "A word of the page"), links=linked("/faq", "/p/2"))
    own = Analysis(page).page_context.without(template)
    assert list(own.asides) == SymbolText.of(("A word of the page",)).block_hashes
    assert own.links_to(linked("/p/2"))
    assert not own.links_to(linked("/faq"))


def test_of_a_page_with_many_lines_and_links_some_are_stored() -> None:
    links = linked(*(f"/{number}" for number in range(2_000)))
    page = Page("", link_lines=tuple(f"line {'x' * n}" for n in range(1, 200)), links=links)
    read = PageContext.from_bytes(Analysis(page).page_context.to_bytes())
    assert len(read.link_lines) == LINES
    assert len(read.links) == LINKS
    assert read.last == max(read.link_lines)
    template = Template()
    for _ in range(RECURRING):
        template.add({min(read.link_lines)})
    assert read.without(template).last == read.last, "of the same page no line more is known"
