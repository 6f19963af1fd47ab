"""Secondary text and resources, and which text of a page stands together."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from parsel import Selector

from dedupcrawl.core.resources import identity
from tests.core.markup import TAGS
from tests.core.reading import read, shown
from tests.fixtures import table_of

TEXT = "<h1>The keeper</h1><p>This page opens a drawer. Wait until it has come to rest.</p>"


@table_of("core", "secondary_text")
def test_secondary_text(markup: str, lines: list[str]) -> None:
    assert read(f"{TEXT}{markup}".encode()).secondary == tuple(lines)


def test_captions_of_pictures_are_secondary_text() -> None:
    """Unless they are links or boilerplate, or so much of the page that they are its main text."""
    caption = "<figure><img src=/a.png><figcaption>A bowl, <b>34 cm</b><p class=c>Found in 1911</figcaption></figure>"
    others = "<figure><figcaption><a href=/b>All its pictures</a></figcaption></figure><footer>" + caption + "</footer>"
    assert read(f"{TEXT * 10}{caption}{others}".encode()).secondary == ("A bowl, 34 cm", "Found in 1911")
    assert read(f"{TEXT * 10}{others}".encode()).secondary == ()
    assert "A bowl, 34 cm" in read(f"<h1>A bowl</h1>{caption}".encode()).paragraphs


@table_of("core", "what_says_nothing_of_the_page")
def test_what_says_nothing_of_the_page(markup: str) -> None:
    assert read(f"{TEXT}{markup}".encode()).secondary == ()


@table_of("core", "data")
@pytest.mark.parametrize("kind", ["application/ld+json", "Application/JSON"])
def test_data(value: str, is_text: bool, kind: str) -> None:
    data = json.dumps({"a long name of it": [1, {"x": value}], "y": None})
    lines = read(f"{TEXT}<script type='{kind}'>{data}</script>".encode()).secondary
    said = " ".join(value.replace("<p>", "").replace("</p>", "").split())
    assert lines == ((said,) if is_text else ())


@table_of("core", "resources")
def test_resources(markup: str, resources: list[str]) -> None:
    assert read(f"{TEXT}{markup}".encode()).resources == tuple(resources)


@table_of("core", "one_resource_at_two_addresses")
def test_one_resource_at_two_addresses(one: str, other: str) -> None:
    assert identity(one.encode()) == identity(other.encode()) != ""


def test_resources_are_told_apart() -> None:
    addresses = ("/a/1.jpg", "/b/1.jpg", "/a/2.jpg", "/a/1.pdf", "/a?id=1", "/a?id=2", "/a", "/embed/x", "/embed/y")
    data = (b"data:image/png;base64," + bytes([letter]) * 900 for letter in b"ab")
    assert len({*map(identity, map(str.encode, addresses)), *map(identity, data)}) == len(addresses) + 2


def test_what_comes_after_the_lines_that_are_split_off_is_one_line() -> None:
    lines = read(f"{TEXT}<svg><button>{'<br>x' * 300}</svg>".encode()).secondary
    assert lines == ("x", " ".join("x" * 101))


@pytest.mark.parametrize("link", ["a.pdf", "/a/b.ZIP?x=.html", "a.mp3#t", " a.docx ", "a.tar.gz", "a.pdf;x=1"])
def test_files(link: str) -> None:
    assert read(f"{TEXT}<a href='{link}'>It</a>".encode()).resources


@pytest.mark.parametrize(
    "link", ["a.html", "/pdf", "/a?b.pdf", "#a.pdf", "", ".", "a.\xff", "/a.pdf/b", "a.pdf-b", "a.z"]
)
def test_pages_and_what_is_neither(link: str) -> None:
    assert not read(f"{TEXT}<a href='{link}'>It</a>".encode()).resources


def test_there_are_bounds() -> None:
    buttons = "".join(f"<button>button {number:x} x</button>" for number in range(500))
    images = "".join(f"<img src=/p/{number}.jpg>" for number in range(1_000))
    page = read(f"{TEXT}{buttons}{images}".encode())
    assert (len(page.secondary), len(page.resources)) == (200, 200)
    long = "".join(f"<textarea>{number} {'word ' * 2_000}</textarea>" for number in range(9))
    assert sum(map(len, read(f"{TEXT}{long}".encode()).secondary)) == 20_000
    options = "".join(f"<option>choice {number:x}" for number in range(400))
    page = read(f"{TEXT}<select>{options}</select><textarea>At the end</textarea>".encode())
    assert page.secondary[-1] == "At the end"
    assert len(page.secondary) <= 51


_PIECES = """
<textarea> </textarea> <noscript> </noscript> <select> <option> </select> <svg> <text> </svg> <button> </button>
<iframe srcdoc=' <iframe> </iframe> <template> </template> <img src= srcset= alt=' data-src=" <input value= type=hidden
<script type=application/json> </script> { " : \\ \\u00 \\" } ' > &lt; &quot; .jpg .pdf /a/ ? = & # data: ://
<a href= download
"""
SHOWN = st.lists(st.sampled_from([*_PIECES.split(), " ", "\n", "\0", "one two", "文字文字"]), max_size=40).map(
    lambda pieces: "".join(pieces).encode()
)


@settings(max_examples=300)
@given(SHOWN | TAGS)
def test_reading_is_total(markup: bytes) -> None:
    page = read(markup)
    assert all(line.strip() == line != "" and "\n" not in line for line in page.secondary)
    assert all(page.resources)
    assert len(set(page.secondary)) == len(page.secondary)
    assert page == read(markup)


@given(st.binary(max_size=60) | st.text("/.?&=x12-_@:;%", max_size=60).map(str.encode))
def test_any_address_has_an_identity(address: bytes) -> None:
    assert isinstance(identity(address), str)


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
