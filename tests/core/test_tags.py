"""Where tags are, and what parsers that build a tree are given."""

from __future__ import annotations

import pytest
from hypothesis import given

from dedupcrawl.core.tags import tame
from tests.core.markup import MARKUP, TAGS
from tests.core.reading import LOCATED, URL, read, shown, stays, texts
from tests.core.reference import outline, page


def split(markup: str) -> list[str | None]:
    """Text, name and attributes, text, …, as the reference has them."""
    return [None if part is None else part.decode() for part in outline.TAG.split(markup.encode())]


@pytest.mark.parametrize(
    ("markup", "parts"),
    [
        ("a<b>c</b>d", ["a", "b", None, "c", "/b", None, "d"]),
        ("<a href=x>", ["", "a", " href=x", ""]),
        ('<a title="x > y">z', ["", "a", ' title="x > y"', "z"]),
        ("<a title = 'x > y' b>z", ["", "a", " title = 'x > y' b", "z"]),
        ('<a title="x > y>z', ["", "a", ' title="x ', " y>z"]),
        ('<a x="1"y="2">z', ["", "a", ' x="1"y="2"', "z"]),
        ("<p/>z", ["", "p", "/", "z"]),
        ("<o:p>z", ["", "o:p", None, "z"]),
        ("1 < 2 <3", ["1 < 2 <3"]),
        ("<!-- <p> -- > --->z", ["", None, None, "z"]),
        ("<!-->z", ["", None, None, "z"]),
        ("<!--->z", ["", None, None, "z"]),
        ("<!-- x --!>z", ["", None, None, "z"]),
        ("<!-- x", ["", None, None, ""]),
        ("<!DOCTYPE html>z<?php x ?>", ["", None, None, "z", None, None, ""]),
        ("<script>if (a < b) '</p>'</script >z", ["", None, None, "z"]),
        ("<SCRIPT src=x>y</script>z", ["", None, None, "z"]),
        ("<script>x", ["", None, None, ""]),
        ("<scripture>x", ["", "scripture", None, "x"]),
        ("<style>p > a</style><noscript><p>x</noscript>z", ["", None, None, "", None, None, "z"]),
        ("<svg><title>x</title></svg>z", ["", None, None, "z"]),
        ("<svg><path><p>z", ["", None, None, "", "p", None, "z"]),
        ("<select><option>x</select>z", ["", None, None, "z"]),
        ("x<p", ["x", "p", "", ""]),
    ],
)
def test_where_tags_are(markup: str, parts: list[str | None]) -> None:
    assert split(markup) == parts
    assert texts(read(markup.encode())) == page.read(markup.encode(), URL, LOCATED, stays)


@given(MARKUP.map(str.encode) | TAGS)
def test_tame_markup_is_that_of_the_reference_and_has_the_same_text(markup: bytes) -> None:
    tamed = tame(markup)
    assert tamed == outline.tame(markup)
    assert "".join("".join(shown(tamed)).split()) == "".join("".join(shown(markup)).split())


def test_tame_markup_has_no_huge_tags_comments_or_scripts() -> None:
    huge = "".join(f" a{number}=1" for number in range(10_000))
    markup = f"<p{huge}>x</p><!-- c --><script>y</script><a href=u>z</a>"
    assert tame(markup.encode()) == b"<p>x</p><a href=u>z</a>"
