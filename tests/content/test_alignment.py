from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.content.alignment import common_subsequence, differences, differing
from dedupcrawl.content.tiles import Symbols


def joined(pieces: Sequence[Sequence[int]]) -> list[int]:
    return list(chain.from_iterable(pieces))


FEW = st.lists(st.integers(0, 5), max_size=80)
PIECES = st.lists(st.lists(st.integers(0, 400), max_size=12), max_size=8)


def symbols(values: Sequence[int]) -> Symbols:
    return np.array(values, dtype=np.uint16)


def words(count: int, first: int = 0) -> list[int]:
    """Different symbols without digits."""
    return [2 * (first + number) for number in range(count)]


def brute_force_subsequence(a: Sequence[int], b: Sequence[int]) -> int:
    row = [0] * (len(b) + 1)
    for x in a:
        before, row = row, [0]
        for place, y in enumerate(b):
            row.append(before[place] + 1 if x == y else max(before[place + 1], row[-1]))
    return row[-1]


@given(FEW, FEW)
def test_common_subsequence(a: list[int], b: list[int]) -> None:
    assert common_subsequence(a, b) == brute_force_subsequence(a, b)


@given(FEW, FEW)
def test_what_differs_is_what_no_longest_common_subsequence_has(a: list[int], b: list[int]) -> None:
    pieces = differing(a, b)
    rest, other_rest, end, other_end = [], [], 0, 0
    for begin, piece_end, other_begin, other_piece_end in [*pieces, (len(a), len(a), len(b), len(b))]:
        assert begin >= end
        assert other_begin >= other_end
        rest += a[end:begin]
        other_rest += b[other_end:other_begin]
        end, other_end = piece_end, other_piece_end
    assert rest == other_rest
    assert len(rest) == brute_force_subsequence(a, b)


@given(FEW | PIECES.map(joined), FEW | PIECES.map(joined))
def test_pieces_differ_and_stand_between_what_is_the_same(a: list[int], b: list[int]) -> None:
    end = 0
    for begin, piece_end, kept_begin, kept_end in sorted(differences(symbols(a), symbols(b)).pieces):
        assert end <= begin <= piece_end <= len(a)
        assert 0 <= kept_begin <= kept_end <= len(b)
        assert a[begin:piece_end] != b[kept_begin:kept_end]
        end = piece_end


@given(FEW, FEW)
def test_facts_stay_in_bounds(a: list[int], b: list[int]) -> None:
    found = differences(symbols(a), symbols(b))
    numbers = sum(value & 1 for value in a)
    assert 0 <= found.common <= len(a)
    assert 0 <= found.kept_common <= len(b)
    assert 0 <= found.replaced <= min(len(a), len(b))
    assert 0 <= found.rewritten + found.inserted <= len(a)
    assert found.added <= len(a)
    assert 0 <= found.numbers_same <= numbers
    assert len(found.numbers_changed) <= numbers - found.numbers_same
    assert all(0 <= place < len(a) and a[place] & 1 for place in found.numbers_changed)


@given(st.lists(st.integers(0, 65535), max_size=300) | FEW)
def test_a_sequence_and_itself(values: list[int]) -> None:
    found = differences(symbols(values), symbols(values))
    assert (found.common, found.kept_common) == (len(values), len(values))
    assert (found.replaced, found.rewritten, found.added, found.added_at_ends) == (0, 0, 0, 0)
    assert found.numbers_changed == []
    assert found.numbers_same == sum(value & 1 for value in values)


@given(FEW, FEW, FEW)
def test_one_inside_the_other(before: list[int], inside: list[int], after: list[int]) -> None:
    outside = [*before, *inside, *after]
    found = differences(symbols(inside), symbols(outside))
    assert (found.common, found.kept_common) == (len(inside), len(inside))
    assert (found.replaced, found.added, found.added_at_ends, found.pieces) == (0, 0, 0, [])
    found = differences(symbols(outside), symbols(inside))
    assert (found.common, found.kept_common) == (len(inside), len(inside))
    assert (found.replaced, found.added, found.pieces) == (0, 0, [])
    assert found.added_at_ends <= max(len(outside) - len(inside), 0)


@given(st.sets(st.integers(0, 199), max_size=30))
def test_replaced_words_are_counted_from_either_side(places: set[int]) -> None:
    kept = words(200)
    new = [5000 + 2 * value if place in places else value for place, value in enumerate(kept)]
    one, other = differences(symbols(new), symbols(kept)), differences(symbols(kept), symbols(new))
    assert one.common == one.kept_common == other.common == other.kept_common == 200 - len(places)
    runs, longest = 0, 0
    for place in range(200):
        runs = runs + 1 if place in places else 0
        longest = max(longest, runs)
    assert one.replaced == other.replaced == longest


