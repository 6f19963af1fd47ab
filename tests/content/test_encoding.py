from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.content.encoding import decode, to_utf8

CHINESE = "中国的人们在这里生活了上千年，他们说的话和我们不一样，但是我们都是中国人。"
TRADITIONAL = "中國的人們在這裡生活了上千年，他們說的話和我們不一樣，但是我們都是中國人。"
JAPANESE = "これは日本語で書かれた文章です。私たちはこの町に住んでいる人の話をします。"
KOREAN = "이것은 한국어로 쓰인 글입니다. 우리는 이 마을에 사는 사람들의 이야기를 하고 있다."
RUSSIAN = "Это предложение написано на русском языке, и в нём много обычных слов."
FRENCH = "Les élèves étaient déjà là, à côté de la fenêtre."
PAGE = "<html><head>{meta}<title>{text}</title></head><body><p>{text}</p></body></html>"


def page(text: str, charset: str | None, encoding: str) -> tuple[str, bytes]:
    markup = PAGE.format(meta=f'<meta charset="{charset}">' if charset else "", text=text)
    return markup, markup.encode(encoding)


@pytest.mark.parametrize(
    ("text", "label", "meta", "encoding"),
    [
        (CHINESE, None, None, "utf-8"),
        (CHINESE, "utf-8", None, "utf-8"),
        (CHINESE, None, "gb2312", "gb18030"),
        ("朱镕基喆", None, "gb2312", "gb18030"),  # two characters that GB 2312 has not
        (CHINESE, "GBK", None, "gb18030"),
        (CHINESE, "iso-8859-1", "gb2312", "gb18030"),  # the server's default
        (CHINESE, "windows-1252", None, "gb18030"),
        (CHINESE, "utf-8", "utf-8", "gb18030"),
        (CHINESE, "gb2312", "gb2312", "utf-8"),
        (CHINESE, None, None, "gb18030"),
        (TRADITIONAL, None, "big5", "big5hkscs"),
        (TRADITIONAL, None, None, "big5hkscs"),
        (JAPANESE, None, "shift_jis", "cp932"),
        (JAPANESE, None, None, "cp932"),
        (JAPANESE, None, None, "euc_jp"),
        (JAPANESE, "iso-2022-jp", None, "iso2022_jp"),
        (KOREAN, None, "euc-kr", "cp949"),
        (KOREAN, None, None, "cp949"),
        (RUSSIAN, None, "windows-1251", "cp1251"),
        (RUSSIAN, None, None, "cp1251"),
        (RUSSIAN, "koi8-r", None, "koi8_r"),
        (FRENCH, None, None, "cp1252"),
        (FRENCH, "iso-8859-1", None, "cp1252"),
        (FRENCH, "latin-1", None, "utf-8"),
        (CHINESE, None, None, "utf-16"),
        (CHINESE, "utf-16", None, "utf-16-le"),
        (CHINESE, None, None, "utf-16-be"),
        (CHINESE, None, "utf-16", "utf-8"),  # what a page in UTF-16 could not say
        ("plain", "utf-16", None, "ascii"),
        (CHINESE, None, None, "utf-8-sig"),
        (CHINESE, None, None, "utf-32"),
        (CHINESE, "no-such-charset", "nor-this", "utf-8"),
        (FRENCH, "cp037", None, "cp1252"),  # EBCDIC, in which anything decodes
    ],
)
def test_labels_guesses_and_lies(text: str, label: str | None, meta: str | None, encoding: str) -> None:
    markup, body = page(text, meta, encoding)
    assert decode(body, label) == markup
    assert to_utf8(body, label) == markup.encode()


@pytest.mark.parametrize("charset", ["punycode", "idna", "utf-7", "base64", "zlib", "rot13", "unicode_escape", "hex"])
def test_codecs_that_are_no_charsets_are_not_let_in(charset: str) -> None:
    markup, body = page(CHINESE + "+ADw-script+AD4- \\x41", charset, "utf-8")
    assert decode(body, charset) == markup


def test_a_little_damage_does_not_change_the_charset() -> None:
    markup, body = page(CHINESE * 5, "gb2312", "gb18030")
    damaged = body.replace("生活".encode("gb18030"), b"\xff\xff", 1)
    assert CHINESE in decode(damaged)
    assert decode(damaged).count("\ufffd") <= 2
    assert markup != decode(damaged)


@pytest.mark.parametrize("encoding", ["utf-8", "gb18030", "utf-16-le"])
def test_a_character_cut_off_at_the_end_is_left_out(encoding: str) -> None:
    markup, _ = page(CHINESE, "gbk" if encoding == "gb18030" else None, encoding)
    start = markup[: markup.index("，") + 1]
    assert decode(start.encode(encoding)[:-1]) == start[:-1]


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
