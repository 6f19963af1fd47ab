"""Two sequences of symbols side by side: which pieces are the same, and what stands between them.

Anchors are grams of four symbols that occur equally often in both sequences, the i-th occurrence here with the i-th
there: patience diff (Cohen), except that blocks may have moved and repeated text anchors too. Runs of anchors are
*tiles*. What is left in the new sequence between two tiles is a *gap*; opposite it lies what the kept sequence has
between the same tiles and no tile covers. Gaps are aligned symbol by symbol.

Cost: O(n log n) for sorting the grams. A gap costs its size, and is not aligned where that is more than `_GAP_LIMIT`;
nor is any that follows once the gaps have cost `_EFFORT` times the kept sequence, which takes one made for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
from numpy.typing import NDArray

Symbols = NDArray[np.uint16]
"""Symbols of an outline: 15 bits of hash, and bit 0 for those that hold a digit."""
Places = NDArray[np.intp]

_GRAM = 4
_GAP_LIMIT = 512  # symbols on either side of a gap that is aligned by its longest common subsequence
BLOCK = 6
"""Symbols that make a block: single edited words seldom stand so close."""
_EFFORT = 4  # how often the kept sequence is gone through, opposite the gaps of a new one in another order
_NAME = 24  # symbols, both sides together, of a piece that may be a name
_CLEAR = 4  # symbols; a shorter gap of equal sides is taken symbol by symbol, without looking for shifts


@dataclass(frozen=True, slots=True)
class Tiles:
    """Equal pieces, in the order of the new sequence, without overlaps there: ``new[i : i + n] == kept[p : p + n]``."""

    new: Places
    kept: Places
    length: Places


@dataclass(slots=True)
class Differences:
    """What two sequences have in common and where they differ. Lengths in symbols.

    Attributes:
        common: Symbols of the new sequence that stand in the kept one.
        kept_common: The other way round.
        replaced: The longest block that another block replaced, the shorter of the two.
        rewritten: Symbols of the new sequence in blocks of `BLOCK` or more that were replaced.
        inserted: Symbols of such blocks in whose place the kept sequence has nothing, but for those at the ends.
        added: The longest block inside the new sequence that the kept one lacks.
        added_at_ends: The longest such block before the first or after the last piece they share.
        numbers_same: Numbers of the new sequence that stand in the kept one.
        numbers_changed: Places in the new sequence of numbers where the kept one has another number.
        renamed: How often the same piece was replaced by the same other piece, wherever it stood.
    """

    common: int = 0
    kept_common: int = 0
    replaced: int = 0
    rewritten: int = 0
    inserted: int = 0
    added: int = 0
    added_at_ends: int = 0
    numbers_same: int = 0
    numbers_changed: list[int] = field(default_factory=list)
    renamed: int = 0


def _grams(symbols: Symbols) -> NDArray[np.uint64]:
    """Shape (n,) → (max(0, n − 3),): four symbols in one word, exactly."""
    pairs = symbols[:-1].astype(np.uint32)
    pairs <<= np.uint32(16)
    pairs |= symbols[1:]
    grams = pairs[:-2].astype(np.uint64)
    grams <<= np.uint64(32)
    grams |= pairs[2:]
    return grams


def _groups(grams: NDArray[np.uint64]) -> tuple[Places, NDArray[np.uint64], Places, Places]:
    """Places sorted by gram and then by place; the different grams, where each begins among them, and how many."""
    order = grams.argsort(kind="stable")
    ordered = grams[order]
    begins = np.empty(len(grams), dtype=np.bool_)
    begins[0] = True
    np.not_equal(ordered[1:], ordered[:-1], out=begins[1:])
    bounds = np.empty(int(begins.sum()) + 1, dtype=np.intp)
    bounds[:-1] = begins.nonzero()[0]
    bounds[-1] = len(grams)
    return order, ordered[bounds[:-1]], bounds[:-1], bounds[1:] - bounds[:-1]


def _anchors(new: Symbols, kept: Symbols) -> Places:
    """Shape (len(new) − 3,): for each gram of `new` the place of its anchor in `kept`, −1 where it has none."""
    new_grams, kept_grams = _grams(new), _grams(kept)
    places = np.full(len(new_grams), -1, dtype=np.intp)
    if not len(new_grams) or not len(kept_grams):
        return places
    new_order, new_values, new_begins, new_counts = _groups(new_grams)
    kept_order, kept_values, kept_begins, kept_counts = _groups(kept_grams)
    twin = kept_values.searchsorted(new_values)
    twin[twin == len(kept_values)] = 0
    equal = ((kept_values[twin] == new_values) & (kept_counts[twin] == new_counts)).nonzero()[0]
    counts = new_counts[equal]
    here, there = new_begins[equal], kept_begins[twin[equal]]
    total = int(counts.sum())
    if len(counts) < total:
        rank = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
        here, there = np.repeat(here, counts) + rank, np.repeat(there, counts) + rank
    places[new_order[here]] = kept_order[there]
    return places


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
    overlap = np.maximum(end[:-1] - begin[1:], 0)
    begin[1:] += overlap
    kept_begin[1:] += overlap
    return Tiles(begin, kept_begin, end - begin)


def common_subsequence(a: Sequence[int], b: Sequence[int]) -> int:
    """Length of the longest common subsequence, in len(a) steps on numbers of len(b) bits (Hyyrö 2004)."""
    masks: dict[int, int] = {}
    for place, symbol in enumerate(b):
        masks[symbol] = masks.get(symbol, 0) | 1 << place
    full = (1 << len(b)) - 1
    rows = full
    for symbol in a:
        mask = masks.get(symbol)
        if mask:
            hits = rows & mask
            rows = ((rows + hits) | (rows - hits)) & full
    return len(b) - rows.bit_count()


def _common(here: Sequence[int], there: Sequence[int]) -> int:
    """The same, but 0 for what is too long to be aligned."""
    return common_subsequence(here, there) if there and max(len(here), len(there)) <= _GAP_LIMIT else 0


def unchanged(symbols: Symbols) -> Differences:
    """What `differences` finds between a sequence and itself."""
    return Differences(common=len(symbols), kept_common=len(symbols), numbers_same=int((symbols & 1).sum()))


def differences(new: Symbols, kept: Symbols) -> Differences:
    """Align two sequences."""
    found = tiles(new, kept)
    begin, end = _between(found.new, found.length, len(new))
    kept_begin, kept_end = _between(found.kept, found.length, len(kept))
    steps = np.bincount(kept_end[:-1], minlength=len(kept) + 1) - np.bincount(kept_begin[1:], minlength=len(kept) + 1)
    free = steps.cumsum()[:-1] <= 0
    free_before = np.zeros(len(kept) + 1, dtype=np.intp)
    free.cumsum(out=free_before[1:])
    size = end - begin
    room = np.where(kept_end > kept_begin, free_before[kept_end] - free_before[kept_begin], 0)

    numbers = new & 1
    result = Differences(
        common=int(found.length.sum()), kept_common=len(kept) - int(free_before[-1]), numbers_same=int(numbers.sum())
    )
    open_gaps = size > 0
    level = open_gaps & (size == room) & (room == kept_end - kept_begin)
    if level.any():
        _compare_level(new, kept, begin[level], size[level], kept_begin[level], result)
    replacements: Counter[tuple[tuple[int, ...], tuple[int, ...]]] = Counter()
    effort = _EFFORT * len(kept)
    for gap in (open_gaps & ~level).nonzero()[0].tolist():
        here = new[begin[gap] : end[gap]].tolist()
        opposite = slice(kept_begin[gap], kept_end[gap])
        effort -= max(0, int(opposite.stop - opposite.start))
        there = kept[opposite][free[opposite]].tolist() if room[gap] and effort >= 0 else []
        _compare_uneven(here, there, int(begin[gap]), gap in (0, len(size) - 1), result)
        if there and len(here) + len(there) <= _NAME:
            replacements[tuple(here), tuple(there)] += 1
    if replacements:
        result.renamed = max(result.renamed, *replacements.values())
    return result


def _between(tiles_begin: Places, length: Places, end: int) -> tuple[Places, Places]:
    """Where the gaps before, between and after the tiles of a sequence begin and end."""
    begins = np.zeros(len(length) + 1, dtype=np.intp)
    np.add(tiles_begin, length, out=begins[1:])
    ends = np.empty_like(begins)
    ends[:-1] = tiles_begin
    ends[-1] = end
    return begins, ends


def _compare_level(
    new: Symbols, kept: Symbols, begin: Places, size: Places, kept_begin: Places, result: Differences
) -> None:
    """Gaps with as many symbols on either side: the i-th here stands opposite the i-th there."""
    ends = size.cumsum()
    places = np.arange(ends[-1]) + np.repeat(begin - (ends - size), size)
    here, there = new[places], kept[places + np.repeat(kept_begin - begin, size)]
    differ = here != there
    differing = np.add.reduceat(differ, ends - size, dtype=np.intp)
    for gap in ((size >= _CLEAR) & (2 * differing > size)).nonzero()[0].tolist():
        inside = slice(ends[gap] - size[gap], ends[gap])
        one, other = here[inside].tolist(), there[inside].tolist()
        if _common(one, other) <= size[gap] - differing[gap]:
            continue
        _compare_uneven(one, other, int(begin[gap]), False, result)  # they are shifted
        differ[inside] = False
        result.common -= int(size[gap])
        result.kept_common -= int(size[gap])
    same = len(differ) - int(differ.sum())
    result.common += same
    result.kept_common += same
    where = places[differ]
    if len(where):
        run_ends = np.append((where[1:] != where[:-1] + 1).nonzero()[0], len(where) - 1)
        runs = run_ends.copy()
        runs[0] += 1
        runs[1:] -= run_ends[:-1]
        result.replaced = max(result.replaced, int(runs.max()))
        result.rewritten += int(runs[runs >= BLOCK].sum())
        result.numbers_same -= int((here[differ] & 1).sum())
        result.numbers_changed += where[(here[differ] & there[differ] & 1) != 0].tolist()
        result.renamed = _most_renamed(kept, there[differ], here[differ])


def _most_renamed(kept: Symbols, old: Symbols, new: Symbols) -> int:
    """How often one symbol was replaced by the same other one; only where it was seldom left as it was."""
    pairs = old.astype(np.uint32) << np.uint32(16) | new
    pairs.sort()
    often = pairs[2:][pairs[2:] == pairs[:-2]]  # three times or more
    counts = ((int((pairs == pair).sum()), int((kept == pair >> np.uint32(16)).sum())) for pair in np.unique(often))
    return max((count for count, all_there in counts if 2 * count > all_there), default=0)


def _compare_uneven(here: list[int], there: list[int], begin: int, at_end: bool, result: Differences) -> None:
    """A gap whose sides differ in length, or seem shifted."""
    common = _common(here, there)
    result.common += common
    result.kept_common += common
    replaced, added = min(len(here), len(there)) - common, len(here) - len(there)
    result.replaced = max(result.replaced, replaced)
    if at_end:
        result.added_at_ends = max(result.added_at_ends, added)
        inserted = 0
    else:
        result.added = max(result.added, added)
        inserted = max(0, added)
    if replaced + inserted >= BLOCK:
        result.rewritten += replaced
        result.inserted += inserted
    others = [symbol for symbol in there if symbol & 1]
    if not others:
        return
    numbers = [symbol for symbol in here if symbol & 1]
    changed = min(len(numbers), len(others)) - common_subsequence(numbers, others)
    known = set(others)
    unmatched = (place for place, symbol in enumerate(here) if symbol & 1 and symbol not in known)
    result.numbers_changed += [begin + place for place in islice(unmatched, changed)]
    result.numbers_same -= changed
