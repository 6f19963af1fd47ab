"""Evidence for and against a rule: which URLs it would bring together, and whether they are of one cluster.

The paper counts a rule's errors only where the target was seen. Here, two URLs of different clusters (single pages
included) that a rule gives the same form speak against it as well, whether or not anybody ever saw that form.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log2, sqrt

import numpy as np

from dedupcrawl.urls.compiled_rule import CompiledRule
from dedupcrawl.urls.learning.corpus import Corpus, Form

Source = tuple[int, Form]


@dataclass(frozen=True, slots=True)
class Meetings:
    """What a rule does to a corpus.

    Attributes:
        sources: Forms that the rule changes and that meet others, each with the number of its meeting.
        targets: For each meeting, the form in the corpus that the sources are taken to, if there is one.
        covered: Forms that the rule changes.
        met: Number of those that are taken to a form of the corpus.
    """

    sources: list[Source]
    targets: list[Form | None]
    covered: list[Form]
    met: int


def meetings(rule: CompiledRule, corpus: Corpus) -> Meetings:
    """Try a rule on a corpus, which stays as it is."""
    tried = corpus.tried(rule)
    if not tried.rows.size:
        return Meetings([], [], [], 0)
    forms = corpus.forms
    _, first, group, count = np.unique(tried.after, return_index=True, return_inverse=True, return_counts=True)
    meets = (count > 1) | (tried.targets[first] >= 0)
    order = np.argsort(np.where(meets, first, len(group)), kind="stable")
    numbers = np.empty(len(first), dtype=np.int64)
    numbers[order] = np.arange(len(first))  # meetings in the order of their first forms
    there = np.flatnonzero(meets[group])
    there = there[np.argsort(numbers[group[there]], kind="stable")]
    meeting = map(forms.__getitem__, tried.rows[there].tolist())
    sources = list(zip(numbers[group[there]].tolist(), meeting, strict=True))
    targets = [None if i < 0 else forms[i] for i in tried.targets[first[order[: int(meets.sum())]]].tolist()]
    covered = list(map(forms.__getitem__, tried.rows.tolist()))
    return Meetings(sources, targets, covered, int((tried.targets >= 0).sum()))


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of a number of meetings.

    Attributes:
        right: URLs rightly brought together with others.
        wrong: URLs wrongly brought together with others.
        clusters: Clusters of which URLs were rightly brought together.
        collisions: Meetings of URLs of different clusters.
        flags: For each source, in order: True when right, False when wrong, None when it meets nobody.
    """

    right: int
    wrong: int
    clusters: int
    collisions: int
    flags: list[bool | None]

    @property
    def precision(self) -> float:
        """Share of right ones; 0.0 without any."""
        return self.right / (self.right + self.wrong) if self.right else 0.0


def tally(sources: Sequence[Source], targets: Sequence[Form | None]) -> Tally:
    """Judge meetings of these sources alone.

    Where URLs of one cluster meet, all but one of them need not be fetched. Where there are others among them, those of
    the largest cluster are right and the others wrong. What earlier rules brought together, right or wrong, is theirs:
    only what comes on top of it is counted.
    """
    groups: dict[int, list[Form]] = {}
    for number, form in sources:
        there = groups.get(number)
        if there is None:
            groups[number] = [form]
        else:
            there.append(form)
    best: dict[int, int | None] = {}
    right = wrong = collisions = 0
    clusters: set[int] = set()
    for number, forms in groups.items():
        target = targets[number]
        if target is not None:
            forms.append(target)
        elif len(forms) == 1:
            continue
        labels = forms[-1].labels
        for form in forms:
            if form.labels != labels:
                break
        else:  # most meetings are of one cluster
            if len(labels) == 1:
                right += len(forms) - 1
                best[number] = labels[0]
                clusters.add(labels[0])
                continue
        gain, loss, label = _meet(forms)
        right += gain
        wrong += loss
        collisions += loss > 0
        best[number] = label
        if label is not None:
            clusters.add(label)
    flags = [form.labels[0] == best[number] if number in best else None for number, form in sources]
    return Tally(right, wrong, len(clusters), collisions, flags)


def _meet(forms: Sequence[Form]) -> tuple[int, int, int | None]:
    """What a meeting adds to right and wrong, and the label of those who are right, if anybody is."""
    counts: Counter[int] = Counter()
    before = 0
    for form in forms:
        counts.update(form.labels)
        before += form.labels.count(form.labels[0]) - 1
    label, most = max(counts.items(), key=lambda item: (item[1], item[0] == forms[-1].labels[0]))
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
    return -sum(n / total * log2(n / total) for n in sizes) + 0.0 if total else 0.0
