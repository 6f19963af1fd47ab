from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.core.alignment import tiles
from tests.core.reference import alignment
from tests.core.test_alignment import FEW, PIECES, joined, symbols


def brute_force_anchors(new: Sequence[int], kept: Sequence[int]) -> list[int]:
    """The definition: grams that occur equally often, the i-th here with the i-th there."""
    where: list[dict[tuple[int, ...], list[int]]] = []
    for sequence in (new, kept):
        places_of: dict[tuple[int, ...], list[int]] = {}
        for place in range(len(sequence) - 3):
            places_of.setdefault(tuple(sequence[place : place + 4]), []).append(place)
        where.append(places_of)
    anchors = [-1] * max(0, len(new) - 3)
    for gram, places in where[0].items():
        if len(others := where[1].get(gram, [])) == len(places):
            for place, other in zip(places, others, strict=True):
                anchors[place] = other
    return anchors


@given(FEW | PIECES.map(joined), FEW | PIECES.map(joined))
def test_anchors(a: list[int], b: list[int]) -> None:
    assert alignment._anchors(symbols(a), symbols(b)).tolist() == brute_force_anchors(a, b)


@given(FEW | PIECES.map(joined), st.randoms(use_true_random=False))
def test_anchors_of_blocks_in_another_order(a: list[int], chance: random.Random) -> None:
    pieces = [a[place : place + 7] for place in range(0, len(a), 7)]
    chance.shuffle(pieces)
    assert alignment._anchors(symbols(a), symbols(joined(pieces))).tolist() == brute_force_anchors(a, joined(pieces))


@given(FEW | PIECES.map(joined), FEW, st.randoms(use_true_random=False))
def test_tiles_are_equal_pieces_without_overlap(a: list[int], b: list[int], chance: random.Random) -> None:
    pieces = [a[place : place + 10] for place in range(0, len(a), 10)]
    chance.shuffle(pieces)
    new, kept = symbols(a), symbols([*joined(pieces), *b])
    spans = tiles(new.tobytes(), kept.tobytes())
    for place, other, length in spans:
        assert length > 0
        assert new[place : place + length].tolist() == kept[other : other + length].tolist()
    assert all(one[0] + one[2] <= two[0] for one, two in pairwise(spans))
