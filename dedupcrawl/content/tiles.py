"""Tiles: equal pieces of two sequences of symbols.

Anchors are grams of four symbols that occur equally often in both sequences, the i-th occurrence here with the i-th
there: patience diff (Cohen), except that blocks may have moved and repeated text anchors too. A tile is a run of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Symbols = NDArray[np.uint16]
"""Symbols of an outline: 15 bits of hash, and bit 0 for those that hold a digit."""
Places = NDArray[np.intp]

LONGEST = 1 << 14
"""Symbols of a sequence at most."""

_GRAM = 4
_SIDE = np.uint64(LONGEST)  # the bit above a place
_PLACE = np.uint64(LONGEST - 1)
_HASH = np.uint64(0x9E3779B97F4A7C15)
_HASH_BITS = ~np.uint64(2 * LONGEST - 1)
_PLACE_BITS = np.uint64(15)  # of a place and its side
_PLACES = np.arange(LONGEST, dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class Tiles:
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
