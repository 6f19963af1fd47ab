from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dedupcrawl.core.characters import fold
from dedupcrawl.core.hashing import fmix64_all
from dedupcrawl.core.symbols import SymbolText
from tests.content.definitions import SYMBOL
from tests.core.definitions import ASSIGNED

MASK = (1 << 64) - 1
TEXTS = st.text(
    st.one_of(st.sampled_from("ab1 2_,。\n系统が한é-٣"), ASSIGNED),
    max_size=300,
)


def reference_fmix64(value: int) -> int:
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        value ^= value >> 33
        value = value * factor & MASK
    return value ^ value >> 33


def reference_hash(symbol: str) -> int:
    total = sum(ord(character) * pow(0x9E3779B97F4A7C15, place, 1 << 64) for place, character in enumerate(symbol))
    digit = any(character.isdecimal() for character in symbol)
    return reference_fmix64(total & MASK) & ~1 | digit


@given(TEXTS)
@example("\U0003134b$")  # no letter yet, in the range of those to come
def test_arrays_say_what_the_regular_expression_says(text: str) -> None:
    symbols = SymbolText.of((text,))
    assert symbols.text == fold(text)
    found = list(SYMBOL.finditer(symbols.text))
    assert symbols.symbols == [match[0] for match in found]
    assert symbols.starts.tolist() == [match.start() for match in found]
    assert symbols.lengths.tolist() == [len(match[0]) for match in found]
    assert symbols.hashes.tolist() == [reference_hash(match[0]) for match in found]
    assert symbols.normalized == " ".join(symbols.symbols).encode("utf-8", "surrogatepass")


@pytest.mark.parametrize(
    ("text", "symbols"),
    [
        ("系统采用的特征码", ["系", "统", "采", "用", "的", "特", "征", "码"]),
        ("TiDB 7.5 的 3个region", ["tidb", "7", "5", "的", "3", "个", "region"]),
        ("ＡＢＣ１２３", ["abc123"]),
        ("don't snake_case über-groß", ["don", "t", "snake", "case", "über", "gross"]),
        ("ひらがなカナ 한국어", [*"ひらがなカナ", "한국어"]),
        ("數據庫", ["数", "据", "库"]),
        ("-5 to −7°, 10-20, 2024-05-03", ["-", "5", "to", "-", "7", "10", "20", "2024", "05", "03"]),
        ("$5 or €7", ["$", "5", "or", "€", "7"]),
        ("C, C++, C#, A-", ["c", "c", "+", "c", "#", "a", "-"]),
        ("well-known - # --x ##", ["well", "known", "-", "x"]),
        ("✓ wifi ✗gps ★★☆ ● ©", ["✓", "wifi", "✗", "gps", "★", "★", "☆"]),
        ("", []),
        (" 。，!?\n", []),
    ],
)
def test_symbols(text: str, symbols: list[str]) -> None:
    assert SymbolText.of((text,)).symbols == symbols


def test_hashes_are_part_of_the_stored_format() -> None:
    assert [hex(value) for value in SymbolText.of(("系统 hello 2024 B2B",)).hashes.tolist()] == [
        "0x98b92702d80d791e",
        "0x7fec7f8def9171e6",
        "0x573908193085a6",
        "0x7562d338f83aa81d",
        "0x77c22fb5ce0cf4b7",
    ]


def test_bit_0_tells_numbers_from_words() -> None:
    text = SymbolText.of(("page 3 of x86 九 ٣",))
    assert (text.hashes & np.uint64(1)).tolist() == [0, 1, 0, 1, 0, 1]


def test_case_width_punctuation_and_place_do_not_count() -> None:
    a = SymbolText.of(("Hello, World！ ＡＢＣ",)).hashes
    b = SymbolText.of(("—", "hello", "world (abc)")).hashes
    assert a.tolist() == b.tolist()


def test_hashes_do_not_depend_on_how_long_the_text_is() -> None:
    words = "alpha beta 系统 "
    short = SymbolText.of((words,)).hashes
    long = SymbolText.of((words * 10_000,)).hashes  # hashed in parts
    assert long.tolist() == short.tolist() * 10_000


@pytest.mark.parametrize("run", [65_534, 65_535, 65_536, 65_537, 200_000])
def test_parts_end_between_symbols(run: int) -> None:
    text = SymbolText.of(("ab " * 5 + "x" * run + " 12 " + "系" * run + "\n" + "，" * run + "end",))
    parts = [SymbolText.of((part,)).hashes.tolist() for part in ("ab ", "x" * run, "12", "系", "end")]
    assert text.hashes.tolist() == parts[0] * 5 + parts[1] + parts[2] + parts[3] * run + parts[4]


def test_a_megabyte_without_a_space_is_one_symbol() -> None:
    text = SymbolText.of(("a" * 1_000_000,))
    assert len(text.hashes) == 1
    assert text.lengths.tolist() == [1_000_000]


def test_fmix64_is_the_finalizer_of_murmurhash3() -> None:
    values = [0, 1, 2, 0xDEADBEEF, MASK]
    assert fmix64_all(np.array(values, dtype=np.uint64)).tolist() == [reference_fmix64(value) for value in values]


def test_different_symbols_hash_differently() -> None:
    symbols = [f"{prefix}{number}" for prefix in ("", "a", "b", "ab") for number in range(20_000)]
    assert len(np.unique(SymbolText.of(tuple(symbols)).hashes >> np.uint64(1))) == len(symbols)


def test_what_nobody_sees_breaks_no_word() -> None:
    plain = SymbolText.of(("Donaudampfschiff fährt", "می\u200cخواهم 数据库".replace("\u200c", "")))
    hidden = SymbolText.of(("Donau\u00addampf\u200bschiff\ufeff fährt", "می\u200cخواهم 数\u2060据\u200d库"))
    assert hidden.hashes.tolist() == plain.hashes.tolist()
    assert hidden.text == plain.text
