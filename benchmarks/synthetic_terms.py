"""MWO records of made-up pages for `index_scale --more mwo`, as many as are asked for.

Which terms a page has follows the pages of two universities (8,025 pages, 61 terms each on average): the share of
pages that have the r-th most frequent term is interpolated between measured shares and goes on as r^−1.45. Terms beyond
the thousandth most frequent are chosen from all of them, or, every other one, from the 200 of the page's site, so that
pages of a site are alike. Weights by rank are those of the real pages, too: (rank + 4)^−0.85.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dedupcrawl.core.overlap import TOTAL

_RANKS = (1, 2, 5, 10, 30, 100, 300, 1_000, 3_000, 10_000)
_SHARES = (0.67, 0.64, 0.36, 0.29, 0.163, 0.077, 0.035, 0.011, 0.0026, 0.0004)
_TAIL_SLOPE = -1.45
_VOCABULARY = 2_000_000
_HEAD = 1_000
_SITE_TERMS = 200
_MOST = 80
_FACTOR = 0x9E3779B1  # odd: a term's number times it is another number of 32 bits for each term


class Terms:
    """Draws records; always the same for one seed."""

    def __init__(self, seed: int, sites: int) -> None:
        ranks = np.arange(1, _VOCABULARY + 1, dtype=np.float64)
        shares = np.exp(np.interp(np.log(ranks), np.log(_RANKS), np.log(_SHARES)))
        last = _RANKS[-1]
        shares[last:] = _SHARES[-1] * (ranks[last:] / last) ** _TAIL_SLOPE
        self._seed = seed
        self._head = shares[:_HEAD]
        self._in_tail = float(shares[_HEAD:].sum())
        self._heights = np.cumsum(shares[_HEAD:]) / self._in_tail
        self._of_site = self._drawn(np.random.default_rng((seed, 2)), sites * _SITE_TERMS).reshape(sites, _SITE_TERMS)

    def _drawn(self, rng: np.random.Generator, count: int) -> NDArray[np.int64]:
        return _HEAD + self._heights.searchsorted(rng.random(count))

    def records(self, first: int, pages: int) -> list[bytes]:
        """The records of the pages `first` … `first` + `pages` - 1, as their check makes them."""
        rng = np.random.default_rng((self._seed, 3, first))
        page, term = np.nonzero(rng.random((pages, _HEAD)) < self._head)
        tails = rng.poisson(self._in_tail, pages)
        owner = np.repeat(np.arange(pages), tails)
        drawn = self._drawn(rng, owner.size)
        ours = rng.random(owner.size) < 0.5
        sites = (first + owner[ours]) % len(self._of_site)
        drawn[ours] = self._of_site[sites, (_SITE_TERMS * rng.random(sites.size) ** 2).astype(np.int64)]
        return _packed_pages(rng, pages, np.concatenate([page, owner]), _hashes(np.concatenate([term, drawn])))

    def duplicate(self, rng: np.random.Generator, record: bytes) -> bytes:
        """A record in which up to 8 % of the terms are others and all weights have changed a little."""
        hashes, weights = of_bytes(record)
        kept = rng.random(hashes.size) > rng.uniform(0, 0.08)
        others = _hashes(self._drawn(rng, int((~kept).sum())))
        changed = weights * rng.uniform(0.9, 1.1, weights.size)
        return _packed(np.concatenate([hashes[kept], others]), np.concatenate([changed[kept], changed[~kept]]))


def of_bytes(record: bytes) -> tuple[NDArray[np.uint32], NDArray[np.uint16]]:
    """Hashes and weights of a record."""
    count = len(record) // 6
    return np.frombuffer(record, "<u4", count), np.frombuffer(record, "<u2", count, 4 * count)


def _hashes(terms: NDArray[np.int64]) -> NDArray[np.uint32]:
    hashes: NDArray[np.uint32] = (terms.astype(np.uint64) * np.uint64(_FACTOR)).astype(np.uint32)
    return hashes


def _packed_pages(
    rng: np.random.Generator, pages: int, owners: NDArray[np.int64], hashes: NDArray[np.uint32]
) -> list[bytes]:
    """Records of all pages at once: `_MOST` of the terms of each, in random order of weight."""
    different = np.sort(owners.astype(np.uint64) << np.uint64(32) | hashes)
    different = different[np.concatenate([[True], different[1:] != different[:-1]])]
    of_page = different >> np.uint64(32)
    owners = of_page.astype(np.int64)
    starts = np.cumsum(np.bincount(owners, minlength=pages)) - np.bincount(owners, minlength=pages)
    at_random = np.argsort(of_page << np.uint64(32) | rng.integers(0, 1 << 32, owners.size, dtype=np.uint64))
    ranks = np.empty(owners.size)
    ranks[at_random] = np.arange(owners.size) - starts[owners]
    stay = ranks < _MOST
    owners, different, weights = owners[stay], different[stay], (ranks[stay] + 4) ** -0.85
    starts = owners.searchsorted(np.arange(pages))
    shares = (weights * (TOTAL / np.bincount(owners, weights, pages))[owners]).astype(np.int64)
    shares[starts] += TOTAL - np.bincount(owners, shares, pages).astype(np.int64)
    raw_hashes, raw_shares = different.astype("<u4").tobytes(), shares.astype("<u2").tobytes()
    ends = [*starts[1:].tolist(), owners.size]
    return [
        raw_hashes[4 * start : 4 * end] + raw_shares[2 * start : 2 * end]
        for start, end in zip(starts.tolist(), ends, strict=True)
    ]


def _packed(hashes: NDArray[np.uint32], weights: NDArray[np.floating]) -> bytes:
    hashes, place = np.unique(hashes, return_index=True)
    shares = (weights[place] * (TOTAL / weights[place].sum())).astype(np.int64)
    shares[0] += TOTAL - shares.sum()
    packed: bytes = hashes.astype("<u4").tobytes() + shares.astype("<u2").tobytes()
    return packed


class Columns:
    """All terms of some pages' records, by hash: MWO without postings."""

    def __init__(self, records: Sequence[bytes]) -> None:
        each = [of_bytes(record) for record in records]
        hashes = np.concatenate([found for found, _ in each])
        order = np.argsort(hashes, kind="stable")
        self._pages = len(each)
        self._hashes = hashes[order]
        self._weights = np.concatenate([found for _, found in each])[order]
        self._owners = np.repeat(np.arange(self._pages), [found.size for found, _ in each])[order]

    def overlaps(self, record: bytes) -> NDArray[np.int64]:
        """Shape (pages,): MWO of one record with each of these pages, times TOTAL."""
        shared = np.zeros(self._pages, dtype=np.int64)
        hashes, weights = of_bytes(record)
        ends = self._hashes.searchsorted(hashes, "right")
        for weight, start, end in zip(weights, self._hashes.searchsorted(hashes), ends, strict=True):
            shared[self._owners[start:end]] += np.minimum(weight, self._weights[start:end])
        return shared
