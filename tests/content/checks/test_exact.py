from __future__ import annotations

from hashlib import blake2b

import pytest

from dedupcrawl.content.checks.exact import ExactCheck
from dedupcrawl.core.digests import NO_SECRET, Secret
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.page import Page
from tests.fixtures import table_of

CHECK = ExactCheck()
TEXT = "The quick brown fox jumps over the lazy dog, again and again and again; 系统采用的特征码提取算法。"


def signature(*paragraphs: str, body: bytes = b"") -> bytes | None:
    page = Page("http://a.example/", paragraphs=paragraphs, body_digest=body)
    return CHECK.signature(page, SymbolText.of(paragraphs))


@table_of("content", "case_width_white_space_and_punctuation_do_not_count")
def test_case_width_white_space_and_punctuation_do_not_count(same: str) -> None:
    assert signature(same) == signature(TEXT)
    assert signature(*same.split("\n")) == signature(TEXT)


@pytest.mark.parametrize("other", [TEXT + " 1", TEXT.replace("fox", "fax"), TEXT.replace("again and", "and again", 1)])
def test_every_letter_digit_and_their_order_count(other: str) -> None:
    assert signature(other) != signature(TEXT)


@pytest.mark.parametrize(
    ("one", "other"),
    [("-5", "5"), ("−5", "+5"), ("$5", "€5"), ("C++", "C#"), ("A+", "A-"), ("✓ ✗", "✗ ✓"), ("★★★", "★☆☆")],
)
def test_signs_count(one: str, other: str) -> None:
    assert signature(f"{TEXT} So it is {one} today.") != signature(f"{TEXT} So it is {other} today.")


def test_traditional_characters_are_simplified_ones() -> None:
    assert signature(TEXT.replace("系统采用的特征码提取", "系統採用的特徵碼提取")) == signature(TEXT)


def test_numbers_count() -> None:
    price = TEXT + " It costs {} today."
    assert signature(price.format("19.99")) != signature(price.format("19.98"))
    assert signature(price.format("19.99")) != signature(price.format("1999"))


class TestNextToNoText:
    def test_it_abstains_without_a_body(self) -> None:
        assert signature("Photo 3 of 9") is None
        assert signature() is None

    def test_it_abstains_on_equal_captions_and_equal_shells(self) -> None:
        assert signature("Photo 3 of 9", body=b"1" * 16) is None
        assert signature("", body=b"1" * 16) is None

    def test_what_is_no_text_is_compared_by_its_bytes(self) -> None:
        one, two = (Page("", body_digest=digest * 16, body_tells=True) for digest in (b"1", b"2"))
        nothing = SymbolText.of(())
        assert CHECK.signature(one, nothing) == CHECK.signature(one, nothing) is not None
        assert CHECK.signature(one, nothing) != CHECK.signature(two, nothing)

    def test_a_body_is_never_equal_to_a_text(self) -> None:
        text = signature(TEXT, body=b"x" * 16)
        assert text is not None
        body = CHECK.signature(Page("", body_digest=text[1:], body_tells=True), SymbolText.of(()))
        assert body is not None
        assert CHECK.compare(body, text) is None
        assert CHECK.keys(body).tolist() != CHECK.keys(text).tolist()


def test_signatures_are_part_of_the_stored_format() -> None:
    made = signature(TEXT)
    assert made is not None
    assert made.hex() == "54d8dc74facb199f8656db8aaa4c6be089"
    said = "the quick brown fox jumps over the lazy dog again and again and again 系 统 采 用 的 特 征 码 提 取 算 法"
    assert made == b"T" + blake2b(said.encode(), digest_size=16).digest()


def test_they_are_keyed_by_the_secret_of_an_index() -> None:
    page = Page("", body_digest=b"1" * 16, body_tells=True)
    for paragraphs in ((TEXT,), ()):
        secrets = (Secret(bytes(32)), Secret(bytes(31) + b"1"), NO_SECRET)
        made = [CHECK.signature(page, SymbolText.of(paragraphs, secret)) for secret in secrets]
        assert len({*made}) == 3
        assert made[0] == CHECK.signature(page, SymbolText.of(paragraphs, Secret(bytes(32))))
