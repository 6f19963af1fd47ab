"""Each compiled step gives what its NumPy reference gives."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from dedupcrawl.content import kernels
from dedupcrawl.content.alignment import LONGEST, Alignment, Symbols, align
from dedupcrawl.content.checks.base import Keys
from dedupcrawl.content.sides import occurring, sides
from dedupcrawl.content.word_kinds import symbols_of
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.index.catalog import PostingsView
from tests.both_ways import BothWays
from tests.content.test_alignment import FEW, PIECES, joined, symbols

assert_same = BothWays(kernels)
pytestmark = assert_same.needed


def answers(view: PostingsView, prefixes: Keys) -> list[list[int]]:
    """All that a view says of some prefixes."""
    return [view.count(prefixes).tolist(), *(part.tolist() for part in view.find(prefixes))]


EDGES = st.sampled_from([0, 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 2, (1 << 64) - 1])
KEYS = st.lists(EDGES | st.integers(0, 1 << 8) | st.integers(0, (1 << 64) - 1), max_size=60)


@given(KEYS, KEYS, st.sampled_from([0, 1, 8, 32, 63]))
def test_ranges_of_sorted_keys(posted: list[int], wanted: list[int], bits: int) -> None:
    keys = np.sort(np.array(posted, dtype=np.uint64))
    view = PostingsView([(keys, np.arange(keys.size, dtype=np.uint32))] if posted else [], [], bits)
    prefixes = np.array(sorted({key >> bits for key in (*wanted, *posted[::2])}), dtype=np.uint64)
    assert_same(lambda: answers(view, prefixes))


def assert_same_differences(new: Sequence[int], kept: Sequence[int]) -> None:
    one, other = symbols(new), symbols(kept)
    assert_same(lambda: told(align(one, other)))
    assert_same(lambda: both_sides(one, other))


def both_sides(new: Symbols, kept: Symbols) -> list[Any]:
    """All that is told of both texts, every third value of which is furniture, and with some that was taken."""
    found, told = align(new, kept), list[Any]()
    for of in (found, replace(found, new=found.new | (new % 5 == 0), kept=found.kept | (kept % 5 == 1))):
        one, other, tally = sides(new, new % 3 > 0, kept, kept % 3 > 0, of)
        told += [tally, *(part.tolist() for it in (one, other) for part in (it.differs, it.is_new, it.count))]
        told.append(occurring(new, kept))
    return told


def told(found: Alignment) -> tuple[list[bool], list[bool], list[list[int]], int]:
    return found.new.tolist(), found.kept.tolist(), found.pieces.tolist(), found.moves


@given(FEW | PIECES.map(joined), FEW | PIECES.map(joined))
def test_differences(a: list[int], b: list[int]) -> None:
    assert_same_differences(a, b)


TURNING = [
    "five",
    "may",
    "三",
    "一",
    "5",
    "7 9",
    "the",
    "dog",
    "not",
    "never",
    "home",
    "on",
    "off",
    "rose",
    "fell",
    "上",
    "下",
]
WORDED = st.lists(st.sampled_from(TURNING), max_size=40)


@given(WORDED, WORDED, st.lists(st.sampled_from(["alpha", "beta", "gamma", "delta"]), max_size=30))
def test_differences_in_words_that_turn_a_text(new: list[str], kept: list[str], around: list[str]) -> None:
    one, other = (symbols_of(SymbolText.of((" ".join([*around, *it, *around]),))) for it in (new, kept))
    assert_same_differences(one.tolist(), other.tolist())


@given(st.integers(0, 2**32))
def test_differences_of_an_edited_text(seed: int) -> None:
    """Words replaced, left out and put in, blocks moved and repeated; of few words or of many, numbers among them."""
    chance = random.Random(seed)
    vocabulary = chance.choice([4, 40, 3000])
    kept = [chance.randrange(vocabulary) for _ in range(chance.randrange(1, 700))]
    new = kept.copy()
    for _ in range(chance.randrange(40)):
        at, length = chance.randrange(len(new) + 1), chance.choice([1, 1, 1, 3, 8, 30, 200])
        other = [chance.randrange(vocabulary) for _ in range(length)]
        kind = chance.randrange(6)
        if kind == 0:
            new[at : at + length] = other
        elif kind == 1:
            del new[at : at + length]
        elif kind == 2:
            new[at:at] = other
        elif kind == 5:  # two pieces change places
            new[at : at + 12] = [*new[at + 8 : at + 12], *new[at + 4 : at + 8], *new[at : at + 4]]
        else:
            block = new[at : at + length]
            if kind == 3:
                del new[at : at + length]
            to = chance.randrange(len(new) + 1)
            new[to:to] = block
    assert_same_differences(new[:LONGEST], kept)
    assert_same_differences(kept, new[:LONGEST])


@pytest.mark.parametrize("alike", [1, 2, 50])
def test_differences_of_long_gaps(alike: int) -> None:
    chance = random.Random(alike)
    frame, others = [list(range(10_000 + start, 10_000 + start + 20)) for start in (0, 100)]
    new, kept = ([chance.randrange(alike) for _ in range(5000)] for _ in range(2))
    assert_same_differences([*frame, *new, *others], [*frame, *kept, *others])
    assert_same_differences([*frame, *new[:500], *others], [*frame, *kept[:480], *others])


def test_what_is_no_array_of_a_text_is_refused() -> None:
    assert kernels.compiled is not None
    one, flags, marks = symbols([1, 2]), np.ones(2, dtype=np.bool_), np.zeros(1 << 16, dtype=np.uint8)
    for own, piece in ((flags[:1], [0, 2, 0, 1]), (flags, [0, 3, 0, 1]), (flags, [-1, 1, 0, 1]), (flags, [0, 1, 2, 1])):
        pieces, antonyms = np.array([piece], dtype=np.int32), np.zeros(0, dtype=np.uint32)
        with pytest.raises(ValueError, match="not those of these symbols"):
            kernels.compiled.sides(one, own, flags, one, flags, flags, pieces, marks, antonyms)
    with pytest.raises(ValueError, match="too long"):
        kernels.compiled.align(np.zeros(LONGEST + 1, dtype=np.uint16), np.zeros(1, dtype=np.uint16))
