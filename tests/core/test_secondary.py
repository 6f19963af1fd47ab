"""What a page shows besides its text: lines of secondary text, and resources."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedupcrawl.core.resources import identity
from tests.core.markup import TAGS
from tests.core.reading import read

TEXT = "<h1>The keeper</h1><p>This page opens a drawer. Wait until it has come to rest.</p>"


@pytest.mark.parametrize(
    ("markup", "lines"),
    [
        ("<textarea readonly>One &amp; two\nthree</textarea>", ("One & two", "three")),
        ("<textarea>One \0 two</textarea>", ("One", "two")),
        ("<input value='Written here'>", ("Written here",)),
        ("<INPUT TYPE=Search placeholder='Your name'>", ("Your name",)),
        ("<input type=image src=/go.gif alt='Go on'>", ("Go on",)),
        ("<button>Buy <b>it</b> now</button>", ("Buy it now",)),
        ("<select><option>Red shoes<option selected>Blue shoes</select>", ("Red shoes", "Blue shoes")),
        ("<datalist><option>Red shoes</datalist>", ("Red shoes",)),
        ("<noscript><p>Plain <b>text</b></p><p>More</noscript>", ("Plain text", "More")),
        ("<template shadowrootmode=open><p>In the shadow<br>of it</template>", ("In the shadow", "of it")),
        ("<iframe srcdoc='&lt;p&gt;A frame&lt;p&gt;b'></iframe>", ("A frame", "b")),
        ("<iframe srcdoc='<p>A frame</p><b>b</b>'>no</iframe>", ("A frame", "b")),
        ("<img src=/photo/1.jpg alt='A bridge'>", ("A bridge",)),
        ("<svg><style>no</style><text>Sales</text><text>Costs</text><title>no</title></svg>", ("Sales", "Costs")),
        ("<object data=/m.swf>Get a player</object>", ("Get a player",)),
        ("<button>Two</button><textarea>One</textarea>", ("Two", "One")),
        ("<button>Twice</button><button>Twice</button>", ("Twice",)),
    ],
)
def test_secondary_text(markup: str, lines: tuple[str, ...]) -> None:
    assert read(f"{TEXT}{markup}".encode()).secondary == lines


@pytest.mark.parametrize(
    "markup",
    [
        "<input type=hidden name=csrf value='A token of this'>",
        "<input type=password value='not for you'>",
        "<input type=checkbox value='the third of them'>",
        "<textarea>9f27ab31c04d11ee9f27</textarea>",
        "<img src=/p/1.jpg alt='DSC_0001.jpg'>",
        "<img src=/icons/home.png alt='Home of it'>",
        "<img src=/p/1.jpg width=16 height=16 alt='Home of it'>",
        "<button>Wait until it has come to rest.</button>",  # the page's text says it
        "<button> \u2026 </button>",
        "<nav><button>Menu of it</button></nav>",
        "<div class=sidebar><select><option>May of 2024</select></div>",
        "<script>var text = 'some words of it'</script>",
        "<style>p { color: red }</style>",
    ],
)
def test_what_says_nothing_of_the_page(markup: str) -> None:
    assert read(f"{TEXT}{markup}".encode()).secondary == ()


@pytest.mark.parametrize(
    ("value", "is_text"),
    [
        ("The museum and the wall", True),
        ('caf\u00e9 "here"\nand there', True),
        ("<p>The museum</p>", True),
        ("中文文章正文", True),
        ("NewsArticle", False),
        ("http://a.example/the museum", False),
        ("/the/museum of it", False),
        ("2024-05-03T10:42:00+02:00", False),
        ("3 May 2024", False),
        ("dQw4w9WgXcQdQw4w9", False),
        ("if (x) { return the thing }", False),
    ],
)
@pytest.mark.parametrize("kind", ["application/ld+json", "Application/JSON"])
def test_data(value: str, is_text: bool, kind: str) -> None:
    data = json.dumps({"a long name of it": [1, {"x": value}], "y": None})
    lines = read(f"{TEXT}<script type='{kind}'>{data}</script>".encode()).secondary
    said = " ".join(value.replace("<p>", "").replace("</p>", "").split())
    assert lines == ((said,) if is_text else ())


@pytest.mark.parametrize(
    ("markup", "resources"),
    [
        ("<img src='/photo/1000.jpg'>", ("photo/1000",)),
        ("<img src=data:image/gif;base64,R0lGOD data-src=/photo/1000.jpg>", ("photo/1000",)),
        ("<img srcset='/photo/1000-640x480.jpg 1x, /photo/1000.jpg 2x'>", ("photo/1000",)),
        ("<picture><source srcset=/a/1.webp><img src=/a/1.jpg></picture>", ("a/1",)),
        ("<noscript><img src=/photo/1000.jpg></noscript>", ("photo/1000",)),
        ("<video src=/v/a.mp4 poster=/v/a.jpg></video>", ("v/a.mp4",)),
        ("<audio><source src=/v/a.mp3><source src=/v/a.ogg></audio>", ("v/a.mp3", "v/a.ogg")),
        ("<embed src=/m/a.swf><object data=/m/b.swf></object>", ("m/a.swf", "m/b.swf")),
        ("<iframe src=https://video.example/embed/Abc?rel=0></iframe>", ("embed/abc",)),
        ("<a href='/files/report.pdf?x=1'>Report</a>", ("files/report.pdf",)),
        ("<a download href=/d/17>Report</a>", ("d/17",)),
        ("<a href=/p/17.html>Page</a><a href=/q.pdf/>Page</a>", ()),
        ("<img src=/t.gif width=1 height=1><img src=/t.gif width=0><img src=/x.gif aria-hidden=true>", ()),
        ("<img class='btn icon' src=/a/b.png><img src=/themes/blue/b.png>", ()),
        ("<nav><img src=/a/b.png></nav><div class=ad><img src=/a/c.png></div>", ()),
        ("<footer><p>The end<a href=/a.pdf>x</a></footer>", ()),
        ("<img src='{{ picture }}'><img src=javascript:x><img>", ()),
    ],
)
def test_resources(markup: str, resources: tuple[str, ...]) -> None:
    assert read(f"{TEXT}{markup}".encode()).resources == resources


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/photo/a.jpg", "https://cdn.example/photo/a.webp?v=3#x"),
        ("/photo/a.jpg", "../photo/a_thumb.jpg"),
        ("/photo/a.jpg", "/photo/a@2x.jpg"),
        ("/photo/a.jpg", "/photo/a-300x200.jpg"),
        ("/photo/a.jpg", "/photo/300x200/a.jpg"),
        ("/w/a/ab/Foo.jpg", "/w/thumb/a/ab/Foo.jpg/300px-Foo.jpg"),
        ("/show.php?id=3", "/show.php?sid=0123456789abcdef0123456789abcdef&id=3"),
        ("/show.php?id=3", "/show.php?id=3&1700000000"),
        ("/img;jsessionid=17/a.png", "/img/a.png"),
    ],
)
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
