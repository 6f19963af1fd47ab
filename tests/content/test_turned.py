from __future__ import annotations

import pytest

from dedupcrawl.content.alignment import differences
from dedupcrawl.content.opposites import opposites
from dedupcrawl.content.symbols import SymbolText
from dedupcrawl.content.turned import Turned, turned
from dedupcrawl.content.wording import symbols_of

AROUND = "The town council met on the second floor of the school and heard what {} of the plan for the harbour road."


def of(new: str, kept: str) -> Turned:
    one, other = (symbols_of(SymbolText.of((text,))) for text in (new, kept))
    return turned(one, other, differences(one, other).pieces)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("is safe", "is not safe"),
        ("can go on", "can't go on"),
        ("can pass", "cannot pass"),
        ("rose", "fell"),
        ("was guilty", "was innocent"),
        ("they agree", "they disagree"),
        ("won", "lost"),
        ("the lamp is on", "the lamp is off"),
        ("before noon", "after noon"),
        ("is above", "is below"),
        ("more comes", "less comes"),
        ("this and that", "this or that"),
        ("he said", "she said"),
        ("you must stay", "you may stay"),
        ("价格上升了", "价格下降了"),
        ("这是合法的", "这是非法的"),
        ("可以使用", "不可以使用"),
        ("请启用它", "请禁用它"),
    ],
)
def test_opposites_and_negations_are_contrary(one: str, other: str) -> None:
    assert of(AROUND.format(one), AROUND.format(other)).contrary == 1
    assert of(AROUND.format(other), AROUND.format(one)).contrary == 1


@pytest.mark.parametrize(
    ("one", "other"), [("the baker said", "the clerk said"), ("was said", "had been said"), ("a", "")]
)
def test_other_words_are_not(one: str, other: str) -> None:
    assert of(AROUND.format(one), AROUND.format(other)).contrary == 0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Anna Berg sues Omar Haddad over the house", "Omar Haddad sues Anna Berg over the house"),
        ("1 Anna Berg 2 Omar Haddad 3 Lin Wei", "1 Lin Wei 2 Anna Berg 3 Omar Haddad"),
        ("the Foxes beat the Bears", "the Bears beat the Foxes"),
    ],
)
def test_names_that_change_places_have_moved(one: str, other: str) -> None:
    assert of(AROUND.format(one), AROUND.format(other)).moved >= 2


def test_a_short_line_that_moved_says_the_same() -> None:
    text = SymbolText.of(("Opening hours", AROUND.format("they think"), "Read on"))
    other = SymbolText.of((AROUND.format("they think"), "Opening hours", "Read on"))
    one, two = symbols_of(text), symbols_of(other)
    assert turned(one, two, differences(one, two).pieces) == Turned()


def test_opposites_are_so_both_ways_and_of_no_word_itself() -> None:
    found = opposites()
    assert all(one in found[other] and one != other for one, others in found.items() for other in others)
