from __future__ import annotations

import random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.content.own_blocks import OwnBlocks, own_blocks
from dedupcrawl.content.tiles import Symbols

COMMON = np.arange(1000, 1400, dtype=np.uint16) * 2
NEW = np.arange(5000, 5400, dtype=np.uint16) * 2


def joined(*pieces: Symbols) -> Symbols:
    return np.concatenate(pieces)


def test_a_block_says_its_different_symbols_where_it_stands() -> None:
    inside = joined(COMMON[:200], NEW[:40], COMMON[200:])
    assert own_blocks(inside, COMMON) == OwnBlocks(largest=40, inside=40)
    assert own_blocks(joined(COMMON, NEW[:50]), COMMON) == OwnBlocks(after=50)
    assert own_blocks(joined(NEW[:30], COMMON, NEW[50:70]), COMMON) == OwnBlocks(before=30, after=20)
    two = joined(COMMON[:100], NEW[:20], COMMON[100:300], NEW[100:130], COMMON[300:])
    assert own_blocks(two, COMMON) == OwnBlocks(largest=30, inside=50)


def test_what_stands_opposite_is_not_its_own() -> None:
    new = joined(COMMON[:200], NEW[:40], COMMON[240:])
    kept = joined(COMMON[:200], NEW[20:60][::-1], COMMON[240:])
    assert own_blocks(new, kept).largest == 20


def test_words_that_recur_count_a_third() -> None:
    block = np.tile(NEW[:3], 40)
    assert own_blocks(joined(COMMON, block), COMMON) == OwnBlocks(after=40)


def test_blocks_that_moved_are_not_its_own() -> None:
    assert own_blocks(joined(COMMON[200:], COMMON[:200]), COMMON) == OwnBlocks()


@given(st.integers(0, 1 << 32))
def test_never_more_than_there_is(seed: int) -> None:
    chance = random.Random(seed)
    one, two = (
        np.array([2 * chance.randrange(40) for _ in range(chance.randrange(80))], dtype=np.uint16) for _ in range(2)
    )
    found = own_blocks(one, two)
    assert found.largest <= found.inside
    assert found.inside + found.before + found.after <= len(one)
    assert own_blocks(one, one) == OwnBlocks()
