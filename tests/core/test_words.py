"""Kinds of words."""

from __future__ import annotations

import pytest
from hypothesis import given

from dedupcrawl.core.digests import NO_SECRET, Secret
from dedupcrawl.core.symbols import BETWEEN_BLOCKS, SymbolText
from dedupcrawl.core.words import (
    AGO,
    COUNTER,
    DATE,
    FUNCTION,
    IDEOGRAPH,
    KIND,
    LETTER,
    NAME,
    NEGATION,
    NUMBER,
    NUMERAL,
    PARTICLE,
    SIGN,
    TIME,
    UNIT,
    WORD,
    WORDS,
    kinds_of,
)
from tests.core.test_symbols import SECRET, SECRETS, TEXTS


def kinds(text: str) -> list[tuple[str, int]]:
    """Each symbol with its kind."""
    made = SymbolText.of((text,))
    return [(symbol, kind & KIND) for symbol, kind in zip(made.symbols, kinds_of(made), strict=True)]


def kind_of(word: str, text: str) -> int:
    return dict(kinds(text))[word]


@pytest.mark.parametrize(
    ("word", "text", "kind"),
    [
        ("smith", "We met Smith there", NAME),
        ("smith", "We met Mr. Smith there", NAME),
        ("was", "It ended. Was it good", FUNCTION),
        ("children", "It ended. Children left", WORD),
        ("paris", "in paris", NAME),
        ("京", "在北京", NAME),
        ("北", "北部", WORD),
        ("not", "it is not so", NEGATION),
        ("kein", "das ist kein Haus", NEGATION),
        ("не", "это не так", NEGATION),
        ("on", "it is on", PARTICLE),
        ("the", "the house", FUNCTION),
        ("views", "12 views", COUNTER),
        ("阅", "阅读 12", COUNTER),
        ("euros", "30 euros", UNIT),
        ("years", "30 years in prison", UNIT),
        ("30", "30 years in prison", NUMBER),
        ("1.500", "1.500 people", NUMBER),
        ("1,500", "1,500 people", NUMBER),
        ("five", "five people", NUMERAL),
        ("三", "三个人", NUMERAL),
        ("vii", "chapter VII", NUMERAL),
        ("b", "Plumber in part B", NUMERAL),
        ("%", "50% of it", SIGN),
        ("<", "if a<b", SIGN),
        ("-", "at -5 degrees", SIGN),
        ("may", "on 5 May", DATE),
        ("5", "on 5 May", DATE),
        ("12", "at 12:30", DATE),
        ("2", "they won 2:1", NUMBER),
        ("3", "3-4 people", NUMBER),
        ("21.3.2024", "on 21.3.2024", DATE),
        ("5", "3月5日", DATE),
        ("三", "三月五日", DATE),
        ("2024", "2024年", DATE),
        ("30", "30年", NUMBER),
        ("pm", "at 5 pm", TIME),
        ("3", "3 weeks ago", DATE),
        ("weeks", "2 years 3 weeks ago", DATE),
        ("3", "3天前", DATE),
    ],
)
def test_the_kind_of_a_word_in_a_text(word: str, text: str, kind: int) -> None:
    assert kind_of(word, text) == kind


def test_each_part_of_a_date_is_one() -> None:
    assert {kind for _, kind in kinds("2024-03-21 and 3/21/2024")[:3]} == {DATE}


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


@pytest.mark.parametrize(("text", "part"), [("北京", IDEOGRAPH), ("カタ", IDEOGRAPH), ("ไม่", LETTER), ("ភាសា", LETTER)])
def test_an_ideograph_is_half_a_word_and_a_letter_without_spaces_a_quarter(text: str, part: int) -> None:
    assert {kind & (IDEOGRAPH | LETTER) for kind in kinds_of(SymbolText.of((text,)))} == {part}


@pytest.mark.parametrize(
    ("word", "text", "kind"),
    [
        ("สาม", "ราคาสามร้อยบาท", NUMERAL),
        ("มกราคม", "วันที่ 3 มกราคม 2567", DATE),
        ("ไม่ได้", "เขาไม่ได้มา", NEGATION),
    ],
)
def test_words_amid_others_without_spaces(word: str, text: str, kind: int) -> None:
    made = SymbolText.of((text,))
    begin = made.text.index(word)
    inside = [
        told & KIND
        for told, start in zip(kinds_of(made), made.starts, strict=True)
        if begin <= start < begin + len(word)
    ]
    assert set(inside) == {kind}


EXCLUSIVE = ("numerals", "dates", "periods", "times", "units", "counters", "negations", "places")


def test_no_word_is_in_two_lists() -> None:
    listed = [word for name in EXCLUSIVE for word in WORDS[name].split()]
    assert sorted(listed) == sorted(set(listed))


@pytest.mark.parametrize("name", EXCLUSIVE)
def test_listed_words_are_folded_and_at_most_two_symbols_where_words_have_spaces(name: str) -> None:
    for word in WORDS[name].split():
        made = SymbolText.of((word,))
        assert made.text == word
        assert len(made) == 1 or all(kind & (IDEOGRAPH | LETTER) for kind in kinds_of(made)), word


@pytest.mark.parametrize("name", ["place_pairs", "unit_pairs", "counter_pairs"])
def test_listed_pairs_are_two_symbols(name: str) -> None:
    assert {len(SymbolText.of((word,))) for word in WORDS[name].split()} == {2}
