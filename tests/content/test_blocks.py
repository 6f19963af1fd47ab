"""Paragraphs of an outline: their hashes, and a text without some of them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.content.main_outline import BREAK, Blocks, with_breaks, without_blocks
from dedupcrawl.content.word_kinds import symbols_of
from dedupcrawl.core.symbols import SymbolText

PARAGRAPHS = st.lists(st.text("ab1 .系统\n…", max_size=12), max_size=8).map(tuple)


def blocks(*paragraphs: str) -> Blocks:
    return Blocks.of(with_breaks(SymbolText.of(paragraphs)))


@given(PARAGRAPHS)
def test_a_block_is_a_line_with_symbols_and_is_known_by_them_alone(paragraphs: tuple[str, ...]) -> None:
    text = SymbolText.of(paragraphs)
    lines = [line for line in text.text.split("\n") if len(SymbolText(line).hashes)]
    found = Blocks.of(with_breaks(text))
    assert found.hashes == [blocks(line).hashes[0] for line in lines]
    assert found.symbols.tolist() == [symbol for line in lines for symbol in blocks(line).symbols.tolist()]


@given(st.text(max_size=60))
def test_no_symbol_is_a_break(text: str) -> None:
    found = SymbolText.of((text.replace("\n", " "),))
    assert len(with_breaks(found)) == len(symbols_of(found))
    assert BREAK not in with_breaks(found)


@given(PARAGRAPHS, st.lists(st.booleans(), min_size=60, max_size=60))
def test_the_text_without_blocks_has_the_symbols_that_are_kept(paragraphs: tuple[str, ...], flags: list[bool]) -> None:
    text = SymbolText.of(paragraphs)
    found = Blocks.of(with_breaks(text))
    left_out = flags[: len(found.ends)]
    own = SymbolText(without_blocks(text, Blocks.of(with_breaks(text)).ends, left_out))
    assert symbols_of(own).tolist() == symbols_of(text)[found.keep(left_out)].tolist()


def test_what_has_no_flag_stays() -> None:
    text = SymbolText.of(("One", "-", "Two", "Three"))
    assert without_blocks(text, [1], [True]) == "-\ntwo\nthree"
    assert without_blocks(text, [1, 2, 3], [False, True, True]) == "one\n-"
    assert without_blocks(text, [1, 2, 3], [True] * 3) == "-"


def test_case_and_punctuation_do_not_count_and_every_word_does() -> None:
    assert blocks("Read more …").hashes == blocks("READ MORE").hashes
    assert blocks("Read more").hashes != blocks("Read more 3").hashes


def test_a_clock_and_a_counter_are_slots_that_keep_their_hash() -> None:
    assert blocks("Read 2862 times").hashes == blocks("Read 17 times").hashes
    assert blocks("Mon Jan 05, 2004 4:33 pm").hashes == blocks("Fri Mar 19, 2010 11:02 am").hashes
    assert blocks("Read 2862 times").hashes != blocks("Sent 2862 times").hashes


def test_hashes_are_part_of_the_stored_format() -> None:
    assert blocks("系统 hello", "2024 B2B").hashes == [617957027, 1608929381]
    assert blocks().hashes == []
    assert np.array_equal(blocks("a b", "c").symbols, blocks("a b c").symbols)


def test_a_symbol_whose_hash_begins_with_zeros_is_no_break() -> None:
    word = "eiha"
    assert symbols_of(SymbolText(word)).tolist() == [0]
    assert with_breaks(SymbolText(f"{word} and\nmore")).tolist().count(BREAK) == 1
    assert len(blocks(f"{word} and", "more").symbols) == 3
