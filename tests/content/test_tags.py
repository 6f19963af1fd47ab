from __future__ import annotations

import pytest
from dedupcrawl.content.outline import tag_pattern, tame
from hypothesis import given
from hypothesis import strategies as st

PIECES = [
    "<",
    ">",
    "/",
    "</",
    "<a",
    "<!--",
    "-->",
    "--",
    "-",
    "!",
    "<!",
    "<?",
    "=",
    '"',
    "'",
    "='",
    '="',
    "x",
    "é",
    "中",
    "&lt;",
    "<script",
    "</script>",
    "<svg>",
    "<select>",
    "</SELECT",
    "<p>",
    "</p>",
    "<textarea>",
]
MARKUP = st.lists(st.sampled_from([*PIECES, " ", "\n"]), max_size=40).map("".join)


def split(markup: str) -> list[str | None]:
    """Text, name and attributes, text, …"""
    return [None if part is None else part.decode() for part in tag_pattern().split(markup.encode())]


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


@given(MARKUP)
def test_no_start_of_a_tag_is_left(markup: str) -> None:
    assert not any(len(split(text)) > 1 for text in split(markup)[::3] if text)


@given(MARKUP)
def test_tame_markup_has_the_same_text(markup: str) -> None:
    assert b"".join(tag_pattern().split(tame(markup.encode()))[::3]) == b"".join(
        tag_pattern().split(markup.encode())[::3]
    )


def test_tame_markup_has_no_huge_tags_comments_or_scripts() -> None:
    huge = "".join(f" a{number}=1" for number in range(10_000))
    markup = f"<p{huge}>x</p><!-- c --><script>y</script><a href=u>z</a>"
    assert tame(markup.encode()) == b"<p>x</p><a href=u>z</a>"
