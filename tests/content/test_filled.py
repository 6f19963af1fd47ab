from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.content.alignment import differences
from dedupcrawl.content.filled import filled
from dedupcrawl.content.symbols import SymbolText
from dedupcrawl.content.wording import symbols_of

ROWS = "the first team of {} meets the second team of {} on the ground at the river {}"
TOWNS = ["Alder", "Birch", "Cedar", "Dogwood", "Elm", "Fir", "Gum", "Hazel", "Ivy", "Juniper"]


def of(new: str, kept: str) -> int:
    one, other = (symbols_of(SymbolText.of((text,))) for text in (new, kept))
    return filled(one, other, differences(one, other).pieces)


def rows(*said: str) -> str:
    return "\n".join(ROWS.format(TOWNS[2 * row], TOWNS[2 * row + 1], words) for row, words in enumerate(said))


@pytest.mark.parametrize(
    ("kept", "new", "slots"),
    [
        (rows("", "", "", "", ""), rows("31 17", "24", "", "", ""), 3),
        (rows(*["TBA"] * 5), rows("31", "24", "17", "52", "TBA"), 4),
        (rows("31", "24", "17", "52", "8"), rows("12", "25", "18", "53", "9"), 0),
        (rows("31 17", "24", "", "", ""), rows("", "", "", "", ""), 0),
        (rows("", "7", "", "", ""), rows("7", "7", "", "", ""), 0),
        (rows(*TOWNS[:5]), rows("31", "24", "17", "52", "8"), 0),
    ],
    ids=[
        "put in",
        "in place of one word",
        "other numbers",
        "taken out",
        "a number that stands there",
        "of other words",
    ],
)
def test_slots(kept: str, new: str, slots: int) -> None:
    assert of(new, kept) == slots


@given(st.text("ab1 2\n", max_size=60), st.text("ab1 2\n", max_size=60))
def test_no_more_slots_than_numbers(new: str, kept: str) -> None:
    assert (
        0 <= of(new, kept) <= sum(symbol.isdigit() or not symbol.isalpha() for symbol in SymbolText.of((new,)).symbols)
    )
    assert of(new, new) == 0