class TestWhatDiffers:
    KEPT = words(300)

    def differences(self, new: Sequence[int]) -> dict[str, int]:
        found = differences(symbols(new), symbols(self.KEPT))
        facts = {name: getattr(found, name) for name in ("replaced", "rewritten", "inserted", "added", "added_at_ends")}
        return facts | {"common": found.common, "kept_common": found.kept_common}

    def test_a_replaced_block(self) -> None:
        found = self.differences(self.KEPT[:100] + words(30, 1000) + self.KEPT[150:])
        assert found == {
            "replaced": 30,
            "rewritten": 30,
            "inserted": 0,
            "added": 0,
            "added_at_ends": 0,
            "common": 250,
            "kept_common": 250,
        }

    def test_an_added_block(self) -> None:
        found = self.differences(self.KEPT[:100] + words(30, 1000) + self.KEPT[100:])
        assert found == {
            "replaced": 0,
            "rewritten": 0,
            "inserted": 30,
            "added": 30,
            "added_at_ends": 0,
            "common": 300,
            "kept_common": 300,
        }

    def test_a_wrapper(self) -> None:
        found = self.differences(words(40, 1000) + self.KEPT + words(25, 2000))
        assert found == {
            "replaced": 0,
            "rewritten": 0,
            "inserted": 0,
            "added": 0,
            "added_at_ends": 40,
            "common": 300,
            "kept_common": 300,
        }

    def test_other_ends(self) -> None:
        found = self.differences(words(40, 1000) + self.KEPT[30:])
        assert found["replaced"] == found["rewritten"] == 30
        assert found["added_at_ends"] == 10

    @pytest.mark.parametrize("begin", [0, 1, 57, 180])
    def test_an_excerpt_from_anywhere(self, begin: int) -> None:
        found = self.differences(self.KEPT[begin : begin + 120])
        assert found == {
            "replaced": 0,
            "rewritten": 0,
            "inserted": 0,
            "added": 0,
            "added_at_ends": 0,
            "common": 120,
            "kept_common": 120,
        }

    def test_shuffled_blocks(self) -> None:
        found = self.differences(self.KEPT[200:] + self.KEPT[:80] + self.KEPT[80:200])
        assert found == {
            "replaced": 0,
            "rewritten": 0,
            "inserted": 0,
            "added": 0,
            "added_at_ends": 0,
            "common": 300,
            "kept_common": 300,
        }

    def test_a_word_too_many_shifts_nothing(self) -> None:
        new = [*self.KEPT[:100], 7000, *self.KEPT[100:103], 7002, *self.KEPT[104:106], *self.KEPT[107:]]
        found = self.differences(new)
        assert found["common"] == found["kept_common"] == 298
        assert found["replaced"] <= 2
        assert found["rewritten"] == 0

    def test_nothing_in_common(self) -> None:
        found = self.differences(words(100, 5000))
        assert found["common"] == found["kept_common"] == 0
        assert found["replaced"] == found["rewritten"] == 100

    def test_text_that_repeats_itself(self) -> None:
        """Every gram stands there five times; the fifth paragraph has another word in it."""
        paragraph = words(40)
        new = paragraph * 4 + [*paragraph[:20], 9000, *paragraph[21:]]
        found = differences(symbols(new), symbols(paragraph * 5))
        assert found.common == 199
        assert found.replaced == 1


class TestBesideABlockThatMoved:
    HEAD, FOOT, BLOCK = words(10), words(10, 100), words(10, 200)

    def pieces(self, new: list[int], kept: list[int]) -> list[tuple[list[int], list[int]]]:
        """What differs, as both sequences have it."""
        one, other = [*self.HEAD, *new, *self.FOOT, *self.BLOCK], [*self.HEAD, *kept, *self.FOOT]
        found = differences(symbols(one), symbols(other))
        assert found.moves == 1
        return [(one[begin:end], other[first:last]) for begin, end, first, last in found.pieces]

    def test_what_was_replaced(self) -> None:
        assert self.pieces([2001], [3001, 3003, *self.BLOCK]) == [([2001], [3001, 3003])]

    def test_in_pieces_of_which_the_first_is_told(self) -> None:
        assert self.pieces([2001], [3001, *self.BLOCK, 3003]) == [([2001], [3001])]

    def test_what_only_one_side_has_may_belong_to_the_block(self) -> None:
        kept = [3001, 3003, *self.BLOCK, 3005]
        assert self.pieces([3001, 2001, 3003], kept) == []
        assert self.pieces([3001, 2001], kept) == [([2001], [3003])]


