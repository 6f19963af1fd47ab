"""Runs beside plain lists of lists, which they stand for; compiled steps are in test_kernels.py."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.urls.learning.token_runs import Runs, mixed, powers
from dedupcrawl.urls.learning.token_texts import Ints, Numbers

lists = st.lists(st.lists(st.integers(0, 3), max_size=4), min_size=1, max_size=6)
NO_ROWS = np.zeros(0, dtype=np.int64)


def runs_of(rows: list[list[int]]) -> Runs:
    empty = np.zeros(len(rows), dtype=np.int64)
    runs = Runs(Numbers(), empty, empty.copy())
    runs.put(np.arange(len(rows)), sizes(rows), joined(rows))
    return runs


def sizes(rows: list[list[int]]) -> Ints:
    return np.array([len(row) for row in rows], dtype=np.int64)


def joined(rows: list[list[int]]) -> Ints:
    return np.array([number for row in rows for number in row], dtype=np.int64)


def listed(runs: Runs) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in range(len(runs.size))]
    owner, place, numbers = runs.flat(np.arange(len(runs.size)))
    for row, at, number in zip(owner.tolist(), place.tolist(), numbers.tolist(), strict=True):
        assert at == len(found[row])
        found[row].append(number)
    return found


@given(lists, st.data())
def test_what_is_put_is_there_and_nothing_else_changes(rows: list[list[int]], data: st.DataObject) -> None:
    runs = runs_of(rows)
    assert listed(runs) == rows
    some = data.draw(st.lists(st.integers(0, len(rows) - 1), unique=True))
    taken, before = runs.taken(np.array(some, dtype=np.int64)), runs.taken(np.arange(len(rows)))
    new = data.draw(st.lists(st.lists(st.integers(0, 3), max_size=4), min_size=len(some), max_size=len(some)))
    taken.put(np.arange(len(some)), sizes(new), joined(new))
    assert listed(taken) == new
    assert listed(runs) == rows, "what is put to rows that were taken is not put to the others"
    runs.put(np.array(some, dtype=np.int64), sizes(new), joined(new))
    after = list(rows)
    for row, run in zip(some, new, strict=True):
        after[row] = run
    assert listed(runs) == after
    assert listed(before) == rows
    changed = runs.differs(np.arange(len(rows)), before)
    assert changed.tolist() == [one != other for one, other in zip(rows, after, strict=True)]


@given(lists)
def test_a_place_from_the_start_and_from_the_end(rows: list[list[int]]) -> None:
    runs = runs_of(rows)
    for place in range(-4, 4):
        there = [row for row, run in enumerate(rows) if -len(run) <= place < len(run)]
        assert runs.at(np.array(there, dtype=np.int64), place).tolist() == [rows[row][place] for row in there]


@given(lists)
def test_equal_runs_have_equal_hashes_and_others_have_not(rows: list[list[int]]) -> None:
    hashes = runs_of(rows).hashes(np.arange(len(rows))).tolist()
    for one, of_one in zip(rows, hashes, strict=True):
        for other, of_other in zip(rows, hashes, strict=True):
            assert (of_one == of_other) == (one == other)
    assert runs_of(rows).hashes(NO_ROWS).tolist() == []


def test_runs_of_a_thue_morse_sequence_have_hashes_of_their_own() -> None:
    """A polynomial modulo 2^64 has one value for both, whatever its base."""
    order = [bin(i).count("1") & 1 for i in range(2048)]
    runs = runs_of([[1 + (i ^ flip) for i in order] for flip in (0, 1)])
    assert len(set(runs.hashes(np.arange(2)).tolist())) == 2


def test_mixed_is_splitmix64() -> None:
    """The first outputs of the generator with seed 1234567 (https://rosettacode.org/wiki/Pseudo-random_numbers/Splitmix64)."""
    step = 0x9E3779B97F4A7C15
    states = np.array([(1234567 + i * step) % (1 << 64) for i in range(1, 6)], dtype=np.uint64)
    numbers = np.array([int(state) * pow(step, -1, 1 << 64) % (1 << 64) - 1 for state in states], dtype=np.uint64)
    assert mixed(numbers).tolist() == [
        6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821,
    ]  # fmt: skip


def test_powers_are_all_different_and_odd() -> None:
    found = powers(5000)
    assert found[0] == 1
    assert int(found[2]) == int(found[1]) ** 2 % (1 << 64)
    assert len(np.unique(found)) == 5000
    assert (found % 2 == 1).all()
    assert powers(0).tolist() == []
