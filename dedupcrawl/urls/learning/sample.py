"""Which URLs of a site to learn from: two parts by cluster, and a bounded sample of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dedupcrawl.urls.learning.token_runs import Hashes
from dedupcrawl.urls.learning.token_texts import Ints

_MULTIPLIER = 0x9E3779B97F4A7C15  # 2^64 / golden ratio: spreads consecutive labels
_OF_SEED = 0xD1B54A32D192ED03
_MASK = (1 << 64) - 1

_SAMPLED_SHARE = 0.03  # of a part, besides
_LARGEST_SAMPLE = 20_000
_CLUSTERED_SHARE = 0.7  # of the sample, at most, are URLs with duplicates; the rest are single pages
_MOST_OF_A_CLUSTER = 24  # URLs
_BUCKETS = 4  # of importance


@dataclass(frozen=True, slots=True)
class SitePart:
    """Some of the URLs of a site.

    Attributes:
        rows: Places of the URLs among all of the site.
        labels: Cluster of each.
        importance: Of each; all equal if None.
        share: Of the clusters of more than one URL, how many are in it.
    """

    rows: list[int]
    labels: list[int]
    importance: list[float] | None = None
    share: float = 1.0

    def __add__(self, other: SitePart) -> SitePart:
        """Both parts, without importance."""
        return SitePart(self.rows + other.rows, self.labels + other.labels, None, min(self.share, other.share))


def label_hash(number: int, seed: int) -> int:
    """A 64-bit hash of a label: the same everywhere, unlike `hash`."""
    return int(_label_hashes(np.array([number], dtype=np.int64), seed)[0])


def _label_hashes(numbers: Ints, seed: int) -> Hashes:
    x = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(_MULTIPLIER) + np.uint64(seed * _OF_SEED & _MASK)
    x ^= x >> np.uint64(32)
    found: Hashes = x * np.uint64(_MULTIPLIER) ^ x >> np.uint64(29)
    return found


def sides(labels: Sequence[int], holdout: float, seed: int) -> list[int]:
    """The part of each URL, by its cluster: 1 for about a share of `holdout`, else 0; -1 for negative labels."""
    own = np.array(labels, dtype=np.int64)
    threshold = np.uint64(min(int(holdout * (1 << 64)), _MASK))
    found: list[int] = np.where(own < 0, -1, (_label_hashes(own, seed) < threshold).astype(np.int64)).tolist()
    return found


def part_of(side: int, where: Sequence[int], labels: Sequence[int], importance: Sequence[float] | None) -> SitePart:
    """The URLs of one part."""
    rows = [i for i, found in enumerate(where) if found == side]
    weights = None if importance is None else [importance[i] for i in rows]
    return SitePart(rows, [labels[i] for i in rows], weights)


def sampled(part: SitePart, urls: Sequence[str], smallest: int) -> SitePart:
    """Enough of a part to learn from, `smallest` URLs and more of a large one.

    The clusters come first, of large ones a few URLs each, then single pages. Time is linear in the URLs of the part.
    """
    most = min(_LARGEST_SAMPLE, int(smallest + _SAMPLED_SHARE * len(part.rows)))
    labels, cluster, size = np.unique(np.array(part.labels, dtype=np.int64), return_inverse=True, return_counts=True)
    members, start = np.argsort(cluster, kind="stable"), np.cumsum(size) - size
    order = np.argsort(_label_hashes(labels, 1), kind="stable")
    clusters = order[size[order] > 1]
    rows: list[int] = []
    taken = 0
    for first, count in zip(start[clusters].tolist(), size[clusters].tolist(), strict=True):
        rows += _of_cluster(part, urls, members[first : first + count].tolist())
        taken += 1
        if len(rows) >= most * _CLUSTERED_SHARE:
            break
    singles = members[start[order[size[order] == 1]]]
    rows += singles[: max(0, most - len(rows))].tolist()
    rows.sort()
    share = taken / len(clusters) if len(clusters) else 1.0
    return SitePart([part.rows[i] for i in rows], [part.labels[i] for i in rows], None, share)


def _of_cluster(part: SitePart, urls: Sequence[str], cluster: list[int]) -> list[int]:
    if len(cluster) <= _MOST_OF_A_CLUSTER:
        return cluster
    importance = part.importance
    if importance is None:
        # Neighbours in this order are alike, so equal steps meet every pattern.
        cluster = sorted(cluster, key=lambda i: urls[part.rows[i]])
        return [cluster[i * len(cluster) // _MOST_OF_A_CLUSTER] for i in range(_MOST_OF_A_CLUSTER)]
    return stratified(cluster, importance, _MOST_OF_A_CLUSTER)


def stratified(rows: Sequence[int], importance: Sequence[float], most: int) -> list[int]:
    """Source selection (Sect. 3.2.1): buckets of equal size by importance, each sampled by its share of the total.

    Args:
        rows: Indices into `importance`.
        importance: Not negative.
        most: Number of rows to take, at most.
    """
    ranked = sorted(rows, key=lambda i: (-importance[i], i))
    size = -(-len(ranked) // _BUCKETS)
    buckets = [ranked[i : i + size] for i in range(0, len(ranked), size)]
    weights = [sum(importance[i] for i in bucket) for bucket in buckets]
    total = sum(weights) or 1.0
    taken = []
    for bucket, weight in zip(buckets, weights, strict=True):
        count = max(1, round(most * weight / total))
        taken += bucket[:: -(-len(bucket) // count)]
    return taken[:most]
