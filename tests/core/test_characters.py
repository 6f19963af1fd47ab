"""Characters and kinds of words."""

from __future__ import annotations

import re
import unicodedata
from html.entities import html5
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dedupcrawl.core import characters, words
from dedupcrawl.core.characters import (
    ALONE,
    CJK,
    DIGIT,
    EXTEND,
    LETTER,
    MARK,
    SIGNS,
    TOUCH,
    TOUCHING,
    UNSPACED,
    VOWEL_SIGNS,
    collapse,
    fold,
    unescape,
)
from dedupcrawl.core.digests import NO_SECRET, Secret
from dedupcrawl.core.symbols import BETWEEN_BLOCKS, SymbolText
from dedupcrawl.core.words import AGO, IDEOGRAPH, KIND, WORDS, kinds_of
from dedupcrawl.core.words import LETTER as WORD_LETTER
from tests.content.definitions import SYMBOL
from tests.core.definitions import ASSIGNED, collapsed, folded, is_assigned, unescaped
from tests.core.test_symbols import SECRET, SECRETS, TEXTS
from tests.fixtures import table_of
from tools import character_tables

EVERY_CHARACTER = "".join(map(chr, range(0x110000)))
# Marks, jamo, compatibility forms, case pairs and emoji stand close together more often than chance would have it.
AWKWARD = st.text(
    ASSIGNED
    | st.sampled_from(
        "ßŉǰΐﬁ…½㎡ⅷ①ＡｂＣｄ，。？！İıſσς數裡−-#+$✓\u0301\u0327\u0345\u0f73\u1100\u1161\u11a8\u11a7가각ｶﾞ\ufb2c\u0958"
        "\u09c7\u09be𝐇😀\ud800\0\n\u00ad\u200b\u200d\ufeff\ufdfa\ufdfb㎯\u321d"
    )
)
TRADITIONAL, SIMPLIFIED = character_tables.SIMPLIFIED.read_text("utf-8").splitlines()


def test_the_tables_are_what_their_definition_makes() -> None:
    if unicodedata.unidata_version == characters.UNICODE_VERSION:
        assert character_tables.made() == character_tables.OUTPUT.read_bytes()
    kinds = character_tables.kinds()
    assert all(kind == kinds[point] for point, kind in enumerate(characters.kinds()) if is_assigned(chr(point)))


def test_kinds_are_those_of_the_definition() -> None:
    expected = np.zeros(0x110000, dtype=np.uint8)
    for pattern, bits in ((SYMBOL, LETTER), (re.compile(f"[{CJK}]+"), ALONE), (re.compile(r"\d"), DIGIT)):
        for run in pattern.finditer(EVERY_CHARACTER):
            expected[run.start() : run.end()] |= bits
    for one in re.finditer(f"[{UNSPACED}]", EVERY_CHARACTER):
        if expected[one.start()] & LETTER:
            expected[one.start()] |= EXTEND if re.fullmatch(f"[{VOWEL_SIGNS}]", one[0]) else ALONE
    expected[[ord(sign) for sign in SIGNS]] |= ALONE
    expected[[ord(sign) for sign in TOUCHING]] = TOUCH  # which it is not only when others stand beside it
    is_common = np.array(list(map(is_assigned, EVERY_CHARACTER)))
    kinds = np.frombuffer(characters.kinds(), dtype=np.uint8)
    assert np.array_equal((kinds & ~np.uint8(MARK))[is_common], expected[is_common])


def test_no_mark_is_a_letter() -> None:
    kinds = characters.kinds()
    assert not any(kind & MARK and kind & LETTER for kind in kinds)
    assert all(kinds[ord(mark)] & MARK for mark in fold(".。，、；：？！“”（）《》…"))


def test_what_is_simplified_stays_as_it_is() -> None:
    assert len(TRADITIONAL) > 4000
    assert fold(TRADITIONAL) == fold(fold(TRADITIONAL)) == SIMPLIFIED
    assert not set(TRADITIONAL) & set(SIMPLIFIED)


def test_every_character_folds_as_unicode_says() -> None:
    for begin in range(0, 0x110000, 64):
        text = "x".join(filter(is_assigned, EVERY_CHARACTER[begin : begin + 64]))
        assert fold(text) == folded(text)
    for one in filter(is_assigned, EVERY_CHARACTER[:0x3000]):  # it may be composed with what stands beside it
        assert fold(f"é{one}é{one}\u0301") == folded(f"é{one}é{one}\u0301")


