from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.content.html import extract
from dedupcrawl.core.digests import digest_of
from dedupcrawl.page import Page
from dedupcrawl.text.ignored import read_ignored
from tests.core.markup import MARKUP
from tests.linked import linked

URL = "http://www.example.com/a/page.html"


def test_everything_a_page_says() -> None:
    markup = """
        <!DOCTYPE html><html><head><title>News &amp; more</title><base target=_blank>
        <meta name="Keywords" content="news, more &amp; more"><META CONTENT='What is new' NAME=description>
        <meta property="og:description" content="no"><meta name=keywords content="second">
        <script>var no = "<p>no</p>";</script></head>
        <body><h1>Big <em>news</em></h1><p>First line.<br>Second line.<br><br>Third<p>See <a href="/more">more</a> at
        http://www.example.com/x?y=z#a, or <a href="https://example.org">www.example.org/</a>.
        <h2>Related</h2><img src="photo.jpg" alt="A photo"></body></html>"""
    assert extract(markup, URL) == Page(
        url=URL,
        title="News & more",
        paragraphs=(
            "Big news",
            "First line.",
            "Second line.",
            "Third",
            "See more at http://www.example.com/x?y=z#a, or www.example.org/.",
            "Related",
        ),
        headline="Big news",
        headings=("Big news", "Related"),
        keywords="news, more & more",
        description="What is new",
        anchors_same_site=("more",),
        anchors_other_sites=("www.example.org/",),
        body_digest=digest_of(markup.encode()),
        body_tells=True,
        links=linked("/more"),
        main_links=linked("/more"),
        secondary=("A photo",),
        resources=("photo",),
    )


def test_what_stands_around_the_main_text_and_is_no_link_are_asides() -> None:
    markup = f"""
        <nav><a href=/>Home</a> <a href=/news>News</a></nav><h1>Headline</h1>
        <article>{"<p>A sentence of the article, long enough to be one." * 20}</article>
        <div class=related>More of this: <a href=/1>an article about something else altogether</a></div>
        <footer>All rights reserved.<br>Read at http://www.example.com/ 12 times.</footer>"""
    page = extract(markup, URL)
    assert len(page.paragraphs) == 20
    assert page.asides == ("Headline", "All rights reserved.", "Read at http://www.example.com/ 12 times.")
    assert extract(markup, URL, fields=False).asides == page.asides
    assert extract(markup, URL, selector="article").asides == ()


def test_the_digest_is_of_the_undecoded_body() -> None:
    body = "<p>é".encode("latin-1")
    assert extract(body, URL, encoding="latin-1").body_digest == digest_of(body)
    assert extract(b"", URL).body_digest == extract("", URL).body_digest == b""
    assert extract(b"", URL) == Page(URL)


class TestSelector:
    PAGE = """<title>T</title><div class=menu>menu</div><div class="main a"><p>one<p>two<div class=main>three</div>
        <script>no</script><button>no</button>see http://a.b/c</div><p id=last>last &amp; least"""

    @pytest.mark.parametrize("selector", ["article", "script", "title:empty"])
    def test_that_finds_no_text_leaves_the_page_as_it_would_be(self, selector: str) -> None:
        page = extract(self.PAGE, URL, selector=selector)
        assert page.selector_missed
        assert page.replace(selector_missed=False) == extract(self.PAGE, URL)

    @pytest.mark.parametrize("selector", ["div[", "p:nope()", ":has(", "//p", "a::attr"])
    def test_that_is_none_is_an_error_with_its_name(self, selector: str) -> None:
        with pytest.raises(ValueError, match="is not a CSS selector") as error:
            extract("<p>x", URL, selector=selector)
        assert repr(selector) in str(error.value)

    @given(markup=MARKUP, selector=st.sampled_from(["p", "*", "p::text", "a"]))
    def test_total(self, markup: str, selector: str) -> None:
        assert isinstance(extract(markup, URL, selector=selector), Page)


