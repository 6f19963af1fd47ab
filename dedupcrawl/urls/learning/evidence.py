"""Evidence for and against a rule: which URLs it would bring together, and whether they are of one cluster.

The paper counts a rule's errors only where the target was seen. Here, two URLs of different clusters (single pages
included) that a rule gives the same form speak against it as well, whether or not anybody ever saw that form.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log2, sqrt

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
    groups: dict[str, list[Form]] = {}
    covered = []
    site, apply = corpus.site, rule.apply
    for form in corpus.candidates(rule):
        after = apply(form.parts, site)
        if after is not None:
            covered.append(form)
            groups.setdefault(after.join(), []).append(form)
    sources: list[Source] = []
    targets: list[Form | None] = []
    met = 0
    for text, forms in groups.items():
        target = corpus.forms.get(text)
        if target is not None:
            met += len(forms)
        elif len(forms) == 1:
            continue
        sources += [(len(targets), form) for form in forms]
        targets.append(target)
    return Meetings(sources, targets, covered, met)


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of a number of meetings.

    Attributes:
        right: Forms rightly brought together with another one.
        wrong: Forms wrongly brought together with others.
        clusters: Clusters of which forms were rightly brought together.
        collisions: Meetings of forms of different clusters.
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
    """Judge meetings of these sources alone. A form is right where it has the label of the target, or of the majority.

    Of n forms of one label that have no target, n - 1 are counted: that many URLs less are fetched.
    """
    groups: dict[int, list[int]] = {}
    for number, form in sources:
        labels = groups.get(number)
        if labels is None:
            groups[number] = [form.label]
        else:
            labels.append(form.label)
    best: dict[int, int | None] = {}
    right = wrong = collisions = 0
    clusters: set[int] = set()
    for number, labels in groups.items():
        target = targets[number]
        label = labels[0] if target is None else target.label
        same = labels.count(label)
        if target is None:
            if len(labels) == 1:
                continue
            if same < len(labels):
                label, same = Counter(labels).most_common(1)[0]
        gain = same - (target is None)
        best[number] = label if gain else None
        if gain:
            right += gain
            clusters.add(label)
        if same < len(labels):
            wrong += len(labels) - same
            collisions += 1
    flags = [form.label == best[number] if number in best else None for number, form in sources]
    return Tally(right, wrong, len(clusters), collisions, flags)


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
