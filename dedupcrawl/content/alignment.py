"""Two sequences of symbols side by side: which pieces are the same, and what stands between them.

What is the same are *tiles* (`dedupcrawl.content.tiles`). What is left in the new sequence between two of them is a
*gap*; opposite it lies what the kept sequence has between the same tiles and no tile covers. Gaps are aligned symbol by
symbol.

Where one sequence stands in the other in one piece there is nothing to align.

Cost: O(n log n) for sorting the grams. A gap costs its size, and is not aligned where that is more than `_GAP_LIMIT`;
nor is any that follows once the gaps have cost `_EFFORT` times the kept sequence, which takes one made for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from dedupcrawl.content import kernels
from dedupcrawl.content.tiles import Places, Symbols, Tiles, place_of, tiles

Piece = tuple[int, int, int, int]
"""Begin and end in the new sequence, begin and end in the kept one."""

BLOCK = 6
"""Symbols that make a block: single edited words seldom stand so close."""

_GAP_LIMIT = 512  # symbols on either side of a gap that is aligned by its longest common subsequence
_EFFORT = 4  # how often the kept sequence is gone through, opposite the gaps of a new one in another order
_SMALL = 24  # symbols on either side of a gap that is split into the pieces that differ
_SLOT = 3  # symbols of the shortest tile that may have a number and its unit; less is left over from another tile
_CLEAR = 4  # symbols; a shorter gap of equal sides is taken symbol by symbol, without looking for shifts


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
        numbers_same: Numbers of the new sequence that the kept one has too, in its place or with the words around.
        numbers_changed: Places in the new sequence of numbers where the kept one has another number.
        skips: Places inside the new sequence where the kept one has a block that the new one lacks.
        moves: Places inside the new sequence where what follows stands earlier in the kept one.
        pieces: The pieces that differ, none longer than `_SMALL`, and none at the ends that one side lacks. Where a
            block that has moved stands within a piece of the kept sequence, what is before the block.
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
    skips: int = 0
    moves: int = 0
    pieces: list[Piece] = field(default_factory=list)


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
        mask = masks.get(symbol)
        if mask:
            hits = row & mask
            row = ((row + hits) | (row - hits)) & full
        rows.append(row)
    return rows


def common_subsequence(a: Sequence[int], b: Sequence[int]) -> int:
    """Length of the longest common subsequence, in at most len(a) steps on numbers of at most len(b) bits."""
    both = set(a).intersection(b)
    if len(both) < 2:
        return min(a.count(next(iter(both))), b.count(next(iter(both)))) if both else 0
    a, b = [symbol for symbol in a if symbol in both], [symbol for symbol in b if symbol in both]
    return len(a) if a == b else len(b) - _lcs_rows(a, b)[-1].bit_count()


def differing(a: Sequence[int], b: Sequence[int]) -> list[Piece]:
    """Begin and end in `a`, begin and end in `b`, of what is not in a longest common subsequence."""
    if set(a).isdisjoint(b):
        return [(0, len(a), 0, len(b))] if a or b else []
    rows = _lcs_rows(a, b)
    pieces = []
    here, there = len(a), len(b)
    end, other_end = here, there
    while here and there:
        bit = 1 << there - 1
        if rows[here] & bit:
            there -= 1
        elif not rows[here - 1] & bit:
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


def differences(new: Symbols, kept: Symbols) -> Differences:
    """Align two sequences, neither longer than `LONGEST`."""
    numbers = int(np.count_nonzero(new & 1))
    if len(new) <= len(kept):
        if place_of(new.tobytes(), kept.tobytes()) >= 0:
            return Differences(common=len(new), kept_common=len(new), numbers_same=numbers)
    elif (place := place_of(kept.tobytes(), new.tobytes())) >= 0:
        ends = max(place, len(new) - place - len(kept))
        return Differences(
            common=len(kept),
            kept_common=len(kept),
            added_at_ends=ends,
            numbers_same=int(np.count_nonzero(kept & 1)),
        )
    if kernels.compiled is not None:
        return Differences(*kernels.compiled.differences(new, kept))
    found = _without_exchanged_numbers(tiles(new, kept), new)
    begin, end = _between(found.new, found.length, len(new))
    kept_begin, kept_end = _between(found.kept, found.length, len(kept))
    size, span = end - begin, kept_end - kept_begin
    common = kept_common = int(found.length.sum())
    room, free = span, None
    if int(span.min()) < 0:  # blocks have moved: what is opposite a gap may be covered by a tile from elsewhere
        steps = np.bincount(kept_end[:-1], minlength=len(kept) + 1)
        steps -= np.bincount(kept_begin[1:], minlength=len(kept) + 1)
        free = steps.cumsum()[:-1] <= 0
        free_before = np.zeros(len(kept) + 1, dtype=np.intp)
        free.cumsum(out=free_before[1:])
        room = np.where(span > 0, free_before[kept_end] - free_before[kept_begin], 0)
        kept_common = len(kept) - int(free_before[-1])
    result = Differences(common=common, kept_common=kept_common, numbers_same=numbers)
    result.added_at_ends = max(0, 0, *(int(size[gap]) for gap in (0, -1) if not room[gap]))
    opposite = room > 0
    if len(size) > 2:
        _compare_one_sided(begin, kept_begin, size, span, room, result)
    for gap in (~opposite & (size > 0)).nonzero()[0].tolist():
        result.numbers_same -= int(np.count_nonzero(new[begin[gap] : end[gap]] & 1))
    both = size > 0
    both &= opposite
    level = both & (size == span)
    level &= room == span
    if level.any():
        _compare_level(new, kept, begin[level], size[level], kept_begin[level], result)
        both &= ~level
    effort = _EFFORT * len(kept)
    for gap in both.nonzero()[0].tolist():
        first, other_first = int(begin[gap]), int(kept_begin[gap])
        one = new[first : int(end[gap])].tolist()
        effort -= int(span[gap])
        there = np.arange(other_first, int(kept_end[gap]))
        if free is not None and room[gap] < span[gap]:
            there = there[free[there]]
        if effort < 0:
            there = there[:0]
        _compare_uneven(one, kept[there].tolist(), first, there.tolist(), gap in (0, len(size) - 1), result)
    return result


def _without_exchanged_numbers(found: Tiles, new: Symbols) -> Tiles:
    """Tiles but for two close by that have changed places, both shorter than a block, with different numbers in them.

    "31 points and" is no block that has moved from one team to the other: the teams have each other's number.
    """
    step = found.kept[1:] - (found.kept + found.length)[:-1]
    back = (step < 0) & (step >= -_SMALL)
    short = (found.length >= _SLOT) & (found.length < BLOCK)
    back &= short[1:] & short[:-1]
    stays = np.ones(len(found.length), dtype=np.bool_)
    for tile in back.nonzero()[0].tolist():
        one, other = (
            {symbol for symbol in new[found.new[it] :][: found.length[it]].tolist() if symbol & 1}
            for it in (tile, tile + 1)
        )
        if one and other and one.isdisjoint(other):
            stays[tile : tile + 2] = False
    return found if stays.all() else Tiles(found.new[stays], found.kept[stays], found.length[stays])


def _between(tiles_begin: Places, length: Places, end: int) -> tuple[Places, Places]:
    """Where the gaps before, between and after the tiles of a sequence begin and end."""
    begins = np.zeros(len(length) + 1, dtype=np.intp)
    np.add(tiles_begin, length, out=begins[1:])
    ends = np.empty_like(begins)
    ends[:-1] = tiles_begin
    ends[-1] = end
    return begins, ends


def _compare_one_sided(
    begin: Places, kept_begin: Places, size: Places, span: Places, room: Places, result: Differences
) -> None:
    """Gaps inside of which one side is empty: what was put in or left out there."""
    size, span, room = size[1:-1], span[1:-1], room[1:-1]
    empty = room == 0
    put_in = size[empty]
    if len(put_in):
        result.added = int(put_in.max())
        result.inserted = int(put_in[put_in >= BLOCK].sum())
    result.moves = int(np.count_nonzero(span < 0))
    result.skips = int(np.count_nonzero(room - size >= BLOCK))
    longer = np.maximum(size, span)
    short = (np.minimum(size, span) == 0) & (longer > 0) & (longer <= _SMALL) & (room == span)
    for gap in short.nonzero()[0].tolist():
        here, there = int(begin[gap + 1]), int(kept_begin[gap + 1])
        result.pieces.append((here, here + int(size[gap]), there, there + int(span[gap])))


def _compare_level(
    new: Symbols, kept: Symbols, begin: Places, size: Places, kept_begin: Places, result: Differences
) -> None:
    """Gaps with as many symbols on either side: the i-th here stands opposite the i-th there."""
    ends = size.cumsum()
    places = np.arange(ends[-1]) + np.repeat(begin - (ends - size), size)
    shift = np.repeat(kept_begin - begin, size)
    here, there = new[places], kept[places + shift]
    differ = here != there
    differing_of = np.add.reduceat(differ, ends - size, dtype=np.intp)
    for gap in ((size >= _CLEAR) & (2 * differing_of > size)).nonzero()[0].tolist():
        inside = slice(ends[gap] - size[gap], ends[gap])
        one, other = here[inside].tolist(), there[inside].tolist()
        if _common(one, other) <= size[gap] - differing_of[gap]:
            continue
        opposite = range(int(kept_begin[gap]), int(kept_begin[gap]) + len(other))
        _compare_uneven(one, other, int(begin[gap]), opposite, False, result)  # they are shifted
        differ[inside] = False
        result.common -= int(size[gap])
        result.kept_common -= int(size[gap])
    changed = differ.nonzero()[0]
    same = len(differ) - len(changed)
    result.common += same
    result.kept_common += same
    if len(changed):
        where = places[changed]
        breaks = (where[1:] != where[:-1] + 1).nonzero()[0]
        first = np.concatenate((where[:1], where[breaks + 1]))
        last = np.concatenate((where[breaks], where[-1:])) + 1
        offset = np.concatenate((shift[changed[:1]], shift[changed[breaks + 1]]))
        runs = last - first
        result.replaced = max(result.replaced, int(runs.max()))
        result.rewritten += int(runs[runs >= BLOCK].sum())
        result.numbers_same -= int(np.count_nonzero(here[changed] & 1))
        result.numbers_changed += where[(here[changed] & there[changed] & 1) != 0].tolist()
        for here_begin, length, shifted in zip(first.tolist(), runs.tolist(), offset.tolist(), strict=True):
            if length <= _SMALL:
                there_begin = here_begin + shifted
                result.pieces.append((here_begin, here_begin + length, there_begin, there_begin + length))


def _compare_uneven(
    here: list[int], there: list[int], begin: int, places: Sequence[int], at_end: bool, result: Differences
) -> None:
    """A gap whose sides differ in length, or seem shifted, and the `places` of what is there.

    These are not in one piece where a block of the kept sequence has moved. What only one side has there may belong to
    what has moved.
    """
    if there and max(len(here), len(there)) <= _SMALL:
        found = differing(here, there)
        common = len(here) - sum(end - first for first, end, _, _ in found)
        moved = places[-1] - places[0] >= len(places)
        result.pieces += [
            (begin + a, begin + b, *_in_one_piece(places, c, d))
            for a, b, c, d in found
            if not moved or (a < b and c < d)
        ]
    else:
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
    numbers = [place for place, symbol in enumerate(here) if symbol & 1]
    if numbers:
        others = [symbol for symbol in there if symbol & 1]
        same = common_subsequence([here[place] for place in numbers], others)
        changed = min(len(numbers), len(others)) - same
        known = set(others)
        numbers.sort(key=lambda place: here[place] in known)  # first those that the kept sequence has nowhere here
        result.numbers_changed += [begin + place for place in numbers[:changed]]
        result.numbers_same -= len(numbers) - same


def _in_one_piece(places: Sequence[int], first: int, end: int) -> tuple[int, int]:
    """Begin and end of the first of these places, and of those that follow it without a break."""
    if first == end:
        begin = places[first] if first < len(places) else places[-1] + 1
        return begin, begin
    last = first
    while last + 1 < end and places[last + 1] == places[last] + 1:
        last += 1
    return places[first], places[last] + 1


def _common(here: Sequence[int], there: Sequence[int]) -> int:
    """Length of the longest common subsequence, but 0 for what is too long to be aligned."""
    return common_subsequence(here, there) if there and max(len(here), len(there)) <= _GAP_LIMIT else 0
