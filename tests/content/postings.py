"""A small honest implementation of Postings, for testing checks without an index."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content.checks.base import Check, Keys, PageIds


class DictPostings:
    """Kept signatures of one check by page id, posted under the check's keys."""

    def __init__(self, check: Check, kept: Mapping[int, bytes]) -> None:
        self._by_prefix: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for page, signature in kept.items():
            for key in check.keys(signature).tolist():
                self._by_prefix[key >> check.payload_bits].append((key, page))

    def count(self, prefixes: Keys) -> NDArray[np.int64]:
        return np.array([len(self._by_prefix.get(prefix, ())) for prefix in prefixes.tolist()], dtype=np.int64)

    def find(self, prefixes: Keys) -> tuple[Keys, PageIds]:
        found = [posting for prefix in prefixes.tolist() for posting in self._by_prefix.get(prefix, ())]
        keys = np.array([key for key, _ in found], dtype=np.uint64)
        return keys, np.array([page for _, page in found], dtype=np.uint32)


class Reading:
    """Counts the postings that are read of others."""

    def __init__(self, of: DictPostings) -> None:
        self._of = of
        self.postings = 0
        self.count = of.count

    def find(self, prefixes: Keys) -> tuple[Keys, PageIds]:
        keys, pages = self._of.find(prefixes)
        self.postings += len(keys)
        return keys, pages


def keepers(check: Check, new: bytes, kept: Mapping[int, bytes]) -> dict[int, float]:
    """What the search finds: page id → similarity."""
    pages = set(check.candidates(new, DictPostings(check, kept)).tolist())
    compared = {page: check.compare(new, kept[page]) for page in pages}
    return {page: similarity for page, similarity in compared.items() if similarity is not None}
