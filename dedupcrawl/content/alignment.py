"""Two sequences of symbols side by side, aligned once: what stands in both, and the pieces that differ.

What is the same are *tiles* (`dedupcrawl.content.tiles`), which may have moved. What is left of the new sequence
between two of them is a gap; opposite it lies what the kept sequence has between the same tiles and no tile covers. The
sides of a gap are aligned by a longest common subsequence (Hyyrö 2004).

Cost: O(n log n) for the tiles. A gap of which a side is longer than `_GAP_LIMIT` is not aligned, nor is any that
follows once the gaps have gone through the kept sequence `_EFFORT` times, which takes a page made for it.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content import kernels
from dedupcrawl.content.tiles import Symbols, tiles

Pieces = NDArray[np.int32]
"""Shape (k, 4): begin and end in the new sequence, begin and end in the kept one, in the order of the new one."""

_GAP_LIMIT = (
    512  # symbols; 16 kB for the table of a gap, and no page of the labelled pairs has a gap it would matter for
)
_EFFORT = 4  # times the kept sequence


class Alignment(msgspec.Struct, frozen=True, gc=False):
    """What two sequences have in common."""

    new: NDArray[np.bool_]  # shape (n,): which symbols of the new sequence stand in the kept one
    kept: NDArray[np.bool_]  # shape (m,): which symbols of the kept sequence stand in the new one
    pieces: Pieces  # what differs. Of the kept side of a piece, what `kept` flags does not belong to it
    moves: int  # places where what follows in the new sequence stands earlier in the kept one


def align(new: Symbols, kept: Symbols) -> Alignment:
    """Align two sequences, neither longer than `LONGEST`."""
    if kernels.compiled is not None:
        mine, its, found, count = kernels.compiled.align(new, kept)
        return Alignment(
            np.frombuffer(mine, np.bool_),
            np.frombuffer(its, np.bool_),
            np.frombuffer(found, np.int32).reshape(-1, 4),
            count,
        )
    return _aligned(new, kept)


def _aligned(new: Symbols, kept: Symbols) -> Alignment:
    found = tiles(new, kept)
    in_kept, in_new = np.zeros(len(new), dtype=np.bool_), np.zeros(len(kept), dtype=np.bool_)
    ends = list(zip(found.new.tolist(), found.kept.tolist(), found.length.tolist(), strict=True))
    for begin, kept_begin, length in ends:
        in_kept[begin : begin + length] = True
        in_new[kept_begin : kept_begin + length] = True
    covered = in_new.copy()
    pieces: list[tuple[int, int, int, int]] = []
    moves = at = kept_at = 0
    effort = _EFFORT * len(kept)
    for begin, kept_begin, length in (*ends, (len(new), len(kept), 0)):
        places: list[int] = []
        if kept_begin >= kept_at:
            places = ((~covered[kept_at:kept_begin]).nonzero()[0] + kept_at).tolist()
            effort -= kept_begin - kept_at
        else:
            moves += 1
        here, there, after = new[at:begin].tolist(), kept[places].tolist(), max(kept_at, kept_begin)
        is_aligned = max(len(here), len(there)) <= _GAP_LIMIT and effort >= 0
        differ = differing(here, there) if is_aligned else [(0, len(here), 0, len(there))]
        for one, end, other, other_end in differ:
            if one < end or other < other_end:
                first = places[other] if other < len(places) else after
                last = places[other_end - 1] + 1 if other < other_end else first
                pieces.append((at + one, at + end, first, last))
        in_kept[at:begin] = _kept_out(len(here), [piece[:2] for piece in differ])
        in_new[places] |= _kept_out(len(there), [piece[2:] for piece in differ])
        at, kept_at = begin + length, kept_begin + length
    return Alignment(in_kept, in_new, np.array(pieces, dtype=np.int32).reshape(-1, 4), moves)


def _kept_out(count: int, spans: Sequence[tuple[int, int]]) -> NDArray[np.bool_]:
    """Shape (count,): which places lie in none of these spans."""
    outside = np.ones(count, dtype=np.bool_)
    for begin, end in spans:
        outside[begin:end] = False
    return outside


def differing(a: Sequence[int], b: Sequence[int]) -> list[tuple[int, int, int, int]]:
    """Begin and end in `a`, begin and end in `b`, of what is not in a longest common subsequence."""
    rows = _lcs_rows(a, b)
    pieces = []
    here, there = len(a), len(b)
    end, other_end = here, there
    while here and there:
        if rows[here] & 1 << there - 1:
            there -= 1
        elif not rows[here - 1] & 1 << there - 1:
            here -= 1
        else:
            if here < end or there < other_end:
                pieces.append((here, end, there, other_end))
            here -= 1
            there -= 1
            end, other_end = here, there
    if end or other_end:
        pieces.append((0, end, 0, other_end))
    return pieces[::-1]


def _lcs_rows(a: Sequence[int], b: Sequence[int]) -> list[int]:
    """The rows of the table of longest common subsequences, as bits (Hyyrö 2004).

    Bit j of row i is 0 where b[: j + 1] has a longer subsequence with a[:i] than b[:j] has.
    """
    masks: dict[int, int] = {}
    for place, symbol in enumerate(b):
        masks[symbol] = masks.get(symbol, 0) | 1 << place
    row = full = (1 << len(b)) - 1
    rows = [row]
    for symbol in a:
        hits = row & masks.get(symbol, 0)
        row = ((row + hits) | (row - hits)) & full
        rows.append(row)
    return rows
