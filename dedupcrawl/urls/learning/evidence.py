"""Evidence for and against a rule: which URLs it would bring together, and whether they are of one cluster.

The paper counts a rule's errors only where the target was seen. Here, two URLs of different clusters (single pages
included) that a rule gives the same form speak against it as well, whether or not anybody ever saw that form.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log2, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dedupcrawl.urls.compiled_rule import CompiledRule
from dedupcrawl.urls.learning import kernels
from dedupcrawl.urls.learning.corpus import Corpus
from dedupcrawl.urls.learning.groups import grouped
from dedupcrawl.urls.learning.labels import Labels
from dedupcrawl.urls.learning.token_texts import Bools, Ints

Flags = npt.NDArray[np.int8]


class Sources(NamedTuple):
    """Forms that a rule changes and that meet others.

    Attributes:
        numbers: Of the meeting of each, ascending. Shape (n,), as `rows`.
        rows: Places of the forms in the corpus.
    """

    numbers: Ints
    rows: Ints

    def where(self, these: Bools) -> Sources:
        """Some of them. `these` has shape (n,)."""
        return Sources(self.numbers[these], self.rows[these])


@dataclass(frozen=True, slots=True)
class Meetings:
    """What a rule does to a corpus. Forms are told by their places in it.

    Attributes:
        sources: Forms that the rule changes and that meet others.
        targets: For each meeting, the form in the corpus that the sources are taken to; ABSENT if there is none.
        covered: Forms that the rule changes.
    """

    sources: Sources
    targets: Ints
    covered: Ints


def meetings(rule: CompiledRule, corpus: Corpus) -> Meetings:
    """Try a rule on a corpus, which stays as it is."""
    tried = corpus.tried(rule)
    if not tried.rows.size:
        return Meetings(Sources(tried.rows, tried.rows), tried.rows, tried.rows)
    group, first = grouped(tried.after)
    meets = (np.bincount(group) > 1) | (tried.targets[first] >= 0)
    number = np.cumsum(meets) - 1  # meetings in the order of their first forms
    there = np.flatnonzero(meets[group])
    numbers = number[group[there]]
    order = np.argsort(numbers, kind="stable")
    return Meetings(Sources(numbers[order], tried.rows[there[order]]), tried.targets[first[meets]], tried.rows)


@dataclass(frozen=True, slots=True)
class MeetingTally:
    """Counts of a number of meetings.

    Attributes:
        right: URLs rightly brought together with others.
        wrong: URLs wrongly brought together with others.
        clusters: Clusters of which URLs were rightly brought together.
        collisions: Meetings of URLs of different clusters.
        flags: For each source, in order: 1 when right, 0 when wrong, -1 when it meets nobody. Shape (n,), int8.
    """

    right: int
    wrong: int
    clusters: int
    collisions: int
    flags: Flags


def tally(sources: Sources, targets: Ints, labels: Labels) -> MeetingTally:
    """Judge meetings of these sources alone.

    Where URLs of one cluster meet, all but one of them need not be fetched. Where there are others among them, those of
    the largest cluster are right and the others wrong. What earlier rules brought together, right or wrong, is theirs:
    only what comes on top of it is counted.

    Args:
        sources: Of some or all of the meetings.
        targets: Of all meetings, as of `Meetings`.
        labels: Of the forms of the corpus.
    """
    if kernels.compiled is not None:
        numbers, rows = map(np.ascontiguousarray, sources)
        counts = kernels.compiled.tally(numbers, rows, targets, labels.start, labels.all, len(labels.clusters))
        return MeetingTally(*counts[:4], np.frombuffer(counts[4], dtype=np.int8))
    flags = np.full(len(sources.rows), -1, dtype=np.int8)
    right = wrong = collisions = 0
    clusters: set[int] = set()
    starts = [*np.flatnonzero(np.diff(sources.numbers, prepend=-1)).tolist(), len(sources.rows)]
    for first, stop in pairwise(starts):
        rows = sources.rows[first:stop]
        target = int(targets[sources.numbers[first]])
        forms = [labels.of_form(row) for row in (rows.tolist() if target < 0 else [*rows.tolist(), target])]
        if len(forms) > 1:
            gain, loss, label = _meet(forms)
            right += gain
            wrong += loss
            collisions += loss > 0
            if label is not None:
                clusters.add(label)
            flags[first:stop] = [form[0] == label for form in forms[: stop - first]]
    return MeetingTally(right, wrong, len(clusters), collisions, flags)


def _meet(forms: Sequence[list[int]]) -> tuple[int, int, int | None]:
    """What a meeting of forms with these labels adds to right and wrong, and whose label is right, if anybody's is."""
    counts: Counter[int] = Counter()
    before = 0
    for labels in forms:
        counts.update(labels)
        before += labels.count(labels[0]) - 1
    label, most = max(counts.items(), key=lambda item: (item[1], item[0] == forms[-1][0]))
    gain = most - 1 - before
    loss = len(forms) - 1 - gain
    return max(gain, 0), max(loss, 0), label if gain > 0 else None


def lower_bound(right: float, wrong: float, z: float = 1.0) -> float:
    """Wilson lower bound of the share `right / (right + wrong)`; 0.0 without observations.

    >>> round(lower_bound(10, 0), 3), round(lower_bound(100, 0), 3)
    (0.909, 0.99)
    """
    n = right + wrong
    if not n:
        return 0.0
    p = right / n
    centre = p + z * z / (2 * n)
    spread = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (centre - spread) / (1 + z * z / n)


def entropy(counts: Iterable[float]) -> float:
    """Bits needed to tell classes of these sizes apart.

    >>> entropy([1, 1]), entropy([5, 0])
    (1.0, 0.0)
    """
    sizes = [n for n in counts if n]
    total = sum(sizes)
    bits = 0.0
    for n in sizes:  # from the left: `sum` of floats is another one from Python 3.12 on
        bits += n / total * log2(n / total)
    return -bits + 0.0
