"""Pages as the core reads them, beside what the reference makes of them."""

from __future__ import annotations

import gzip
import json
import lzma
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedupcrawl.content.encoding import to_utf8
from tests.core.markup import ARTICLES, MARKUP, TAGS
from tests.core.reading import LOCATED, URL, read, stays, texts
from tests.core.reference import page as reference


def is_same(markup: bytes) -> bool:
    return texts(read(markup)) == reference.read(markup, URL, LOCATED, stays)


def assert_same(markup: bytes) -> None:
    assert texts(read(markup)) == reference.read(markup, URL, LOCATED, stays)


@settings(max_examples=300)
@given(TAGS | MARKUP.map(str.encode))
def test_broken_pages(markup: bytes) -> None:
    assert_same(markup)


@settings(max_examples=300)
@given(ARTICLES)
def test_articles(markup: bytes) -> None:
    assert_same(markup)


@given(TAGS)
def test_without_fields(markup: bytes) -> None:
    assert texts(read(markup, fields=False)) == reference.read(markup, URL, LOCATED, None)


@pytest.mark.parametrize(
    "markup",
    [
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
    ],
)
def test_pages_that_meet_a_bound(markup: bytes) -> None:
    assert_same(markup)


_PARTS_OF_LINKS = """
a A.example www. WWW.a.Example a.example é %C3%A9 %b1 %2 % + %26 / // ? = . ./ ../ .. # : :80 @ http: HTTPS:// ftp:// x
&amp; &#63; &#32; mailto: \\
"""
_TARGETS = st.lists(st.sampled_from([*_PARTS_OF_LINKS.split(), " ", "\u3000"]), max_size=12).map("".join)


@settings(max_examples=500)
@given(st.lists(_TARGETS, max_size=4), st.sampled_from([LOCATED, (b"a.example", b"b.example", b"/")]))
def test_links(targets: list[str], located: tuple[bytes, bytes, bytes]) -> None:
    markup = "".join(f'<a href="{target}">x</a>' for target in targets).encode()
    found = read(markup, located=located, fields=False)
    assert texts(found) == reference.read(markup, URL, located, None)


def stored(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Some dozen pages of each site, by name, as they were stored."""
    for site in ("en-articles", "zh-articles", "zh-news"):
        files = sorted(path for path in (folder / "html" / site).rglob("*.html*") if path.is_file())
        for path in files[:: max(1, len(files) // 24)]:
            raw = path.read_bytes()
            yield path.name, gzip.decompress(raw) if path.suffix == ".gz" else raw
    crawls = [*(folder / "crawls").glob("*/pages.jsonl.xz"), *(folder / "crawls/live").glob("*.jsonl.gz")]
    for path in sorted(crawls):
        with (lzma if path.suffix == ".xz" else gzip).open(path, "rt", encoding="utf-8") as rows:
            for row in map(json.loads, islice(rows, 0, 720, 30)):
                yield row["url"], row["html"].encode("utf-8", "replace")


def test_real_pages(shared_data: Path) -> None:
    odd = [name for name, body in stored(shared_data) if not is_same(to_utf8(body))]
    assert odd == []
