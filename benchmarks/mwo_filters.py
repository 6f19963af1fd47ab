"""Other ways to find overlapping pages, for `mwo_experiment`: the paper's filters, and prefixes of one shared order.

The package needs neither: see `dedupcrawl.content.checks.mwo`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.mwo_records import Record
from dedupcrawl.core.overlap import TOTAL

Order = Callable[[int], tuple[float, int]]
"""Term hash → its place in a global order."""


def by_frequency(sample: Sequence[Record]) -> Order:
    """Increasing document frequency in a sample that is not touched again, so terms it lacks come first."""
    frequencies = Counter(term for record in sample for term in record.hashes.tolist())
    return lambda term: (frequencies[term], term)


def by_hash(term: int) -> tuple[float, int]:
    """No order that anybody has to know."""
    return (0.0, term)


def ordered(record: Record, order: Order) -> list[tuple[int, int]]:
    """Terms and weights in a global order: the paper's canonical record."""
    return sorted(zip(record.hashes.tolist(), record.weights.tolist(), strict=True), key=lambda pair: order(pair[0]))


# The paper's filters count terms (eq. 1 to 3).


def paper_prefix(record: Sequence[tuple[int, int]], threshold: float) -> list[int]:
    """The first |r| − ⌈t|r|⌉ + 1 terms."""
    length = len(record) - math.ceil(threshold * len(record) - 1e-9) + 1
    return [term for term, _ in record[:length]]


def paper_passes(
    one: Sequence[tuple[int, int]], other: Sequence[tuple[int, int]], threshold: float
) -> tuple[bool, bool]:
    """Whether a pair is in the paper's candidate set C, and in its mezzanine set M.

    Algorithm 3.1.3 puts a pair into M when any term that both prefixes share, at places p and q, leaves room for the
    overlap: 1 + min(|r| − p, |s| − q) >= t / (1 + t) · (|r| + |s|).
    """
    places = {term: place for place, term in enumerate(paper_prefix(other, threshold), 1)}
    needed = threshold / (1 + threshold) * (len(one) + len(other)) - 1e-9
    shared = [(p, places[term]) for p, term in enumerate(paper_prefix(one, threshold), 1) if term in places]
    return bool(shared), any(1 + min(len(one) - p, len(other) - q) >= needed for p, q in shared)


# Weighted prefixes of one order, on both sides: exact too, once both sides know the order.


def weighted_prefix(record: Sequence[tuple[int, int]], most_left: float) -> list[tuple[int, int]]:
    """The shortest prefix that leaves less than `most_left` of the weight."""
    left = TOTAL
    for length, (_, weight) in enumerate(record):
        if left < most_left:
            return list(record[:length])
        left -= weight
    return list(record)


class TwoSidedIndex:
    """Kept records under the terms of their prefixes.

    Attributes:
        postings: How many there are.
    """

    def __init__(self, records: Mapping[int, Record], order: Order, threshold: float, margin: float) -> None:
        self._order, self._margin = order, margin * TOTAL
        self._most_left = (threshold - margin) * TOTAL if margin else threshold * TOTAL
        lists: dict[int, list[tuple[int, int]]] = {}
        for page, record in records.items():
            for term, weight in weighted_prefix(ordered(record, order), self._most_left):
                lists.setdefault(term, []).append((page, weight))
        self._lists: dict[int, NDArray[np.int64]] = {term: np.array(found) for term, found in lists.items()}
        self.postings = sum(map(len, lists.values()))

    def candidates(self, record: Record) -> tuple[int, int]:
        """How many pages share the margin inside both prefixes, and how many postings that took."""
        found, shares = [], []
        for term, weight in weighted_prefix(ordered(record, self._order), self._most_left):
            if term in self._lists:
                found.append(self._lists[term][:, 0])
                shares.append(np.minimum(self._lists[term][:, 1], weight))
        if not found:
            return 0, 0
        pages, place = np.unique(np.concatenate(found), return_inverse=True)
        shared = np.bincount(place, np.concatenate(shares), len(pages))
        return int((shared >= max(1, self._margin - 1)).sum()), len(place)
