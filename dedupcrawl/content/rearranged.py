"""Rows whose entries have changed places, as in a table of standings.

"Place 3 is held by Green" in two weeks is the same words with the names moved, and so is a text whose blocks were
shuffled. But a block that moves takes its surroundings along, whereas the name arrives in a row that stays: right
before or after the seam the same words stand in both pages, in a paragraph that the other page has not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content.tiles import Symbols, tiles

_BESIDE = 2  # symbols before or after a seam that are the same in both pages


def rearranged(new: Symbols, kept: Symbols, changed: NDArray[np.bool_]) -> int:
    """Seams: places within changed paragraphs where what follows stands elsewhere in the kept sequence.

    Args:
        new: The new sequence.
        kept: The kept sequence.
        changed: Shape (len(new),): which symbols stand in paragraphs that the kept page has not.
    """
    found = tiles(new, kept)
    ends, kept_ends = (found.new + found.length)[:-1], (found.kept + found.length)[:-1]
    begins, kept_begins = found.new[1:], found.kept[1:]
    seams = (ends == begins) & (kept_ends != kept_begins)
    if not seams.any():
        return 0
    ends, kept_ends, kept_begins = ends[seams], kept_ends[seams], kept_begins[seams]
    inside = changed[ends] & changed[ends - 1]
    before = _same(new, kept, ends - _BESIDE, kept_begins - _BESIDE)
    after = _same(new, kept, ends, kept_ends)
    return int(np.count_nonzero(inside & (before | after)))


def _same(new: Symbols, kept: Symbols, here: NDArray[np.intp], there: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Whether `_BESIDE` symbols from these places on are the same; False where there are not as many."""
    within = np.logical_and.reduce((here >= 0, there >= 0, here + _BESIDE <= len(new), there + _BESIDE <= len(kept)))
    same: NDArray[np.bool_] = within.copy()
    for step in range(_BESIDE):
        same[within] &= new[here[within] + step] == kept[there[within] + step]
    return same
