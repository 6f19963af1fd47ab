"""Which text of a page stands together; what the elements around it do: `tests.core.test_page`."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from parsel import Selector

from tests.core.markup import TAGS
from tests.core.reading import read, shown
from tests.fixtures import table_of


@table_of("core", "blocks_of_text")
def test_blocks_of_text(markup: str, expected: list[str]) -> None:
    assert shown(markup.encode()) == expected


@table_of("core", "title")
def test_title(markup: str, title: str) -> None:
    assert read(markup.encode()).title == title


@table_of("core", "a_link_ends_at_its_end_tag_the_next_link_or_the_end_of_what_is_around_it")
def test_a_link_ends_at_its_end_tag_the_next_link_or_the_end_of_what_is_around_it(
    markup: str, link_lines: list[str]
) -> None:
    article = f"<article>{'<p>A sentence of the article that is long enough for one.</p>' * 12}</article>"
    assert read(f"{article}<nav>{markup}</nav>".encode()).link_lines == tuple(link_lines)


def test_anchors_and_metas_are_collected() -> None:
    page = read(
        b"<base href=/b/><meta name=keywords content=k><meta name=keywords content=l>"
        b"<META Content='A &amp; B' NAME=Description>"
        b"<a href=x>o<b>n</b>e</a><template><a href=no>no</a></template><a>no</a><a href=x> </a>"
        b"<a href=mailto:x>no</a><a data-href=x>no</a><a href=http://b.example/>other\n site</a>"
    )
    assert (page.keywords, page.description) == ("k", "A & B")
    assert (page.anchors_same_site, page.anchors_other_sites) == (("one",), ("other site",))


@given(TAGS)
def test_all_text_is_taken_for_something_and_in_order(markup: bytes) -> None:
    page, lines = read(markup), shown(markup)
    parts = [page.paragraphs, page.asides, page.link_lines]
    assert sorted(line for part in parts for line in part) == sorted(lines)
    for part in parts:
        rest = iter(lines)
        assert all(line in rest for line in part)
    assert all(line == " ".join(line.split()) != "" for line in lines)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_text_without_markup_is_one_block(text: str) -> None:
    plain = text.translate({ord("<"): None, ord("&"): None, 0: None})
    assert shown(plain.encode()) == ([" ".join(plain.split())] if plain.split() else [])


WORDS = st.sampled_from(["one", "two", "three", "四", "a &amp; b", "x &lt;p&gt; y", "&eacute;t&eacute;", " ", "\n"])
NAMES = st.sampled_from(["div", "p", "b", "span", "ul", "li", "table", "td", "h2", "section", "em", "blockquote"])
ATTRIBUTES = st.sampled_from(
    ["", ' class="a"', " id=b", ' title="x > y"', " data-x='<p>no</p>'", " checked", ' alt=""']
)


@st.composite
def elements(draw: st.DrawFn, children: st.SearchStrategy[list[str]]) -> str:
    name = draw(NAMES)
    return f"<{name}{draw(ATTRIBUTES)}>{''.join(draw(children))}</{name}>"


TREES = st.recursive(WORDS, lambda inner: elements(st.lists(inner, max_size=5)), max_leaves=25)


@given(st.lists(TREES, max_size=6).map("".join))
def test_the_words_are_those_that_a_tree_builder_finds(markup: str) -> None:
    found = Selector(f"<html><body>{markup}</body></html>", type="html").xpath("//body//text()").getall()
    assert "".join("".join(shown(markup.encode())).split()) == "".join("".join(found).split())
