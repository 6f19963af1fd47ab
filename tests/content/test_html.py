"""HTML: what is read of it, in whatever encoding."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from array import array
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.content import encoding as module
from dedupcrawl.content.encoding import decode, to_utf8
from dedupcrawl.content.html import extract
from dedupcrawl.core.digests import digest_of
from dedupcrawl.core.main_outline import tail_begins
from dedupcrawl.page import Page
from dedupcrawl.text.ignored import read_ignored
from tests.core.markup import MARKUP
from tests.fixtures import table_of
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
    read = extract(markup, URL)
    assert read.theme
    assert read.replace(theme=b"") == Page(
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


def symbols(count: int, seed: int = 0) -> bytes:
    return array("H", Random(seed).choices(range(1, 1 << 16), k=count)).tobytes()


def test_it_moves_with_what_is_put_in_before() -> None:
    text = symbols(20_000)
    begins = tail_begins(text[: 2 * 16_384])
    assert 16_384 - 4_096 <= begins < 16_384
    moved = [tail_begins((symbols(more, 1) + text)[: 2 * 16_384]) == begins + more for more in range(1, 40)]
    assert sum(moved) >= 38


CHINESE = "中国的人们在这里生活了上千年，他们说的话和我们不一样，但是我们都是中国人。"
TRADITIONAL = "中國的人們在這裡生活了上千年，他們說的話和我們不一樣，但是我們都是中國人。"
JAPANESE = "これは日本語で書かれた文章です。私たちはこの町に住んでいる人の話をします。"
KOREAN = "이것은 한국어로 쓰인 글입니다. 우리는 이 마을에 사는 사람들의 이야기를 하고 있다."
RUSSIAN = "Это предложение написано на русском языке, и в нём много обычных слов."
HEBREW = "בשבת נפתחה בפארק העירוני תערוכה של תצלומים ישנים, וכמעט כל תושבי השכונה באו לראות אותה."
ARABIC = "افتتح يوم السبت في حديقة المدينة معرض للصور القديمة، وحضره تقريبا جميع سكان الحي."
TURKISH = "Cumartesi günü şehir parkında eski fotoğraflardan oluşan bir sergi açıldı ve mahallenin çoğu oraya geldi."
GREEK = "Άλλοι λένε πως ο φάρος θα ξαναλειτουργήσει, όμως κανείς δεν ξέρει ποιος θα πληρώσει."
THAI = "เมื่อวันเสาร์มีการเปิดนิทรรศการภาพถ่ายเก่าในสวนของเมือง และชาวบ้านเกือบทุกคนก็มาชม"
POLISH = "W sobotę w parku miejskim otwarto wystawę starych zdjęć, na którą przyszli prawie wszyscy mieszkańcy."
GERMAN = "Größe, Höhe und Länge müssen über das Formular für Händler gemeldet werden, hieß es später."
FRENCH = "Les élèves étaient déjà là, à côté de la fenêtre."
PAGE = "<html><head>{meta}<title>{text}</title></head><body><p>{text}</p></body></html>"


def page(text: str, charset: str | None, encoding: str) -> tuple[str, bytes]:
    markup = PAGE.format(meta=f'<meta charset="{charset}">' if charset else "", text=text)
    return markup, markup.encode(encoding)


@table_of("content", "labels_guesses_and_lies")
def test_labels_guesses_and_lies(text: str, label: str | None, meta: str | None, encoding: str) -> None:
    markup, body = page(text, meta, encoding)
    assert decode(body, label) == markup
    assert to_utf8(body, label) == markup.encode()


@pytest.mark.parametrize("charset", ["punycode", "idna", "utf-7", "base64", "zlib", "rot13", "unicode_escape", "hex"])
def test_codecs_that_are_no_charsets_are_not_let_in(charset: str) -> None:
    markup, body = page(CHINESE + "+ADw-script+AD4- \\x41", charset, "utf-8")
    assert decode(body, charset) == markup


@table_of("content", "what_looks_like_an_escape_is_none")
def test_what_looks_like_an_escape_is_none(markup: str) -> None:
    assert decode(markup.encode()) == markup


@pytest.mark.parametrize("label", [None, "utf-8"])
def test_escapes_in_a_page_of_utf_8_are_its_own(label: str | None) -> None:
    markup = f"<meta charset=utf-8><p>{GERMAN} In HZ: ~{{VPND~}} ~{{VPNDVPND~}}"
    assert decode(markup.encode(), label) == markup


@pytest.mark.parametrize(("encoding", "text"), [("hz", CHINESE), ("iso2022_jp", JAPANESE)])
def test_a_wrong_byte_in_text_of_seven_bits_damages_one_character(encoding: str, text: str) -> None:
    body = page(text * 3, None, encoding)[1]
    at = body.rindex(b"<p>") + 60
    damaged = body[:at] + bytes([body[at] | 0x80, body[at + 1]]) + body[at + 2 :]
    assert decode(damaged) == decode(body)


@pytest.mark.parametrize("text", [GERMAN, RUSSIAN, CHINESE])
@pytest.mark.parametrize("label", [None, "utf-8", "no-such-charset"])
def test_one_wrong_byte_in_utf_8(text: str, label: str | None) -> None:
    markup, body = page(text, None, "utf-8")
    at = body.index(b"<p>")
    assert decode(body[:at] + b"\xff" + body[at:], label) == markup[: markup.index("<p>")] + "\ufffd<p>" + text + (
        "</p></body></html>"
    )


@pytest.mark.parametrize("wrong", [b"\xff", b"\x80", b"\x00", b"\x8e"])
@pytest.mark.parametrize(
    ("text", "encoding"),
    [(CHINESE, "gb18030"), (TRADITIONAL, "big5hkscs"), (JAPANESE, "euc_jp"), (KOREAN, "cp949"), (THAI, "cp874")],
)
def test_a_wrong_byte_does_not_change_the_charset_that_is_detected(text: str, encoding: str, wrong: bytes) -> None:
    """It rules the charset out for the detector, which is therefore asked about pieces of the page."""
    markup, body = page("".join(f"<p>{text}</p>\n" for _ in range(4)), None, encoding)
    damaged = body.replace(b"<p>", b"<p>" + wrong, 1)
    assert text in decode(damaged)
    assert decode(damaged).count(text) >= markup.count(text) - 2


@pytest.mark.parametrize(
    "body", [b"\xe4" * 3_000_000, b"\xe4 " * 1_500_000, b"a" * 3_000_000 + b"\xff", b"~{" * 1_500_000]
)
def test_the_detector_sees_a_bounded_sample(body: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    ask = module._ask

    def spy(sample: bytes, charsets: dict[str, str]) -> str:
        seen.append(len(sample))
        return ask(sample, charsets)

    monkeypatch.setattr(module, "_ask", spy)
    decode(body)
    assert max(seen, default=0) <= 8_192
    assert len(seen) <= 10


@pytest.mark.parametrize("encoding", ["utf-8", "gb18030", "utf-16-le"])
def test_a_character_cut_off_at_the_end_is_left_out(encoding: str) -> None:
    markup, _ = page(CHINESE, "gbk" if encoding == "gb18030" else None, encoding)
    start = markup[: markup.index("，") + 1]
    assert decode(start.encode(encoding)[:-1]) == start[:-1]


@pytest.mark.filterwarnings("error")
@given(st.binary(), st.none() | st.text(max_size=12) | st.sampled_from(["utf-16", "gb2312", "big5", "hz", "utf-32"]))
def test_total_encoding(body: bytes, label: str | None) -> None:
    text = decode(body, label)
    assert to_utf8(body, label).decode("utf-8", "ignore") == text


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff")))
def test_utf_8_is_read_as_it_is(text: str) -> None:
    assert decode(text.encode()) == text


def test_real_pages_are_read_without_damage(shared_data: Path) -> None:
    pages = sorted((shared_data / "html/zh-articles/original").glob("*.html"))
    damage = {path.name: decode(path.read_bytes()).count("\ufffd") for path in pages}
    assert len(damage) == 69
    assert max(damage.values()) < 20
    assert sum(map(bool, damage.values())) <= 5
