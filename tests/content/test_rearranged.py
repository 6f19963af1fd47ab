from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.content.blocks import Blocks, with_breaks
from dedupcrawl.content.rearranged import rearranged
from dedupcrawl.content.symbols import SymbolText

NAMES = ["Green", "Miller", "Adams", "Novak", "Weber", "Rossi", "Silva", "Kim", "Costa"]
OTHER_ORDER = ["Novak", "Green", "Rossi", "Miller", "Costa", "Adams", "Kim", "Weber", "Silva"]


def of(new: list[str], kept: list[str]) -> int:
    one, other = (Blocks.of(with_breaks(SymbolText.of(tuple(text)))) for text in (new, kept))
    return rearranged(one.symbols, other.symbols, one.changed(other))


def standings(names: list[str]) -> list[str]:
    return [
        f"Place {row} of the table this week is held by {name} after the last round." for row, name in enumerate(names)
    ]


def test_names_that_arrive_in_rows_that_stay() -> None:
    assert of(standings(OTHER_ORDER), standings(NAMES)) >= 3
    assert of(standings(NAMES), standings(NAMES)) == 0


def test_rows_that_moved_as_they_are() -> None:
    rows = standings(NAMES)
    assert of(rows[::-1], rows) == 0


@given(st.lists(st.sampled_from(NAMES), max_size=40), st.lists(st.sampled_from(NAMES), max_size=40))
def test_total(new: list[str], kept: list[str]) -> None:
    here, there = [" ".join(new)], [" ".join(kept)]
    assert 0 <= of(here, there) <= len(new)
    one, other = (Blocks.of(with_breaks(SymbolText.of(tuple(text)))).symbols for text in (here, there))
    assert rearranged(one, other, np.zeros(len(one), dtype=np.bool_)) == 0
