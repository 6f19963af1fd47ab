"""Where tags are, and what parsers that build a tree are given."""

from __future__ import annotations

import pytest
from hypothesis import given

from dedupcrawl.core.tags import tame
from tests.core.markup import MARKUP, TAGS
from tests.core.reading import shown


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("a<b>c</b>d", "acd"),
        ("<a href=x>", ""),
        ('<a title="x > y">z', "z"),
        ("<a title = 'x > y' b>z", "z"),
        ('<a title="x > y>z', "y>z"),
        ('<a x="1"y="2">z', "z"),
        ("<p/>z", "z"),
        ("<o:p>z", "z"),
        ("1 < 2 <3", "1 < 2 <3"),
        ("<!-- <p> -- > --->z", "z"),
        ("<!-->z", "z"),
        ("<!--->z", "z"),
        ("<!-- x --!>z", "z"),
        ("<!-- x", ""),
        ("<!DOCTYPE html>z<?php x ?>", "z"),
        ("<script>if (a < b) '</p>'</script >z", "z"),
        ("<SCRIPT src=x>y</script>z", "z"),
        ("<script>x", ""),
        ("<scripture>x", "x"),
        ("<style>p > a</style><noscript><p>x</noscript>z", "z"),
        ("<svg><title>x</title></svg>z", "z"),
        ("<svg><path><p>z", "z"),
        ("<select><option>x</select>z", "z"),
        ("x<p", "x"),
    ],
)
def test_where_tags_are(markup: str, text: str) -> None:
    assert "\n".join(shown(markup.encode())) == text


@given(MARKUP.map(str.encode) | TAGS)
def test_tame_markup_has_the_same_text(markup: bytes) -> None:
    assert "".join("".join(shown(tame(markup))).split()) == "".join("".join(shown(markup)).split())


def test_tame_markup_has_no_huge_tags_comments_or_scripts() -> None:
    huge = "".join(f" a{number}=1" for number in range(10_000))
    markup = f"<p{huge}>x</p><!-- c --><script>y</script><a href=u>z</a>"
    assert tame(markup.encode()) == b"<p>x</p><a href=u>z</a>"
