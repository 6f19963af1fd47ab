from __future__ import annotations

import pytest
from dedupcrawl.content.outline import LINE_BREAK, Outline, collapse, outline, unescape
from hypothesis import given
from hypothesis import strategies as st
from parsel import Selector

from tests.content.test_tags import MARKUP


def texts(markup: str) -> list[str]:
    return [text for text, _, _, _ in outline(markup.encode()).blocks]


def around(page: Outline, number: int) -> list[str]:
    """Names of an element and those around it, innermost first."""
    names = []
    while number:
        parent, name, _ = page.elements[number]
        names.append(name)
        number = parent
    return names


def paths(markup: str) -> dict[str, list[str]]:
    page = outline(markup.encode())
    return {text: around(page, element) for text, element, _, _ in page.blocks}


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("", []),
        ("  \n ", []),
        ("just text", ["just text"]),
        ("<p>J<b>oh</b>n  \n Doe</p>", ["John Doe"]),
        ("<p>one<p>two<div>three</div>four", ["one", "two", "three", "four"]),
        ("<ul><li>one<li>two</ul>three", ["one", "two", "three"]),
        ("<table><tr><td>a<td>b<tr><td>c</table>d", ["a", "b", "c", "d"]),
        ("<dl><dt>a<dd>b<dt>c</dl>", ["a", "b", "c"]),
        ("one<hr>two<h2>three</h2>four", ["one", "two", "three", "four"]),
        ("<p>one<br>two<BR/>three</p>", [f"one{LINE_BREAK}two{LINE_BREAK}three"]),
        ("<p><br> <br></p>x", ["x"]),
        ("<p>one &amp; two&nbsp;three &lt;p&gt; &#20013; &#x4e2d</p>", ["one & two three <p> 中 中"]),
        ("<p>a\0b</p>", [f"a{LINE_BREAK}b"]),
        ("<P>A</P><DIV>B</DIV>", ["A", "B"]),
        ("<pRe>one\n two\n\n\n three</pRe>", [f"one two{LINE_BREAK}three"]),
        ("<script>no</script>yes<style>no</style><!-- no --><noscript>no</noscript>", ["yes"]),
        ("<template>no<p>no</p></template>yes<svg><text>no</text></svg>", ["yes"]),
        ("<p>yes<button>no</button></p><video>no</video><select><option>no</select>more", ["yes", "more"]),
        ("<p>a<template>no", ["a"]),
        ("<div><template>no</div>yes", ["yes"]),
        ("<p>1 < 2, a <3 b</p>", ["1 < 2, a <3 b"]),
        ("</p></div></table>x</body></html>y", ["x", "y"]),
        ("<b><p>x</b></p>y", ["x", "y"]),
        ('<p><img alt="no > no" src="no.jpg">yes</p>', ["yes"]),
        ("<my-card>x</my-card><p>y", ["x", "y"]),
        ("<frameset><frame src=x><noframes>plain</noframes></frameset>", ["plain"]),
        ("<head><title>no</title></head><body>yes", ["yes"]),
    ],
)
def test_blocks_of_text(markup: str, expected: list[str]) -> None:
    assert texts(markup) == expected


@pytest.mark.parametrize(
    ("markup", "title"),
    [
        ("<title> A &amp;\n B </title>", "A & B"),
        ("<TITLE>A</TITLE><title>B</title>", "A"),
        ("<title></title><p>x</p>", ""),
        ("<title>A<body><p>x", "A"),
        ("<svg><title>no</title></svg><title>A</title>", "A"),
        ("x", ""),
    ],
)
def test_title(markup: str, title: str) -> None:
    assert outline(markup.encode()).title == title


def test_links_are_counted_by_the_bytes_in_them() -> None:
    page = outline(b"<p>See <a href=x> the <b>page</b></a>, <a name=y>or</a> <a href=z>that</a>.</p><p>none</p>")
    assert page.blocks == [("See the page, or that.", 0, 11, 2), ("none", 0, 0, 0)]


@pytest.mark.parametrize(
    ("markup", "link_bytes"),
    [
        ("<a href=x><div>one</div><div>two</div></a>three", [3, 3, 0]),
        ("<li><a href=x>one<li>two", [3, 0]),
        ("<td><a href=x>one</td><td>two</td>", [3, 0]),
        ("<a href=x>one<a href=y>two</a><p>three", [6, 0]),
        ("<A HREF=x>one</A>", [3]),
        ("<a>one</a>", [0]),
    ],
)
def test_a_link_ends_at_its_end_tag_the_next_link_or_the_end_of_what_is_around_it(
    markup: str, link_bytes: list[int]
) -> None:
    assert [chars for _, _, chars, _ in outline(markup.encode()).blocks] == link_bytes


def test_what_is_around_a_block() -> None:
    markup = (
        "<body><div class=a>one<p class=b>two<section>three</div>four<ul><li>five<li class=c>six</ul><h1>seven</h1>"
    )
    assert paths(markup) == {
        "one": ["div", "body"],
        "two": ["p", "div", "body"],
        "three": ["section", "div", "body"],
        "four": ["body"],
        "five": ["ul", "body"],
        "six": ["li", "ul", "body"],
        "seven": ["h1", "body"],
    }


def test_an_end_tag_in_a_cell_does_not_end_what_is_around_the_table() -> None:
    markup = "<div><table><tr><td>one</div>two</td></tr></table>three</div>four"
    assert paths(markup)["two"] == ["td", "table", "div"]
    assert paths(markup)["three"] == ["div"]
    assert paths(markup)["four"] == []


def test_attributes_are_kept_as_written() -> None:
    markup = b"<DIV Class='a > b' id=x>y</DIV>"
    assert outline(markup).elements == [(0, "", b""), (0, "div", b" Class='a > b' id=x")]


def test_anchors_and_metas_are_collected() -> None:
    markup = b"<base href=b><meta name=k><a href=x>o<b>n</b>e</a><template><a href=no>no</a></template><a>no</a>"
    page = outline(markup)
    assert page.anchors == [(b" href=x", [b"o", b"n", b"e"], 0)]
    assert page.metas == [b" name=k"]
    assert page.base == b" href=b"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("&amp;lt;", "&lt;"),
        ("&copy 2 &nosuch; & &#", "© 2 &nosuch; & &#"),
        ("&#x110000;&#0;&#55296;", "\ufffd\ufffd\ufffd"),
        ("&#" + "9" * 5_000 + ";", "\ufffd" + "9" * 4_991 + ";"),
    ],
)
def test_character_references(text: str, expected: str) -> None:
    assert unescape(text) == expected


def test_collapse() -> None:
    assert collapse(" a&nbsp;\n\u3000 b ") == "a b"


@given(MARKUP)
def test_total_and_in_order(markup: str) -> None:
    page = outline(markup.encode())
    assert all(parent < number for number, (parent, _, _) in enumerate(page.elements) if number)
    owners = [element for _, element, _, _ in page.blocks]
    assert all(0 <= owner < len(page.elements) for owner in owners)
    for text, _, link_bytes, links in page.blocks:
        assert text == " ".join(text.split())
        assert text.strip(f"{LINE_BREAK} ")
        assert min(link_bytes, links) >= 0


@given(st.text())
def test_text_without_markup_is_one_block(text: str) -> None:
    plain = text.translate({ord("<"): None, ord("&"): None, 0: None})
    assert texts(plain) == ([" ".join(plain.split())] if plain.split() else [])


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
    assert "".join("".join(texts(markup)).split()) == "".join("".join(found).split())
