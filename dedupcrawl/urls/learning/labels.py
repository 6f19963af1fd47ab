"""The clusters of the URLs that have come to each form of a corpus, as columns of numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dedupcrawl.urls.learning.token_texts import Ints


class Labels(NamedTuple):
    """Of each of n forms the clusters of its URLs, those of the largest share first.

    Attributes:
        start: Where those of each form begin, and where the last ones end. Shape (n + 1,).
        all: One form after the other, as places in `clusters`.
        clusters: The clusters, ascending.
    """

    start: Ints
    all: Ints
    clusters: Ints

    @classmethod
    def of(cls, clusters: Sequence[int] | Ints) -> Labels:
        """The labels of forms of one URL each."""
        unique, own = np.unique(np.array(clusters, dtype=np.int64), return_inverse=True)
        return cls(np.arange(len(own) + 1), own, unique)

    @property
    def first(self) -> Ints:
        """The first of each form: the cluster that most of its URLs belong to. Shape (n,)."""
        return self.all[self.start[:-1]]

    def of_form(self, row: int) -> list[int]:
        """Those of one form."""
        found: list[int] = self.all[self.start[row] : self.start[row + 1]].tolist()
        return found

    def moved(self, rows: Ints, homes: Ints, forms: int) -> Labels:
        """The labels when forms become others.

        Args:
            rows: All forms, in the order in which they come to the new ones.
            homes: The new form of each. Shape (n,).
            forms: How many new ones there are; to each comes one at least.
        """
        size = np.diff(self.start)[rows]
        owner = np.repeat(homes, size)
        first = np.cumsum(size) - size
        labels = self.all[np.arange(len(owner)) + np.repeat(self.start[rows] - first, size)]
        order = np.argsort(owner, kind="stable")
        owner, labels = owner[order], labels[order]
        start = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(np.bincount(owner, minlength=forms))])
        with_first = np.bincount(owner[labels == labels[start[:-1]][owner]], minlength=forms)
        for form in np.flatnonzero(2 * with_first < np.diff(start)).tolist():
            here = slice(int(start[form]), int(start[form + 1]))
            labels[here] = _most_common_first(labels[here].tolist())
        return Labels(start, labels, self.clusters)


def _most_common_first(labels: list[int]) -> list[int]:
    """Sorted by count; of equally many, those that came first."""
    counts = Counter(labels)
    return sorted(labels, key=lambda label: -counts[label])
