from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.content import encoding as module
from dedupcrawl.content.encoding import decode, to_utf8
from tests.fixtures import table_of

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
def test_total(body: bytes, label: str | None) -> None:
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
