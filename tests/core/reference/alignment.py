"""`core.alignment`, in NumPy: see there."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from dedupcrawl.core.alignment import LONGEST

Symbols = NDArray[np.uint16]
"""Symbols of an outline: 15 bits of hash, and bit 0 for those that hold a digit."""
Places = NDArray[np.intp]

_GRAM = 4
_SIDE = np.uint64(LONGEST)  # the bit above a place
_PLACE = np.uint64(LONGEST - 1)
_HASH = np.uint64(0x9E3779B97F4A7C15)
_HASH_BITS = ~np.uint64(2 * LONGEST - 1)
_PLACE_BITS = np.uint64(15)  # of a place and its side
_PLACES = np.arange(LONGEST, dtype=np.uint64)


class Tiles(msgspec.Struct, frozen=True):
    """Equal pieces, in the order of the new sequence, without overlaps there: ``new[i : i + n] == kept[p : p + n]``."""

    new: Places
    kept: Places
    length: Places


def _grams(symbols: Symbols) -> NDArray[np.uint64]:
    """Shape (n,) → (max(0, n − 3),): four symbols in one word, exactly."""
    pairs = symbols[:-1].astype(np.uint32)
    pairs <<= np.uint32(16)
    pairs |= symbols[1:]
    grams = pairs[:-2].astype(np.uint64)
    grams <<= np.uint64(32)
    grams |= pairs[2:]
    return grams


def _anchors(new: Symbols, kept: Symbols) -> Places:
    """Shape (len(new) − 3,): for each gram of `new` the place of its anchor in `kept`, −1 where it has none.

    One sort of both sides' grams: 49 bits of a hash of the gram, its side and its place make one word.
    """
    new_grams, kept_grams = _grams(new), _grams(kept)
    count = len(new_grams)
    places = np.full(count, -1, dtype=np.intp)
    if not count or not len(kept_grams):
        return places
    words = np.concatenate((new_grams, kept_grams))
    words *= _HASH
    words &= _HASH_BITS
    words[:count] |= _PLACES[:count]
    words[count:] |= _PLACES[: len(kept_grams)]
    words[count:] |= _SIDE
    words.sort()
    keys = words >> _PLACE_BITS
    alike = keys[1:] == keys[:-1]
    alone = alike.copy()  # pairs: two of a key, no more
    alone[1:] &= ~alike[:-1]
    alone[:-1] &= ~alike[1:]
    first = alone.nonzero()[0]
    here, there = words[first], words[first + 1]
    if int(np.count_nonzero(alike)) > len(first):
        alike &= ~alone
        several = np.zeros(len(words), dtype=np.bool_)
        several[:-1] = alike
        several[1:] |= alike
        more_here, more_there = _in_turn(words[several])
        here, there = np.concatenate((here, more_here)), np.concatenate((there, more_there))
    anchors = ((here ^ there) & _SIDE) != 0  # here comes first: the side is the highest bit below the key
    mine = (here & _PLACE)[anchors].astype(np.intp)
    others = (there & _PLACE)[anchors].astype(np.intp)
    equal = new_grams[mine] == kept_grams[others]  # not so where hashes collide
    if not equal.all():
        mine, others = mine[equal], others[equal]
    places[mine] = others
    return places


def _in_turn(words: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Of groups of equal keys with as many words of either side: the i-th here and the i-th there."""
    keys = words >> _PLACE_BITS
    edges = np.concatenate(([0], (keys[1:] != keys[:-1]).nonzero()[0] + 1, [len(words)]))
    size = edges[1:] - edges[:-1]
    even = ((size & 1) == 0).nonzero()[0]
    first, half = edges[even], size[even] >> 1
    meet = first + half
    balanced = ((words[meet - 1] & _SIDE) == 0) & ((words[meet] & _SIDE) != 0)
    first, half, meet = first[balanced], half[balanced], meet[balanced]
    rank = np.arange(int(half.sum())) - np.repeat(half.cumsum() - half, half)
    return words[np.repeat(first, half) + rank], words[np.repeat(meet, half) + rank]


def tiles(new: Symbols, kept: Symbols) -> Tiles:
    """Maximal runs of anchors; where two meet, the later one gives way."""
    places = _anchors(new, kept)
    anchored = places >= 0
    goes_on = places[1:] == places[:-1] + 1
    goes_on &= anchored[:-1]
    last = anchored.copy()
    last[:-1] &= ~goes_on
    anchored[1:] &= ~goes_on
    begin = anchored.nonzero()[0]
    end = last.nonzero()[0] + _GRAM
    kept_begin = places[begin]
    overlap = end[:-1] - begin[1:]
    np.maximum(overlap, 0, out=overlap)
    begin[1:] += overlap
    kept_begin[1:] += overlap
    return Tiles(begin, kept_begin, end - begin)


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
