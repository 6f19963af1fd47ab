"""Pages as the core reads them: what was recorded of them."""

from __future__ import annotations

import pytest
from hypothesis import given

from dedupcrawl.core.tags import tame
from tests.core.markup import ARTICLES, MARKUP, PARTS, PIECES, TAG_PIECES, TAGS, article, drawn
from tests.core.reading import LOCATED, read, told
from tests.core.recorded import changed

BROKEN = [
    "".join(pieces).encode("utf-8", "surrogatepass")
    for pieces in [*drawn(TAG_PIECES, 400, 40), *drawn(PIECES, 200, 40)]
]


def test_broken_pages() -> None:
    assert changed("broken", (told(read(markup)) for markup in BROKEN)) == []
    assert changed("without fields", (told(read(markup, fields=False)) for markup in BROKEN[:100])) == []
    assert changed("tame", (tame(markup).decode("utf-8", "replace") for markup in BROKEN)) == []


def test_articles() -> None:
    assert changed("articles", (told(read(article(parts))) for parts in drawn(PARTS, 400, 60))) == []


def test_pages_that_meet_a_bound() -> None:
    pages = [
        b"<p>" + b"<b" * 120_000,
        b"<p>one" * 100_000,
        b"<p>one" * 100_001 + b"<3",
        b"<script>" + b"<" * 300_005 + b"</script>x",
        b"<svg>" + b"<" * 299_999 + b"<p>x",
        b"<!--" + b"-x" * 300_005 + b"-->y",
        b"<a " + b"x=" * 1_999 + b"'>'>y" + b"<a " + b"x=" * 2_000 + b"'>'>y",
        b"<div>" * 300 + b"<template>" + b"</div>" * 99 + b"x</b></td>" + b"<td><div>" * 60 + b"</table>y",
        b"<a href='" * 50_000,
        b"<\xe4\xb8<b>\xad</b>\xff" * 50,
        b"".join(b"<a href=/%d>x</a>" % number for number in range(1_200)),
        b"".join(b"<a href=/" + b"x" * length + b"#>x</a>" for length in (1_999, 2_000, 3_998, 3_999)),
    ]
    assert changed("bounds", (told(read(markup)) for markup in pages)) == []


_PARTS_OF_LINKS = """
a A.example www. WWW.a.Example a.example é %C3%A9 %b1 %2 % + %26 / // ? = . ./ ../ .. # : :80 @ http: HTTPS:// ftp:// x
&amp; &#63; &#32; mailto: \\
"""


@pytest.mark.parametrize("located", [LOCATED, (b"a.example", b"b.example", b"/")], ids=["at home", "base elsewhere"])
def test_links(located: tuple[bytes, bytes, bytes], request: pytest.FixtureRequest) -> None:
    targets = drawn([*_PARTS_OF_LINKS.split(), " ", "\u3000"], 400, 12)
    pages = (f'<a href="{"".join(target)}">x</a>'.encode() for target in targets)
    found = (told(read(markup, located=located, fields=False)) for markup in pages)
    assert changed(f"links, {request.node.callspec.id}", found) == []


@given(TAGS | MARKUP.map(str.encode) | ARTICLES)
def test_any_markup_is_a_page_and_the_same_one_again(markup: bytes) -> None:
    page = read(markup)
    assert told(read(markup)) == told(page)
    assert [line for line in page.paragraphs if not line.strip()] == []
