"""Signatures by "shingles", "title" and "concepts" of made-up pages for `index_scale --more`, as many as are asked for.

What of them pages share follows the pages of two universities, as their signatures leave out what sites repeat
(3,580 pages kept of 4,060): the share of pages that have the r-th most frequent sampled shingle, or of which the r-th
most frequent concept is among the first five, is interpolated between measured shares. What is rarer has one page
alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.synthetic_terms import Terms
from dedupcrawl.content.checks.shingles import FEWEST, LEVELS
from dedupcrawl.content.concept_network import ConceptVector

_RANKS = (1, 2, 5, 10, 30, 100, 300, 1_000)
_SHINGLE_SHARES = (0.157, 0.0402, 0.0232, 0.0201, 0.0089, 0.0042, 0.0022, 0.0011)
_SHINGLES = 26.4  # of a page, on average
_CONCEPT_SHARES = (0.0807, 0.0712, 0.043, 0.0302, 0.0142, 0.0061, 0.0025, 0.0008)
_CONCEPTS = 20  # of a page; the first five are what it is found by
_SEARCHED = 5
_CONCEPT_LENGTH = 300  # of a text
_TITLED_ALIKE = 0.2  # pages with one of the titles that their site repeats
_HEAD = _RANKS[-1]


class Maker(Protocol):
    """Draws signatures by one check; always the same for one seed."""

    def records(self, first: int, pages: int) -> list[bytes]:
        """The signatures of the pages `first` … `first` + `pages` - 1."""
        ...

    def duplicate(self, rng: np.random.Generator, record: bytes) -> bytes:
        """The signature of a page that duplicates one with this signature."""
        ...


def shares_by_rank(shares: Sequence[float]) -> NDArray[np.float64]:
    """Shape (_HEAD,): the share of pages that have what is r-th most frequent, between those measured at `_RANKS`."""
    ranks = np.arange(1, _HEAD + 1, dtype=np.float64)
    return np.exp(np.interp(np.log(ranks), np.log(_RANKS), np.log(shares)))


class Shingles:
    """Sampled shingles, all at the highest modulus."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._shares = shares_by_rank(_SHINGLE_SHARES)
        self._often = self._drawn(np.random.default_rng((seed, 5)), _HEAD)

    def _drawn(self, rng: np.random.Generator, count: int) -> NDArray[np.uint32]:
        drawn = rng.integers(0, 1 << (32 - LEVELS), count, dtype=np.uint32)
        drawn <<= np.uint32(LEVELS)
        return drawn

    def records(self, first: int, pages: int) -> list[bytes]:
        rng = np.random.default_rng((self._seed, 6, first))
        page, shingle = np.nonzero(rng.random((pages, _HEAD)) < self._shares)
        often = np.split(self._often[shingle], np.searchsorted(page, np.arange(1, pages)))
        rare = rng.exponential(_SHINGLES - FEWEST - self._shares.sum(), pages).astype(np.int64) + FEWEST
        seldom = np.split(self._drawn(rng, int(rare.sum())), np.cumsum(rare)[:-1])
        return [self._packed(np.concatenate(both)) for both in zip(often, seldom, strict=True)]

    def duplicate(self, rng: np.random.Generator, record: bytes) -> bytes:
        """Up to 30 % of them are others."""
        shingles = np.frombuffer(record, "<u4", offset=1)
        kept = rng.random(shingles.size) > rng.uniform(0, 0.3)
        return self._packed(np.concatenate([shingles[kept], self._drawn(rng, int((~kept).sum()))]))

    def _packed(self, shingles: NDArray[np.uint32]) -> bytes:
        return bytes((LEVELS,)) + np.unique(shingles).astype("<u4", copy=False).tobytes()


class Titles:
    """Hashes of title and host."""

    def __init__(self, seed: int, sites: int) -> None:
        self._seed = seed
        self._repeated = np.random.default_rng((seed, 7)).integers(0, 1 << 64, sites, dtype=np.uint64)

    def records(self, first: int, pages: int) -> list[bytes]:
        rng = np.random.default_rng((self._seed, 8, first))
        titles = rng.integers(0, 1 << 64, pages, dtype=np.uint64)
        sites = np.arange(first, first + pages) % self._repeated.size
        titles = np.where(rng.random(pages) < _TITLED_ALIKE, self._repeated[sites], titles)
        return [title.tobytes() for title in titles.astype("<u8")]

    def duplicate(self, rng: np.random.Generator, record: bytes) -> bytes:
        """The same."""
        return record


class Concepts:
    """Vectors of key concepts."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        shares = shares_by_rank(_CONCEPT_SHARES)
        self._heights = np.cumsum(shares) / _SEARCHED  # the rest of 1: concepts of one page alone

    def records(self, first: int, pages: int) -> list[bytes]:
        rng = np.random.default_rng((self._seed, 9, first))
        ranks = self._heights.searchsorted(rng.random((pages, _CONCEPTS)))
        alone = rng.integers(_HEAD, 1 << 32, ranks.shape)
        names = np.where(ranks < _HEAD, ranks, alone).astype(np.uint32)
        return [self._packed(rng, np.array(list(dict.fromkeys(row)), dtype=np.uint32)) for row in names.tolist()]

    def duplicate(self, rng: np.random.Generator, record: bytes) -> bytes:
        """The same concepts as often, at the same places but for a few words that stand before them."""
        vector = ConceptVector.from_bytes(record)
        moved = tuple(places + 3.0 for places in vector.positions)
        return ConceptVector(vector.length + 3, vector.names, vector.weights, moved).to_bytes()

    def _packed(self, rng: np.random.Generator, names: NDArray[np.uint32]) -> bytes:
        weights = 1 + rng.poisson(8 / np.arange(1, names.size + 1)).astype(np.float64)
        places = np.sort(rng.integers(0, _CONCEPT_LENGTH, (names.size, 2)), axis=1).astype(np.float64)
        return ConceptVector(_CONCEPT_LENGTH, names, weights, tuple(places)).to_bytes()


MORE = ("mwo", "shingles", "title", "concepts")


def makers(names: Sequence[str], seed: int, sites: int) -> Mapping[str, Maker]:
    """Check name → who makes its signatures, for names of `MORE`."""
    made: Mapping[str, Maker] = {
        "mwo": Terms(seed, sites),
        "shingles": Shingles(seed),
        "title": Titles(seed, sites),
        "concepts": Concepts(seed),
    }
    return {name: made[name] for name in names}