@given(AWKWARD)
@example("")
def test_texts_fold_as_unicode_says(text: str) -> None:
    assert fold(text) == folded(text)


@given(AWKWARD, AWKWARD)
def test_lines_may_be_folded_one_by_one(first: str, second: str) -> None:
    assert fold(f"{first}\n{second}") == f"{fold(first)}\n{fold(second)}"


@pytest.mark.parametrize("marks", ["\u0301", "\u0301\u0323", "\u0f73ﾞ"])
def test_of_marks_piled_up_thirty_stay(marks: str) -> None:
    def piled(count: int) -> str:
        return "a" + (marks * 20)[:count] + "b"

    assert fold(piled(30)) == unicodedata.normalize("NFKC", piled(30))
    assert fold(piled(31)) == fold(piled(40)) == fold(piled(30))
    assert fold(marks * 20) == unicodedata.normalize("NFKC", (marks * 20)[:30])
    assert fold(f"é{piled(30)}{piled(30)}") == unicodedata.normalize("NFKC", f"é{piled(30)}{piled(30)}")
    assert fold(f"ǖ{marks * 1000}ǖ") == folded(f"ǖ{marks * 1000}ǖ")


def test_a_sequence_has_room_for_the_most_marks() -> None:
    """Of a character, and thirty that begin with marks."""
    ends, piles = 0, 0
    for one in EVERY_CHARACTER:
        is_mark = [unicodedata.combining(part) != 0 for part in unicodedata.normalize("NFKD", one)]
        if is_mark[0]:
            piles = max(piles, len(is_mark))
            assert all(is_mark)
        else:
            ends = max(ends, is_mark[::-1].index(False))
    assert 1 + ends + 30 * piles <= 64


@given(AWKWARD)
@example("㎯㌖\u321d\u1fb7\u0390" * 100)
def test_at_most_two_characters_for_each_byte(text: str) -> None:
    assert len(fold(text)) <= 2 * len(text.encode("utf-8", "surrogatepass"))


def test_no_character_folds_to_more_than_two_for_each_byte_wherever_it_stands() -> None:
    """What it is decomposed to is at most composed, with what follows at its end only; then case is folded."""
    for one in EVERY_CHARACTER[0x80:]:
        parts = [one] if character_tables.expands_too_far(one) else unicodedata.normalize("NFKD", one)
        if (
            one != "\u321d"
        ):  # two syllables in brackets, which are composed of five and compose with nothing beside them
            assert sum(len(part.casefold()) for part in parts) <= 2 * len(one.encode("utf-8", "surrogatepass"))


# Character references.


@pytest.mark.parametrize("after", ["", ";", "x", "x;", "=", "中", "&amp;", "e"])
def test_every_name(after: str) -> None:
    for name in html5:
        for written in (name, name.rstrip(";"), name[:-2]):
            assert unescape(f"&{written}{after}") == unescaped(f"&{written}{after}")


def test_every_number() -> None:
    ends = [number + near for number in (0x110000, 10**8, 10**9, 1 << 31, 1 << 32) for near in range(-2, 3)]
    for number in (*range(0x110000), *ends):
        if number < 0x3000 or number % 0x1000 < 2 or number & 0xFFFE == 0xFFFE or 0xFDC0 < number < 0xFE00:
            for reference in (f"&#{number};", f"&#x{number:x}", f"&#X{number:X};"):
                assert unescape(reference) == unescaped(reference)


PIECES = [
    *"&#xX019aFg;é中",
    "80",
    "9f",
    "amp",
    "amp;",
    "AMP",
    "not",
    "it",
    "nGt;",
    "nLt;",
    "&#1;",
    "&#xfffe;",
    "&#55296;",
]
LONG = ["a" * 31, "CounterClockwiseContourIntegral", "0" * 8, "9" * 9, " ", "\ud800"]


@given(st.lists(st.sampled_from([*PIECES, *LONG]), max_size=12).map("".join))
@example("&nGt;&nLt;" * 100)
@example("&#" + "9" * 5_000 + ";")
@example("&" * 5_000)
def test_references(text: str) -> None:
    assert unescape(text) == unescaped(text)


# White space, and what is no UTF-8.


def test_every_space() -> None:
    assert [one for one in EVERY_CHARACTER if not collapse(one.encode("utf-8", "surrogatepass"))] == [
        one for one in EVERY_CHARACTER if one.isspace()
    ]


EDGES = [*b"aA \n&;\x00\x1c\x7f", *range(0x7F, 0x93), *range(0x9E, 0xA2), *range(0xBE, 0xC4), *range(0xDE, 0x100)]


