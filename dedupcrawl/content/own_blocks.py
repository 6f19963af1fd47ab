"""What a new page says in blocks of its own, counted in words that are new there, not in shares of the page.

Of a long page, a paragraph of its own is a small share, and all the same something that is said nowhere else. A block
is what stands between two pieces that both pages have; it is measured by its different words that the kept page has not
opposite it. So a list of addresses in the same few words says little, however long it is, but a third of what a block
has more than what is opposite it counts in any case.

Before and after the common text stand the frames of other layouts, too: a frame goes around a text, an addition follows
it or goes before it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dedupcrawl.content.alignment import BLOCK
from dedupcrawl.content.tiles import Symbols, tiles

_REPEATED = 3  # symbols of a block that say as much as a different one, at least


@dataclass(frozen=True, slots=True)
class OwnBlocks:
    """Different symbols that only the new sequence has, of blocks of `BLOCK` symbols or more.

    Attributes:
        largest: Of the block inside the common text that has most.
        inside: Of all of these together.
        before: Of the block before the common text.
        after: Of the block after it.
    """

    largest: int = 0
    inside: int = 0
    before: int = 0
    after: int = 0


def own_blocks(new: Symbols, kept: Symbols) -> OwnBlocks:
    """Measure the blocks of a new sequence, neither being longer than `LONGEST`, in O(n log n)."""
    found = tiles(new, kept)
    covered = np.zeros(len(kept) + 1, dtype=np.intp)
    np.add.at(covered, found.kept, 1)
    np.add.at(covered, found.kept + found.length, -1)
    free = covered.cumsum() <= 0
    largest = inside = before = after = 0
    at = kept_at = 0
    pieces = zip(found.new.tolist(), found.kept.tolist(), found.length.tolist(), strict=True)
    for begin, kept_begin, length in (*pieces, (len(new), len(kept), 0)):
        if begin - at >= BLOCK:
            there = kept[kept_at:kept_begin][free[kept_at:kept_begin]] if kept_begin > kept_at else kept[:0]
            says = _says(new[at:begin], there)
            if at == 0:
                before = says
            elif begin == len(new):
                after = says
            else:
                inside += says
                largest = max(largest, says)
        at, kept_at = begin + length, kept_begin + length
    return OwnBlocks(largest, inside, before, after)


def _says(here: Symbols, there: Symbols) -> int:
    different = set(here.tolist()).difference(there.tolist())
    return max(len(different), (len(here) - len(there)) // _REPEATED)
