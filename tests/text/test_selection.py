from __future__ import annotations

import re
from contextlib import suppress
from html import escape

import pytest
from cssselect import parse
from hypothesis import given, settings
from hypothesis import strategies as st
from parsel import Selector

from dedupcrawl.text.selection import MOST_ELEMENTS, may_find, parsed_selectors, selected, without

_SELECTORS = """
div p | div > p | p + p | p ~ b | div div p | div > div p | div p > b | p ~ p b, div | div:first-child b
p:not(.a) b, p + * | :scope > body > p | * > .a ~ p | div * | b::text | div p::attr(class) | p:has(b) > b::text
div, div div::text | p:has(~ b) | div:has(> p) | p:has(+ b) | :is(p, .a) + b | :where(div) :is(.a):first-child
p.a:first-of-type | b:nth-child(2), b:last-child
"""
SELECTORS = [item for line in _SELECTORS.strip().split("\n") for item in line.split(" | ")]
OF_NEWER = [  # cssselect 1.6 reads them, for which Python 3.10 is too old
    "p:has(+ p, b)",
    "div:has(> p + b)",
    "div:has(div b) > p",
    "p:not(div div p) b",
    "b:not(:has(.a ~ b))",
]
with suppress(SyntaxError):
    parse(", ".join(OF_NEWER))
    SELECTORS += OF_NEWER
MARKUP = st.recursive(
    st.sampled_from(["x", "<br>"]),
    lambda inner: st.builds(
        lambda name, css_class, parts: f"<{name}{css_class}>{''.join(parts)}</{name}>",
        st.sampled_from(["div", "p", "b"]),
        st.sampled_from(["", " class=a"]),
        st.lists(inner, max_size=4),
    ),
    max_leaves=25,
)


def by_one_expression(markup: str, css: str) -> list[str]:
    """What libxml2 makes of the whole selector, without what stands in an element that is found itself."""
    found = Selector(text=markup, type="html").css(css)
    roots = {match.root for match in found if not isinstance(match.root, str)}
    return [
        escape(match.root) if isinstance(match.root, str) else match.get()
        for match in found
        if isinstance(match.root, str) or roots.isdisjoint(match.root.iterancestors())
    ]


@settings(max_examples=200)
@given(markup=MARKUP, css=st.sampled_from(SELECTORS))
def test_finds_what_the_expression_of_the_whole_selector_finds(markup: str, css: str) -> None:
    page = f"<html><body>{markup}</body></html>"
    assert selected(page.encode(), css) == by_one_expression(page, css)


@pytest.mark.parametrize("css", SELECTORS)
def test_finds_it_in_a_page_where_it_is(css: str) -> None:
    page = (
        "<html><body><div><div class=a><p class=a>1</p><b>2</b><p>3<b>4</b><b>5</b></p><b>6</b></div><p>7<b>8</b></p>"
        "</div><p>9<b>10</b><p>11"
    )
    assert selected(page.encode(), css) == by_one_expression(page, css) != []


def test_of_a_huge_page_nothing_is_selected() -> None:
    assert selected(b"<p>x" * MOST_ELEMENTS, "p") == []
    assert selected(b"<p>x" * (MOST_ELEMENTS - 10), "p") != []
    with pytest.raises(ValueError, match="is not a CSS selector"):
        selected(b"<p>x" * MOST_ELEMENTS, "p[")


@pytest.mark.parametrize(
    ("css", "why"), [("svg|rect", "namespace"), ("svg|* > p", "namespace"), ("p:nope", "unknown"), ("p >", "Expected")]
)
def test_a_selector_that_no_page_can_be_asked_for_is_refused_before_there_is_one(css: str, why: str) -> None:
    with pytest.raises(ValueError, match=f"{re.escape(repr(css))} is not a CSS selector: .*{why}"):
        parsed_selectors(css)


WRITTEN = st.sampled_from(
    [
        ' class="a"',
        " class=a",
        " CLASS='x a'",
        ' class="aa"',
        ' id="a b"',
        " id=b",
        " class=\x00a",
        ' class="a&#32;b"',
        "",
    ]
)
ASKED = [".a", "#b", "p.a", ".a .b, #b", ".a > p", "div:not(.a)", "p:has(.a)", "[class=a]", ".aa + #b"]


@given(tags=st.lists(st.tuples(st.sampled_from(["div", "p"]), WRITTEN), max_size=6), css=st.sampled_from(ASKED))
def test_what_may_not_be_found_is_not(tags: list[tuple[str, str]], css: str) -> None:
    markup = "".join(f"<{name}{written}>x</{name}>" for name, written in tags).encode()
    if selected(markup, css):
        assert may_find(markup, css)
        assert without(markup, [css]) != markup
    else:
        assert without(markup, [css]) == markup


def test_a_class_that_no_element_has_takes_no_tree() -> None:
    assert not may_find(b'<p class="aa">a</p>', ".a")
    assert not may_find(b'<p class="a">a</p>', ".a .b, #c")
