"""Symbols and blocks of texts."""

from __future__ import annotations

import struct
from array import array

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dedupcrawl.core.characters import LETTER, fold
from dedupcrawl.core.digests import NO_SECRET, Secret
from dedupcrawl.core.hashing import tokens
from dedupcrawl.core.symbols import BETWEEN_BLOCKS, SymbolText, blocks_of, vocabulary_of
from tests.core.definitions import ASSIGNED
from tests.core.markup import ARTICLES
from tests.core.reading import read
from tests.core.reference import symbols as reference

SECRET = Secret(bytes(range(32)))
SECRETS = st.sampled_from([NO_SECRET, SECRET])
PIECES = (
    *("-", "#", "+", "$", "數", "a", "the", "word", "7", "1998", "May", "ago", "的", "中文", "カタ", "é"),
    *("🙂", "\ud800", " ", ", ", ". ", "。", "\n", "\n\n", "http://a.b/c", "https://", "www.x", "www. "),
)
TEXTS = st.lists(st.sampled_from(PIECES), max_size=80).map("".join) | st.text(
    st.sampled_from("ab1 2_,。\n系统が한é-٣\u00ad\u0301") | ASSIGNED, max_size=200
)


def assert_same(text: SymbolText, expected: reference.SymbolText) -> None:
    found = expected.found
    assert text.text == expected.text
    assert len(text) == len(found)
    assert text.symbols == [match[0] for match in found]
    assert text.starts == [match.start() for match in found]
    assert text.lengths == [len(match[0]) for match in found]
    assert text.hashes.tolist() == [reference.symbol_hash(match[0], expected.secret) for match in found]
    assert text.normalized == " ".join(match[0] for match in found).encode("utf-8", "surrogatepass")
    assert text.values == struct.pack(f"<{len(expected.values)}H", *expected.values)
    hashes = [reference.skeleton_hash(block, expected.secret) for block in expected.blocks]
    assert text.block_hashes == hashes
    assert text.lines == {hashed: min(len(block), 255) for hashed, block in zip(hashes, expected.blocks, strict=True)}
    assert text.block_lines == [number for number, line in enumerate(expected.lines_of_text) if line]
    assert [count for _, count in text.block_places] == list(map(len, expected.blocks))
    assert [first for first, _ in text.block_places] == [
        sum(map(len, expected.blocks[:number])) for number in range(len(hashes))
    ]
    assert text.secret == expected.secret


@settings(max_examples=200)
@given(TEXTS, SECRETS)
@example("\U0003134b$", NO_SECRET)  # no letter yet, in the range of those to come
@example("", NO_SECRET)
def test_a_text_is_what_the_reference_says(text: str, secret: Secret) -> None:
    made = SymbolText.of((text,), secret)
    assert_same(made, reference.SymbolText(fold(text), secret))
    assert_same(made.without_urls(), reference.SymbolText(fold(text), secret).without_urls())


@given(st.lists(TEXTS, max_size=4).map(tuple), SECRETS, st.lists(st.booleans(), max_size=40))
def test_the_text_without_blocks_has_what_is_kept(lines: tuple[str, ...], secret: Secret, flags: list[bool]) -> None:
    text = SymbolText.of(lines, secret)
    expected = reference.SymbolText(fold("\n".join(lines)), secret).without(flags)
    made = text.without(bytes(flags))
    assert (made.text, made.symbols) == (expected.text, [match[0] for match in expected.found])
    assert (made.starts, made.values) == (
        [match.start() for match in expected.found],
        struct.pack(f"<{len(expected.values)}H", *expected.values),
    )
    assert made.block_hashes == [reference.skeleton_hash(block, secret) for block in expected.blocks]


@given(TEXTS, st.integers(0, 60))
def test_blocks_within_so_many_values(text: str, most: int) -> None:
    made = SymbolText.of((text,))
    ends = [first + size + number for number, (first, size) in enumerate(made.block_places)]
    assert made.blocks_within(most) == sum(end <= most for end in ends)


@given(TEXTS)
def test_kinds_say_which_characters_are_of_symbols(text: str) -> None:
    made = SymbolText.of((text,))
    inside = {
        at for start, length in zip(made.starts, made.lengths, strict=True) for at in range(start, start + length)
    }
    letters = {at for at, kind in enumerate(made.kinds) if kind & LETTER}
    assert letters <= inside
    assert {made.text[at] for at in inside - letters} <= set(".,"), "amid a number"


