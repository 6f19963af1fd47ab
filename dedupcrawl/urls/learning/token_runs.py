"""Runs of numbers in a common pool: the paths and queries of `url_columns`, and their hashes."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from dedupcrawl.urls.learning import kernels
from dedupcrawl.urls.learning.token_texts import Bools, Ints, Numbers

Hashes = npt.NDArray[np.uint64]

_STEP, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB  # SplitMix64
_BASE = 0x2545F4914F6CDD1D  # odd: its powers stand for the places in a run


class Runs:
    """A run of numbers for each of n rows, in a pool that they may share with others."""

    __slots__ = ("pool", "size", "start")

    def __init__(self, pool: Numbers, start: Ints, size: Ints) -> None:
        self.pool, self.start, self.size = pool, start, size

    def taken(self, rows: Ints) -> Runs:
        """The runs of these rows; what is put to them is not put to the others."""
        return Runs(self.pool, self.start[rows], self.size[rows])

    def columns(self) -> tuple[Ints, Ints, Ints]:
        """The pool, and start and size of each run."""
        return self.pool.all, self.start, self.size

    def flat(self, rows: Ints) -> tuple[Ints, Ints, Ints]:
        """All numbers of these rows: for each its place in `rows`, its place in its run, and itself."""
        size = self.size[rows]
        if kernels.compiled is not None:
            owner, place, numbers = np.empty((3, int(size.sum())), dtype=np.int64)
            kernels.compiled.flat(*self.columns(), np.ascontiguousarray(rows), owner, place, numbers)
            return owner, place, numbers
        owner = np.repeat(np.arange(len(rows)), size)
        place = np.arange(len(owner)) - (np.cumsum(size) - size)[owner]
        return owner, place, self.pool.all[self.start[rows][owner] + place]

    def at(self, rows: Ints, place: int) -> Ints:
        """The number at a place of each row, from the end if it is negative; the runs must be long enough."""
        first = self.start[rows] if place >= 0 else self.start[rows] + self.size[rows]
        return self.pool.all[first + place]

    def put(self, rows: Ints, size: Ints, numbers: Ints) -> None:
        """Give these rows new runs, which stand one after the other in `numbers`."""
        self.start[rows] = len(self.pool) + np.cumsum(size) - size
        self.size[rows] = size
        self.pool.extend(numbers)

    def differs(self, rows: Ints, before: Runs) -> Bools:
        """Which of these rows have another run than `before`, of the same pool, has in its rows. Shape (len(rows),)."""
        changed: Bools = self.size[rows] != before.size
        same = np.flatnonzero(~changed & (self.start[rows] != before.start))
        owner, _, numbers = self.flat(rows[same])
        changed[same[owner[numbers != before.flat(same)[2]]]] = True
        return changed

    def hashes(self, rows: Ints) -> Hashes:
        """A number for each run: equal runs have equal ones, and of others hardly any two. Shape (len(rows),).

        It is a sum of a hash of each token and its place. (Of a polynomial over the tokens modulo 2^64, the paths of a
        Thue-Morse sequence are known to have one value.)
        """
        if kernels.compiled is not None:
            found = kernels.compiled.run_hashes(*self.columns(), np.ascontiguousarray(rows))
            return np.frombuffer(found, dtype=np.uint64)
        _, place, numbers = self.flat(rows)
        size = self.size[rows]
        terms = mixed(numbers.astype(np.uint64) ^ powers(int(size.max(initial=0)))[place])
        ends = np.cumsum(size)
        total = np.concatenate([np.zeros(1, np.uint64), np.cumsum(terms, dtype=np.uint64)])
        sums: Hashes = total[ends] - total[ends - size]
        return sums


def mixed(numbers: Hashes) -> Hashes:
    """SplitMix64 of each number: spreads neighbours over 64 bits."""
    x = (numbers + np.uint64(1)) * np.uint64(_STEP)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(_FIRST)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(_SECOND)
    found: Hashes = x ^ (x >> np.uint64(31))
    return found


@lru_cache(maxsize=64)
def powers(count: int) -> Hashes:
    """The first powers of the base, modulo 2^64. Shape (count,)."""
    factors = np.full(count, _BASE, dtype=np.uint64)
    factors[:1] = 1
    return np.cumprod(factors, dtype=np.uint64)
