from __future__ import annotations

import random
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.core.alignment import tiles
from tests.core.test_alignment import FEW, PIECES, joined, symbols


def anchors(new: Sequence[int], kept: Sequence[int]) -> list[int]:
    """The definition: grams that occur equally often, the i-th here with the i-th there."""
    where: list[dict[tuple[int, ...], list[int]]] = []
    for sequence in (new, kept):
        places_of: dict[tuple[int, ...], list[int]] = {}
        for place in range(len(sequence) - 3):
            places_of.setdefault(tuple(sequence[place : place + 4]), []).append(place)
        where.append(places_of)
    found = [-1] * max(0, len(new) - 3)
    for gram, places in where[0].items():
        if len(others := where[1].get(gram, [])) == len(places):
            for place, other in zip(places, others, strict=True):
                found[place] = other
    return found


def brute_force(new: Sequence[int], kept: Sequence[int]) -> list[tuple[int, int, int]]:
    """Maximal runs of anchors; where two meet, the later one gives way."""
    runs = list[tuple[int, int, int]]()
    for place, other in enumerate(anchors(new, kept)):
        if other < 0:
            continue
        if runs and runs[-1][0] + runs[-1][2] == place + 3 and runs[-1][1] + runs[-1][2] == other + 3:
            runs[-1] = (*runs[-1][:2], runs[-1][2] + 1)
        else:
            runs.append((place, other, 4))
    ends = [0, *(begin + length for begin, _, length in runs)]
    cut = [max(0, end - begin) for end, (begin, _, _) in zip(ends, runs, strict=False)]
    return [(begin + by, other + by, length - by) for by, (begin, other, length) in zip(cut, runs, strict=True)]


@given(FEW | PIECES.map(joined), FEW | PIECES.map(joined), st.randoms(use_true_random=False))
def test_tiles_are_runs_of_anchors(a: list[int], b: list[int], chance: random.Random) -> None:
    pieces = [a[place : place + 7] for place in range(0, len(a), 7)]
    chance.shuffle(pieces)
    for kept in (b, joined(pieces), [*joined(pieces), *b]):
        assert tiles(symbols(a).tobytes(), symbols(kept).tobytes()) == brute_force(a, kept)
