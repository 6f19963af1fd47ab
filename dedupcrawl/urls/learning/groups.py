"""Equal numbers among many: which there are, and where."""

from __future__ import annotations

import numpy as np

from dedupcrawl.urls.learning import kernels
from dedupcrawl.urls.learning.token_runs import Hashes
from dedupcrawl.urls.learning.token_texts import ABSENT, Ints


def grouped(hashes: Hashes) -> tuple[Ints, Ints]:
    """The group of each number, and the place of the first one of each group; groups count in the order of these.

    >>> grouped(np.array([7, 5, 7], dtype=np.uint64))
    (array([0, 1, 0]), array([0, 1]))
    """
    if kernels.compiled is not None:
        group, first = kernels.compiled.grouped(np.ascontiguousarray(hashes))
        return np.frombuffer(group, dtype=np.int64), np.frombuffer(first, dtype=np.int64)
    _, first_of, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    order = np.argsort(first_of)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank[inverse], first_of[order]


def grouped_pairs(one: Ints, other: Ints) -> tuple[Ints, Ints]:
    """`grouped`, of pairs of numbers that are not negative; those of `one` are small.

    >>> grouped_pairs(np.array([1, 1, 2, 1]), np.array([5, 7, 5, 5]))
    (array([0, 1, 2, 0]), array([0, 1, 2]))
    """
    group = grouped(other.astype(np.uint64))[0]
    return grouped((one * (len(one) + 1) + group).astype(np.uint64))


def places(hashes: Hashes, wanted: Hashes) -> Ints:
    """The first place of each wanted number among the numbers, ABSENT if it is not there. Shape (len(wanted),).

    >>> places(np.array([7, 5, 7], dtype=np.uint64), np.array([5, 9], dtype=np.uint64))
    array([ 1, -1])
    """
    if kernels.compiled is not None:
        found = kernels.compiled.places(np.ascontiguousarray(hashes), np.ascontiguousarray(wanted))
        return np.frombuffer(found, dtype=np.int64)
    if not hashes.size:
        return np.full(len(wanted), ABSENT, dtype=np.int64)
    order = np.argsort(hashes, kind="stable")
    at = order[np.minimum(np.searchsorted(hashes, wanted, sorter=order), len(order) - 1)]
    return np.where(hashes[at] == wanted, at, ABSENT)
