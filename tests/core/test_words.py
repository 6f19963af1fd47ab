"""Kinds of words."""

from __future__ import annotations

import pytest
from hypothesis import given

from dedupcrawl.core import words
from dedupcrawl.core.digests import NO_SECRET, Secret
from dedupcrawl.core.symbols import BETWEEN_BLOCKS, SymbolText
from dedupcrawl.core.words import (
    AGO,
    IDEOGRAPH,
    KIND,
    LETTER,
    WORDS,
    kinds_of,
)
from tests.core.test_symbols import SECRET, SECRETS, TEXTS
from tests.fixtures import table_of


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


@pytest.mark.parametrize(("text", "part"), [("北京", IDEOGRAPH), ("カタ", IDEOGRAPH), ("ไม่", LETTER), ("ភាសា", LETTER)])
def test_an_ideograph_is_half_a_word_and_a_letter_without_spaces_a_quarter(text: str, part: int) -> None:
    assert {kind & (IDEOGRAPH | LETTER) for kind in kinds_of(SymbolText.of((text,)))} == {part}


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
        assert len(made) == 1 or all(kind & (IDEOGRAPH | LETTER) for kind in kinds_of(made)), word


@pytest.mark.parametrize("name", ["place_pairs", "unit_pairs", "counter_pairs"])
def test_listed_pairs_are_two_symbols(name: str) -> None:
    assert {len(SymbolText.of((word,))) for word in WORDS[name].split()} == {2}