@given(ARTICLES, SECRETS)
def test_a_page_has_the_symbols_of_its_lines(markup: bytes, secret: Secret) -> None:
    page = read(markup)
    texts = page.main_text(secret), *page.beside(secret)
    for text, lines in zip(texts, (page.paragraphs, page.asides, page.link_lines, page.secondary), strict=True):
        of_lines = SymbolText.of(lines, secret)
        assert (text.text, text.hashes.tolist()) == (of_lines.text, of_lines.hashes.tolist())
        assert (text.block_hashes, text.block_lines) == (of_lines.block_hashes, of_lines.block_lines)


@given(st.lists(st.integers(0, 3) | st.integers(0, 2**16 - 1), max_size=60), SECRETS)
def test_blocks_of_an_outline(values: list[int], secret: Secret) -> None:
    blocks, begin = list[list[int]](), 0
    for at in [*(at for at, value in enumerate(values) if value == BETWEEN_BLOCKS), len(values)]:
        blocks += [values[begin:at]] if begin < at else []
        begin = at + 1
    kinds = bytes(at % 251 for at in range(len(values)))
    symbols, kept_kinds, ends, hashes = blocks_of(struct.pack(f"<{len(values)}H", *values), kinds, secret)
    kept = [value for block in blocks for value in block]
    assert symbols == struct.pack(f"<{len(kept)}H", *kept)
    assert kept_kinds == bytes(kind for kind, value in zip(kinds, values, strict=True) if value != BETWEEN_BLOCKS)
    assert ends == [sum(map(len, blocks[: number + 1])) for number in range(len(blocks))]
    assert hashes == [reference.skeleton_hash(block, secret) for block in blocks]