def test_what_is_no_utf_8_is_replaced_as_by_python() -> None:
    for two in product(range(256), repeat=2):
        assert collapse(bytes(two)) == collapsed(bytes(two), False)
    for lead, more in product((0xC3, 0xE0, 0xE4, 0xED, 0xEF, 0xF0, 0xF3, 0xF4, 0xF5), product(EDGES, repeat=2)):
        for text in (bytes([lead, *more]), bytes([lead, *more, 0x80, 0x61])):
            assert collapse(text) == collapsed(text, False)


MARKUP = st.lists(
    st.sampled_from([piece.encode() for piece in PIECES])
    | st.sampled_from([b"\n", b"\n \t\r\n", b" ", b"\x0b", b"\xc2\x85", b"\xe3\x80\x80", b"\0", b"\x1c", b"x", b"\xff"])
    | st.sampled_from([b"\xe4", b"\xb8", b"\xad", b"\xf0\x9f", b"\xed\xa0\x80"])
    | st.binary(max_size=3),
    max_size=12,
).map(b"".join)


@given(MARKUP, st.booleans())
@example(b"\xe4&#1;\xb8\xad", False)  # what is left out must not make a character of what stands around it
@example(b"\xff" * 1000, False)
@example(b"\n\n" * 1000, True)
def test_collapse(markup: bytes, is_pre: bool) -> None:
    assert collapse(markup, is_pre) == collapsed(markup, is_pre)


def kinds(text: str) -> list[tuple[str, int]]:
    """Each symbol with its kind."""
    made = SymbolText.of((text,))
    return [(symbol, kind & KIND) for symbol, kind in zip(made.symbols, kinds_of(made), strict=True)]


def kind_of(word: str, text: str) -> int:
    return dict(kinds(text))[word]


@table_of("core", "the_kind_of_a_word_in_a_text")
def test_the_kind_of_a_word_in_a_text(word: str, text: str, kind: str) -> None:
    assert kind_of(word, text) == getattr(words, kind)


@given(TEXTS, SECRETS)
def test_each_symbol_and_break_has_a_kind(text: str, secret: Secret) -> None:
    made = SymbolText.of((text,), secret)
    values = memoryview(made.values).cast("H")
    found = kinds_of(made)
    assert len(found) == len(values)
    assert all(kind & KIND <= AGO for kind in found)
    assert all(not kind for value, kind in zip(values, found, strict=True) if value == BETWEEN_BLOCKS)


@given(TEXTS)
def test_kinds_do_not_depend_on_the_secret(text: str) -> None:
    assert kinds_of(SymbolText.of((text,), SECRET)) == kinds_of(SymbolText.of((text,), NO_SECRET))


@pytest.mark.parametrize(
    ("text", "part"), [("北京", IDEOGRAPH), ("カタ", IDEOGRAPH), ("ไม่", WORD_LETTER), ("ភាសា", WORD_LETTER)]
)
def test_an_ideograph_is_half_a_word_and_a_letter_without_spaces_a_quarter(text: str, part: int) -> None:
    assert {kind & (IDEOGRAPH | WORD_LETTER) for kind in kinds_of(SymbolText.of((text,)))} == {part}


@table_of("core", "words_amid_others_without_spaces")
def test_words_amid_others_without_spaces(word: str, text: str, kind: str) -> None:
    made = SymbolText.of((text,))
    begin = made.text.index(word)
    inside = [
        told & KIND
        for told, start in zip(kinds_of(made), made.starts, strict=True)
        if begin <= start < begin + len(word)
    ]
    assert set(inside) == {getattr(words, kind)}


EXCLUSIVE = ("numerals", "dates", "periods", "times", "units", "counters", "negations", "places")


def test_no_word_is_in_two_lists() -> None:
    listed = [word for name in EXCLUSIVE for word in WORDS[name].split()]
    assert sorted(listed) == sorted(set(listed))


@pytest.mark.parametrize("name", EXCLUSIVE)
def test_listed_words_are_folded_and_at_most_two_symbols_where_words_have_spaces(name: str) -> None:
    for word in WORDS[name].split():
        made = SymbolText.of((word,))
        assert made.text == word
        assert len(made) == 1 or all(kind & (IDEOGRAPH | WORD_LETTER) for kind in kinds_of(made)), word


@pytest.mark.parametrize("name", ["place_pairs", "unit_pairs", "counter_pairs"])
def test_listed_pairs_are_two_symbols(name: str) -> None:
    assert {len(SymbolText.of((word,))) for word in WORDS[name].split()} == {2}
