"""Alignment: what stands in both of two sequences, and the pieces that differ."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.content.alignment import Alignment, Symbols, align, differing

FEW = st.lists(st.integers(1, 4), max_size=40)
"""Sequences in which everything occurs many times."""
PIECES = st.lists(st.lists(st.integers(1, 60), min_size=1, max_size=12), max_size=8)
"""Sequences with pieces that may recur."""


def symbols(values: Sequence[int]) -> Symbols:
    return np.array(values, dtype=np.uint16)


def joined(pieces: Iterable[Sequence[int]]) -> list[int]:
    return [symbol for piece in pieces for symbol in piece]


def aligned(new: Sequence[int], kept: Sequence[int]) -> Alignment:
    return align(symbols(new), symbols(kept))


@given(FEW | PIECES.map(joined), FEW | PIECES.map(joined))
def test_pieces_are_what_is_not_aligned(new: list[int], kept: list[int]) -> None:
    found = aligned(new, kept)
    inside = np.zeros(len(new), dtype=bool)
    for begin, end, kept_begin, kept_end in found.pieces.tolist():
        assert 0 <= begin <= end <= len(new)
        assert 0 <= kept_begin <= kept_end <= len(kept)
        assert begin < end or kept_begin < kept_end
        inside[begin:end] = True
    assert (inside == ~found.new).all()
    assert [piece[0] for piece in found.pieces.tolist()] == sorted(piece[0] for piece in found.pieces.tolist())


@given(FEW | PIECES.map(joined), FEW | PIECES.map(joined))
def test_what_is_aligned_stands_in_both(new: list[int], kept: list[int]) -> None:
    found = aligned(new, kept)
    assert set(symbols(new)[found.new].tolist()) == set(symbols(kept)[found.kept].tolist())


@given(FEW | PIECES.map(joined))
def test_a_sequence_is_itself(one: list[int]) -> None:
    found = aligned(one, one)
    assert found.new.all()
    assert found.kept.all()
    assert not len(found.pieces)
    assert not found.moves


@given(st.lists(st.integers(1, 5), max_size=30), st.lists(st.integers(1, 5), max_size=30))
def test_differing_leaves_a_longest_common_subsequence(a: list[int], b: list[int]) -> None:
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, one in enumerate(a):
        for j, other in enumerate(b):
            table[i + 1][j + 1] = table[i][j] + 1 if one == other else max(table[i][j + 1], table[i + 1][j])
    pieces = differing(a, b)
    assert len(a) - sum(end - begin for begin, end, _, _ in pieces) == table[-1][-1]
    assert len(b) - sum(end - begin for _, _, begin, end in pieces) == table[-1][-1]


def test_a_word_for_another_is_one_piece() -> None:
    text = list(range(2, 60))
    other = [*text[:20], 999, *text[21:]]
    assert aligned(other, text).pieces.tolist() == [[20, 21, 20, 21]]


def test_what_was_added_and_left_out_is_told_where_it_stands() -> None:
    text = list(range(2, 60))
    assert aligned([*text[:20], 999, 998, *text[20:]], text).pieces.tolist() == [[20, 22, 20, 20]]
    assert aligned([*text[:20], *text[25:]], text).pieces.tolist() == [[20, 20, 20, 25]]


def test_a_block_that_moved_is_no_difference_of_words() -> None:
    text = list(range(2, 102))
    found = aligned([*text[50:], *text[:50]], text)
    assert found.new.all()
    assert found.kept.all()
    assert found.moves == 1


def test_a_hostile_pair_takes_bounded_effort() -> None:
    chance = random.Random(1)
    kept = [chance.randrange(2, 60_000) for _ in range(16_000)]
    blocks = [kept[place : place + 4] + [chance.randrange(2, 60_000)] * 3 for place in range(0, 12_000, 4)]
    chance.shuffle(blocks)
    new = joined(blocks)[:16_000]
    found = aligned(new, kept)
    assert Counter(found.new.tolist())[True] > 0
