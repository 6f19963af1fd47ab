"""What a new page says in blocks of its own, counted in words that are new there, not in shares of the page.

Of a long page, a paragraph of its own is a small share, and all the same something that is said nowhere else. A block
is what stands between two pieces that both pages have; it is measured by its different words that the kept page has not
opposite it. So a list of addresses in the same few words says little, however long it is, but a third of what a block
has more than what is opposite it counts in any case.

Before and after the common text stand the frames of other layouts, too: a frame goes around a text, an addition follows
it or goes before it.
"""

from __future__ import annotations

import msgspec
import numpy as np

from dedupcrawl.content import kernels
from dedupcrawl.content.alignment import BLOCK
from dedupcrawl.content.tiles import Symbols, tiles

_REPEATED = 3  # symbols of a block that say as much as a different one, at least


class OwnBlocks(msgspec.Struct, frozen=True, gc=False):
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
    """Measure the blocks of a new sequence, neither being longer than `LONGEST`."""
    if kernels.compiled is not None:
        return OwnBlocks(*kernels.compiled.own_blocks(new, kept))
    found = tiles(new, kept)
    count = len(kept)
    covered = np.bincount(found.kept, minlength=count + 1) - np.bincount(found.kept + found.length, minlength=count + 1)
    free = covered.cumsum()[:-1] <= 0
    begins, ends = np.append(0, found.new + found.length), np.append(found.new, len(new))
    largest = inside = before = after = 0
    for gap in (ends - begins >= BLOCK).nonzero()[0].tolist():
        kept_begin = int(found.kept[gap - 1] + found.length[gap - 1]) if gap else 0
        kept_end = int(found.kept[gap]) if gap < len(found.kept) else count
        opposite = slice(kept_begin, max(kept_begin, kept_end))
        says = _says(new[begins[gap] : ends[gap]], kept[opposite][free[opposite]])
        if gap == 0:
            before = says
        elif gap == len(found.kept):
            after = says
        else:
            inside += says
            largest = max(largest, says)
    return OwnBlocks(largest, inside, before, after)


def _says(here: Symbols, there: Symbols) -> int:
    different = set(here.tolist()).difference(there.tolist())
    return max(len(different), (len(here) - len(there)) // _REPEATED)
