"""What a page shows besides its text: lines of secondary text, and resources."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedupcrawl.core.resources import identity
from tests.core.markup import TAGS
from tests.core.reading import read
from tests.fixtures import table_of

TEXT = "<h1>The keeper</h1><p>This page opens a drawer. Wait until it has come to rest.</p>"


@table_of("core", "secondary_text")
def test_secondary_text(markup: str, lines: list[str]) -> None:
    assert read(f"{TEXT}{markup}".encode()).secondary == tuple(lines)


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