@given(TEXTS, SECRETS)
def test_the_blocks_of_a_text_are_those_of_its_outline(text: str, secret: Secret) -> None:
    made = SymbolText.of((text,), secret)
    assert blocks_of(made.values, bytes(len(made.values) // 2), secret)[3] == made.block_hashes


@pytest.mark.parametrize(
    ("text", "symbols"),
    [
        ("系统采用的特征码", ["系", "统", "采", "用", "的", "特", "征", "码"]),
        ("TiDB 7.5 的 3个region", ["tidb", "7.5", "的", "3", "个", "region"]),
        ("ＡＢＣ１２３", ["abc123"]),
        ("don't snake_case über-groß", ["don", "t", "snake", "case", "über", "gross"]),
        ("ひらがなカナ 한국어", [*"ひらがなカナ", "한국어"]),
        ("數據庫", ["数", "据", "库"]),
        ("-5 to −7°, 10-20, 2024-05-03", ["-", "5", "to", "-", "7", "10", "20", "2024", "05", "03"]),
        ("$5 or €7", ["$", "5", "or", "€", "7"]),
        ("C, C++, C#, A-", ["c", "c", "+", "+", "c", "#", "a", "-"]),
        ("well-known - # --x ##", ["well", "known", "-", "x"]),
        ("1.500, 1,500 2010,2011 v2.0. 1. 12:30", ["1.500", "1,500", "2010", "2011", "v2.0", "1", "12", "30"]),
        ("a<b && a+b 50%", ["a", "<", "b", "&", "&", "a", "+", "b", "50", "%"]),
        ("ไม่ไป ၃၀ ខ្មែរ हिन्दी", ["ไ", "ม่", "ไ", "ป", "၃", "၀", "ខ្", "មែ", "រ", "हिन्दी"]),
        ("✓ wifi ✗gps ★★☆ ● ©", ["✓", "wifi", "✗", "gps", "★", "★", "☆"]),
        ("", []),
        (" 。，!?\n", []),
    ],
)
def test_symbols(text: str, symbols: list[str]) -> None:
    assert SymbolText.of((text,)).symbols == symbols


RECORDED = {
    NO_SECRET: "fc28e64bc1da4512 befefa619c4194dc e7d73d18158ed342 409826386573edef 398ddaf6fdaf67d5 994d25a5 5fe65065",
    SECRET: "10df15c184de5a70 27abaf58eb47f072 68cad9349b109350 c71fb8135130fb5 2a429249495e9dad 4f5d005a 5fe65065",
}
"""Hashes of symbols, and of blocks, by the secret of their index."""


@pytest.mark.parametrize("secret", RECORDED, ids=["none", "secret"])
def test_hashes_are_part_of_the_stored_format(secret: Secret) -> None:
    text = SymbolText.of(("系统 hello", "2024 B2B"), secret)
    assert " ".join(f"{value:x}" for value in (*text.hashes.tolist(), *text.block_hashes)) == RECORDED[secret]


def test_another_secret_makes_other_hashes_of_the_same_symbols() -> None:
    words = tuple(f"word{number}" for number in range(1000))
    one, other = (SymbolText.of(words, secret) for secret in (NO_SECRET, SECRET))
    assert one.symbols == other.symbols
    assert not set(one.hashes.tolist()) & set(other.hashes.tolist())
    assert [one & 1 for one in one.hashes] == [one & 1 for one in other.hashes]


def test_bit_0_tells_numbers_from_words() -> None:
    text = SymbolText.of(("page 3 of x86 九 ٣",))
    assert [one & 1 for one in text.hashes] == [0, 1, 0, 1, 0, 1]


def test_case_width_punctuation_and_place_do_not_count() -> None:
    a = SymbolText.of(("Hello, World！ ＡＢＣ",)).hashes
    b = SymbolText.of(("—", "hello", "world (abc)")).hashes
    assert a.tolist() == b.tolist()


def test_hashes_do_not_depend_on_how_long_the_text_is() -> None:
    words = "alpha beta 系统 "
    short = SymbolText.of((words,)).hashes
    assert SymbolText.of((words * 10_000,)).hashes.tolist() == short.tolist() * 10_000


def test_a_megabyte_without_a_space_is_one_symbol() -> None:
    text = SymbolText.of(("a" * 1_000_000,))
    assert len(text) == 1
    assert text.lengths == [1_000_000]


def test_fmix64_is_the_finalizer_of_murmurhash3() -> None:
    values = [0, 1, 2, 0xDEADBEEF, reference.MASK]
    upper = [reference.fmix64(value) >> 32 for value in values]
    assert tokens(array("Q", values), 0, 0) == array("I", upper).tobytes()


def test_different_symbols_hash_differently() -> None:
    symbols = [f"{prefix}{number}" for prefix in ("", "a", "b", "ab") for number in range(20_000)]
    assert len({one >> 1 for one in SymbolText.of(tuple(symbols)).hashes}) == len(symbols)


def test_what_nobody_sees_breaks_no_word() -> None:
    plain = SymbolText.of(("Donaudampfschiff fährt", "میخواهم 数据库"))
    hidden = SymbolText.of(("Donau\u00addampf\u200bschiff\ufeff fährt", "می\u200cخواهم 数\u2060据\u200d库"))
    assert hidden.hashes.tolist() == plain.hashes.tolist()
    assert hidden.text == plain.text


# Blocks


def blocks(*lines: str) -> list[int]:
    return SymbolText.of(lines).block_hashes


def test_case_and_punctuation_do_not_count_and_every_word_does() -> None:
    assert blocks("Read more …") == blocks("READ MORE")
    assert blocks("Read more") != blocks("Read more 3")


def test_a_clock_and_a_counter_are_slots_that_keep_their_hash() -> None:
    assert blocks("Read 2862 times") == blocks("Read 17 times")
    assert blocks("Mon Jan 05, 2004 4:33 pm") == blocks("Fri Mar 19, 2010 11:02 am")
    assert blocks("Read 2862 times") != blocks("Sent 2862 times")


def test_what_has_no_flag_stays() -> None:
    text = SymbolText.of(("One", "-", "Two", "Three"))
    assert text.without(b"\1").text == "-\ntwo\nthree"
    assert text.without(b"\0\1\1").text == "one\n-"
    assert text.without(b"\1\1\1").text == "-"
    assert text.without(b"").text == text.text


def test_a_symbol_whose_hash_begins_with_zeros_is_no_break() -> None:
    word = next(
        word for word in (f"w{number}x" for number in range(10**6)) if reference.symbol_hash(word, NO_SECRET) >> 49 == 0
    )
    text = SymbolText.of((f"{word} and", "more"))
    assert text.hashes.tolist()[0] >> 49 == 0
    assert struct.unpack("<4H", text.values).count(BETWEEN_BLOCKS) == 1
    assert blocks_of(text.values, bytes(4))[2] == [2, 3]


def test_an_outline_with_too_few_kinds_is_refused() -> None:
    with pytest.raises(ValueError, match="too few kinds"):
        blocks_of(b"\2\0\4\0", b"\1")


def test_the_table_of_skeletons_is_what_blocks_are_known_by() -> None:
    table = vocabulary_of(SECRET).skeleton_table
    assert len(table) == 1 << 16
    for values in ([2, 4], [3, 4], [table.tolist().index(1), 4]):
        skeleton = [table[value] for value in values]
        assert reference.skeleton_hash(values, SECRET) == reference.skeleton_hash(skeleton, SECRET)
