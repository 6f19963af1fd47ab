"""Which URLs of a site are looked at: two parts by cluster, and a bounded sample."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

_MULTIPLIER = 0x9E3779B97F4A7C15  # 2^64 / golden ratio: spreads consecutive labels
_OF_SEED = 0xD1B54A32D192ED03
_MASK = (1 << 64) - 1
MOST_URLS = 8_000  # that rules are learned from; fifteen mirrors, 5,000 and fewer pairs: .435 at .9918, seeds 0-2
_CLUSTERED_SHARE = 0.6  # of the sample, at most, are URLs with duplicates; the rest are single pages
_MOST_OF_A_CLUSTER = 24  # URLs
_BUCKETS = 4  # of importance


def label_hash(number: int, seed: int) -> int:
    """A 64-bit hash of a label: the same everywhere, unlike `hash`."""
    x = ((number + 1) * _MULTIPLIER + seed * _OF_SEED) & _MASK
    x ^= x >> 32
    return (x * _MULTIPLIER & _MASK) ^ x >> 29


def sides(labels: Sequence[int], holdout: float, seed: int) -> list[int]:
    """The part of each URL, by its cluster: 1 for about a share of `holdout`, else 0; -1 for negative labels."""
    threshold = min(int(holdout * (1 << 64)), _MASK)
    part = {label: -1 if label < 0 else int(label_hash(label, seed) < threshold) for label in set(labels)}
    return [part[label] for label in labels]


def sampled(
    urls: Sequence[str], labels: Sequence[int], where: Sequence[int], importance: Sequence[float] | None
) -> list[int]:
    """Rows to learn from, ascending: all of a small site; else of each part the clusters first, then single pages."""
    if len(urls) <= MOST_URLS:
        return list(range(len(urls)))
    rows_of: defaultdict[int, list[int]] = defaultdict(list)
    for row, label in enumerate(labels):
        rows_of[label].append(row)
    order = sorted(rows_of, key=lambda label: label_hash(label, 1))
    taken: list[int] = []
    for part in (0, 1):
        own = [label for label in order if where[rows_of[label][0]] == part]
        found: list[int] = []
        for label in own:
            if len(rows_of[label]) > 1 and len(found) < MOST_URLS * _CLUSTERED_SHARE / 2:
                found += of_cluster(rows_of[label], importance)
        for label in own:
            if len(rows_of[label]) == 1 and len(found) < MOST_URLS / 2:
                found += rows_of[label]
        taken += found
    return sorted(taken)


def of_cluster(rows: Sequence[int], importance: Sequence[float] | None) -> list[int]:
    """Some URLs of a large cluster: at equal steps of their order, where neighbours are alike, or by importance."""
    if len(rows) <= _MOST_OF_A_CLUSTER:
        return list(rows)
    if importance is not None:
        return stratified(rows, importance, _MOST_OF_A_CLUSTER)
    return [rows[i * len(rows) // _MOST_OF_A_CLUSTER] for i in range(_MOST_OF_A_CLUSTER)]


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
    taken: list[int] = []
    for bucket, weight in zip(buckets, weights, strict=True):
        count = max(1, round(most * weight / total))
        taken += bucket[:: -(-len(bucket) // count)]
    return taken[:most]
