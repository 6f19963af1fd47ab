"""Slots that were filled in: numbers where the kept page has none, or one word such as "TBA" again and again.

Fixtures become results, a form becomes an answer. A text that somebody edits gets a number here and there as well, but
not only where nothing or one and the same word stood.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from dedupcrawl.content.alignment import Piece
from dedupcrawl.content.tiles import Symbols


def filled(new: Symbols, kept: Symbols, pieces: Sequence[Piece]) -> int:
    """How many slots hold a number in a new sequence and none in a kept one; `pieces` as in `Differences`.

    The larger one of: numbers that were put in and stand nowhere in the kept sequence; different pieces with a number,
    all in place of the same piece without one, where these are more than half of all pieces.
    """
    if not pieces or not (new & 1).any():
        return 0
    mine, its = new.tobytes(), kept.tobytes()
    numbers, kept_numbers = (new & 1).astype(np.uint8).tobytes(), (kept & 1).astype(np.uint8).tobytes()
    put_in: list[int] = []
    instead: set[tuple[bytes, bytes]] = set()
    for begin, end, kept_begin, kept_end in pieces:
        if b"\1" not in numbers[begin:end]:
            continue
        if kept_begin == kept_end:
            put_in += range(begin, end)
        elif b"\1" not in kept_numbers[kept_begin:kept_end]:
            instead.add((its[2 * kept_begin : 2 * kept_end], mine[2 * begin : 2 * end]))
    added = 0
    if put_in:
        symbols = new[put_in]
        added = int(np.count_nonzero(~np.isin(symbols[(symbols & 1) != 0], kept)))
    replaced = max(Counter(slot for slot, _ in instead).values(), default=0)
    return max(added, replaced if 2 * replaced > len(pieces) else 0)
