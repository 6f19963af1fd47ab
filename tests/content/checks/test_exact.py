"""The checks exact and title, the registry of checks, and probes that miss no page a search finds."""

from __future__ import annotations

from hashlib import blake2b

import pytest

from dedupcrawl.content.checks.exact import ExactCheck
from dedupcrawl.content.checks.registry import CHECK_NAMES, DEFAULT_CHECKS, PARAMETERS, make_checks
from dedupcrawl.content.checks.title import MOST_PAGES, TitleCheck
from dedupcrawl.core.digests import NO_SECRET, Secret
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.page import Page
from tests.content.postings import keepers, posted
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


TITLE = TitleCheck()
TITLED = "Twenty words are what it takes for a page to be looked for at all, and these are some more than that."


def title_signature(url: str, title: str, text: str = TITLED) -> bytes | None:
    return TITLE.signature(Page(url, title=title, paragraphs=(text,)), SymbolText.of((text,)))


def test_pages_of_one_host_and_title_are_found() -> None:
    made = title_signature("http://www.a.example/1", "Red  Kettle")
    assert made is not None
    assert made == title_signature("http://a.example/2?sort=up", "red kettle", TITLED + " Sold out.")
    assert title_signature("http://a.example/1", "茶壶的历史") == title_signature("http://a.example/2", "茶壺的歷史")
    assert keepers(TITLE, made, {7: made}) == {7: 1.0}


@pytest.mark.parametrize(
    ("url", "title"),
    [("http://b.example/1", "Red kettle"), ("http://a.example/1", "Red kettles"), ("http://a.example/1", " ")],
)
def test_of_another_host_or_title_none_is(url: str, title: str) -> None:
    assert title_signature(url, title) != title_signature("http://a.example/2", "Red kettle")


def test_a_page_of_a_few_words_is_not_looked_for() -> None:
    assert title_signature("http://a.example/1", "Red kettle", "Sold out.") is None


def test_a_title_of_many_pages_is_none_of_theirs() -> None:
    made = title_signature("http://a.example/1", "Kettles & Co.")
    assert made is not None
    for count, found in ((MOST_PAGES, MOST_PAGES), (MOST_PAGES + 1, 0)):
        assert len(TITLE.candidates(made, posted(TITLE, dict.fromkeys(range(count), made)))) == found


BY_NAME = {parameter.name: parameter for parameter in PARAMETERS}
TEXT_OF_REGISTRY = SymbolText.of(
    tuple(f"Paragraph {n} holds some words, as every paragraph does, and number {n * n}." for n in range(30))
)
PAGE = Page("http://a.example/", title="Some words", paragraphs=tuple(TEXT_OF_REGISTRY.text.split("\n")))


def test_names() -> None:
    assert {"exact", "feature_code", "simhash", "shingles"} <= set(CHECK_NAMES)
    assert set(DEFAULT_CHECKS) <= set(CHECK_NAMES)
    assert [check.name for check in make_checks(CHECK_NAMES, {})] == list(CHECK_NAMES)
    assert [check.name for check in make_checks(["simhash", "exact"], {})] == ["simhash", "exact"]


@pytest.mark.parametrize("name", CHECK_NAMES)
def test_every_check_keeps_its_contract(name: str) -> None:
    (check,) = make_checks([name], {})
    made = check.signature(PAGE, TEXT_OF_REGISTRY)
    assert made is not None
    assert check.compare(made, made) == pytest.approx(1.0)
    assert check.keys(made).typecode == "Q"
    assert 0 <= check.payload_bits < 64
    assert check.signature(Page("http://a.example/"), SymbolText.of(())) is None


@pytest.mark.parametrize("parameter", PARAMETERS, ids=lambda parameter: parameter.name)
def test_every_parameter_reads_its_default_also_as_a_string(parameter: object) -> None:
    name = getattr(parameter, "name", "")
    default = BY_NAME[name].default
    assert BY_NAME[name].read(default) == default
    assert BY_NAME[name].read(str(default)) == default
    assert BY_NAME[name].takes
    assert BY_NAME[name].about.endswith(".")


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("SIMHASH_DISTANCE", 8),
        ("SIMHASH_DISTANCE", -1),
        ("SIMHASH_DISTANCE", 2.5),
        ("SIMHASH_DISTANCE", True),
        ("SIMHASH_DISTANCE", "three"),
        ("SIMHASH_DISTANCE", None),
        ("SIMHASH_DISTANCE", float("inf")),
        ("REPEATABILITY", 0.5),
        ("REPEATABILITY", 1.01),
        ("REPEATABILITY", float("nan")),
        ("REPEATABILITY", True),
        ("IEU_SHARE", 0),
        ("SHINGLES_SHARE", 0),
        ("IEU_LENGTH", 0),
        ("CODE_ANCHORS", "all"),
        ("CODE_ANCHORS", 3),
        ("SIMHASH_FEATURES", []),
        ("EXACT_MIN_SYMBOLS", 0),
    ],
)
def test_a_wrong_value_is_refused(name: str, wrong: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        BY_NAME[name].read(wrong)