class TestNumbers:
    TEXT = words(200)

    def with_numbers(self, *numbers: int) -> Symbols:
        text = self.TEXT.copy()
        for place, number in enumerate(numbers):
            text[10 + 30 * place] = 2 * number + 1
        return symbols(text)

    def test_same_and_changed(self) -> None:
        found = differences(self.with_numbers(1, 2, 3, 4), self.with_numbers(1, 7, 3, 8))
        assert found.numbers_changed == [40, 100]
        assert found.numbers_same == 2

    def test_a_number_in_place_of_a_word_is_an_edit(self) -> None:
        found = differences(self.with_numbers(1, 2), symbols(self.TEXT))
        assert found.numbers_changed == []
        assert found.numbers_same == 0

    def test_in_a_gap_of_uneven_sides(self) -> None:
        new = symbols([*self.TEXT[:50], 1, 9000, 3, 5, *self.TEXT[50:]])
        kept = symbols([*self.TEXT[:50], 1, 9002, 9004, 9006, 7, 5, *self.TEXT[50:]])
        found = differences(new, kept)
        assert found.numbers_changed == [52]
        assert found.numbers_same == 2

    def test_that_have_changed_places_in_a_gap_of_uneven_sides(self) -> None:
        one, other = [1, 9000, 9002, 9004, 9006, 9008, 3], [3, 9000, 9002, 9010, 9012, 9004, 9006, 9008, 1]
        head, foot = self.TEXT[:50], self.TEXT[50:]
        found = differences(symbols([*head, *one, *foot]), symbols([*head, *other, *foot]))
        assert found.numbers_changed == [50]
        assert found.numbers_same == 1
        one, other = [9000, 1, 9002, 3, 9004, 5], [9000, 9010, 3, 9012, 5, 9002, 1, 9014]
        found = differences(symbols([*head, *one, *foot]), symbols([*head, *other, *foot]))
        assert len(found.numbers_changed) == 1

    def test_that_changed_places_with_their_unit(self) -> None:
        """出口 31 亿元，进口 45 亿元."""
        head, foot, unit = self.TEXT[:50], self.TEXT[50:], [8000, 8002]
        new = [*head, 9000, 7000, 31, *unit, 9002, 9004, 7000, 45, *unit, *foot]
        kept = [*head, 9000, 7000, 45, *unit, 9004, 7000, 31, *unit, *foot]
        found = differences(symbols(new), symbols(kept))
        assert found.numbers_changed == [52]
        assert found.moves == 0

    def test_of_a_block_that_moved(self) -> None:
        block = [8000, 31, 8002, 8004, 8006, 8008]
        new, kept = [*block, *self.TEXT[:60]], [*self.TEXT[:60], *block]
        found = differences(symbols(new), symbols(kept))
        assert (found.numbers_changed, found.numbers_same, found.moves) == ([], 1, 1)

    @pytest.mark.parametrize("where", [0, 100, 200])
    def test_that_only_the_new_sequence_has(self, where: int) -> None:
        new = [*self.TEXT[:where], 1, 3, 5, *self.TEXT[where:]]
        new[20] = kept_number = 7
        kept = self.TEXT.copy()
        kept[17 if where == 0 else 20] = kept_number
        found = differences(symbols(new), symbols(kept))
        assert (found.numbers_changed, found.numbers_same) == ([], 1)
        assert differences(symbols(new[:150]), symbols(kept[60:])).numbers_same == 0

    def test_that_a_gap_has_more_of(self) -> None:
        new = symbols([*self.TEXT[:50], 1, 9000, 3, 9002, 5, *self.TEXT[50:]])
        kept = symbols([*self.TEXT[:50], 9004, 9006, 3, *self.TEXT[50:]])
        found = differences(new, kept)
        assert (found.numbers_changed, found.numbers_same) == ([], 1)


@pytest.mark.parametrize("seed", range(3))
def test_sequences_made_to_cost_time(seed: int) -> None:
    """No assertion on time: they must end, and within the bounds that the docstring gives."""
    chance = random.Random(seed)
    blocks = [[*words(5, 10 * number), 2 * chance.randrange(15_000, 32_000)] for number in range(1300)]
    shuffled = chance.sample(blocks, len(blocks))
    changed = [[*block[:5], 2 * chance.randrange(15_000, 32_000)] for block in shuffled]
    for new, kept in ((joined(shuffled), joined(blocks)), (joined(changed), joined(blocks))):
        assert differences(symbols(new), symbols(kept)).common >= 5 * 1300
    ones = differences(symbols([3] * 8192), symbols([3] * 8191))
    assert ones.common <= 8192
    few = [chance.choice(range(8)) for _ in range(8192)], [chance.choice(range(8)) for _ in range(8192)]
    assert differences(symbols(few[0]), symbols(few[1])).common <= 8192