@given(st.binary() | st.text(st.characters()) | MARKUP | MARKUP.map(str.encode), st.text(max_size=20))
def test_total(body: bytes | str, url: str) -> None:
    page = extract(body, url)
    for text in (*page.paragraphs, *page.headings, *page.anchors_same_site, *page.anchors_other_sites):
        assert text.strip() == text != ""


@given(st.text())
def test_a_lone_surrogate_is_no_error(text: str) -> None:
    page = extract(f"<p>{text}\ud800</p><a href='\udfff'>x</a>", "http://\ud800/", selector="p")
    assert isinstance(page, Page)


BOUNDED = """
import resource, sys
from dedupcrawl.core.digests import digest_of
from dedupcrawl.content.html import extract
from dedupcrawl.text.ignored import read_ignored
from tests.content.bombs import BOMBS
extract("<p>warm", "http://example.com/", selector="p")
used = int(next(line for line in open("/proc/self/status") if line.startswith("VmSize")).split()[1]) * 1024
resource.setrlimit(resource.RLIMIT_AS, (used + 256 * 1024 * 1024,) * 2)
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
for name, make in BOMBS.items():
    print(name, flush=True)
    body = make()
    extract(body, "http://example.com/", selector="main p" if name.startswith("selected") else None)
print("survived")
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="limits memory as Linux does")
def test_memory_and_time_are_bounded() -> None:
    """All bombs in one process that may grow by 256 MB and run for a minute; unbounded ones would take hours."""
    done = subprocess.run(
        [sys.executable, "-c", BOUNDED], capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2]
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert done.stdout.split("\n")[-2] == "survived"


@pytest.mark.parametrize(
    "much", [b"<p>" + b"word " * 400_000, b"<p>x" * 60_000 + b"<i></i>" * 30_000, b" " * 8_000_000]
)
def test_a_huge_page_is_the_same_only_as_the_same_bytes(much: bytes) -> None:
    one, other = (extract(b"<title>Long</title>" + much + end, URL) for end in (b"<p>one", b"<p>other"))
    assert one.title == other.title == "Long"
    assert one.paragraphs == one.asides == ()
    assert one.body_tells
    assert one.body_digest != other.body_digest


@pytest.mark.parametrize(
    "unread",
    [
        b"<script>" + b"x = 1;" * 400_000 + b"</script>",
        b"<!--" + b" x" * 1_200_000 + b"-->",
        b"<img src=data:image/png;base64," + b"A" * 2_500_000 + b">",
    ],
    ids=["script", "comment", "picture"],
)
def test_what_is_no_text_does_not_make_a_page_huge(unread: bytes) -> None:
    page = extract(b"<p>one</p>" + unread + b"<p>two</p>", URL)
    assert page.paragraphs == ("one", "two")
    assert not page.body_tells


IGNORED = {"ignored": read_ignored(("css:.ad",))}


@pytest.mark.parametrize("given", [{}, IGNORED, {"selector": "article"}], ids=["plain", "ignored", "selected"])
@pytest.mark.parametrize("much", ["<font size=2>hello " * 300, "<p>" + "a&b " * 400_000], ids=["deep", "growing"])
def test_what_a_long_or_deep_page_ends_with_tells_it_apart(much: str, given: dict[str, Any]) -> None:
    pages = [
        extract(f"<article><div class=ad>x</div><p>One text.{much}<p>{end} at the end</article>", URL, **given)
        for end in ("Apples", "Pears")
    ]
    told = [page.body_digest if page.body_tells else " ".join(page.paragraphs) for page in pages]
    assert told[0] != told[1]


def test_real_articles(shared_data: Path) -> None:
    """The first and the last 40 characters of ten labelled articles are found, and the page around them is not."""
    folder = shared_data / "html/en-articles"
    gold = json.loads((folder / "ground-truth.json").read_text("utf-8"))
    whole = 0
    for name, truth in sorted(gold.items())[:10]:
        markup = gzip.decompress((folder / f"html/{name}.html.gz").read_bytes())
        text = " ".join(extract(markup, truth["url"]).paragraphs)
        wanted = " ".join(truth["articleBody"].split())
        whole += wanted[:40] in text and wanted[-40:] in text and len(text) < 2 * len(wanted)
    assert whole >= 8
