"""How rules are judged: the metrics of Koppula et al. (WSDM 2010), Sect. 5, and merges in first-come order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.url_rules.method import Learned, Row, RuleT


@dataclass(slots=True)
class RuleScore:
    """One rule on a set of URLs.

    Attributes:
        coverage: URLs that the rule applies to, r_cov.
        wrong: Pairs (u, v) of different clusters with r(u) = v, f.
    """

    coverage: int = 0
    wrong: int = 0

    @property
    def precision(self) -> float:
        """(r_cov - f) / r_cov; 1 for a rule that applies to nothing."""
        return (self.coverage - self.wrong) / self.coverage if self.coverage else 1.0


def score_rules(learned: Learned[RuleT], rows: Sequence[Row]) -> list[RuleScore]:
    """Coverage and precision of each rule.

    The paper's f counts URLs whose image is a URL of another cluster. The image of an equivalence is not a URL: there v
    is the first URL that got the same image.
    """
    matcher = learned.matcher()
    scores = [RuleScore() for _ in learned.rules]
    known: dict[str, str] = {}
    for url, label in rows:
        known.setdefault(matcher.form(url), label)
    first: dict[tuple[int, str], str] = {}
    for url, label in rows:
        for i, image in matcher.images(url):
            scores[i].coverage += 1
            if learned.rules[i].kind == "rewrite":
                scores[i].wrong += known.get(image, label) != label
            else:
                scores[i].wrong += first.setdefault((i, image), label) != label
    return scores


def chosen(learned: Learned[RuleT], scores: Sequence[RuleScore], precision: float, coverage: int) -> list[int]:
    """The rules of at least this precision and coverage, those of large coverage first."""
    valid = range(len(scores)) if learned.valid is None else learned.valid(precision)
    keep = [i for i in valid if scores[i].coverage >= coverage]
    if learned.valid is None:
        keep = [i for i in keep if scores[i].precision >= precision]
    return sorted(keep, key=lambda i: (-scores[i].coverage, i))


def duplicated(rows: Sequence[Row]) -> list[Row]:
    """The URLs of clusters of at least two: the data sets of Sect. 5 hold no others."""
    sizes: dict[str, int] = {}
    for _, label in rows:
        sizes[label] = sizes.get(label, 0) + 1
    return [row for row in rows if sizes[row[1]] > 1]


@dataclass(frozen=True, slots=True)
class Reduction:
    """What a set of rules does to the URLs of duplicate clusters.

    Attributes:
        rules: |R|.
        before: |U_orig|.
        after: |U_norm|, distinct canonical forms.
    """

    rules: int
    before: int
    after: int

    @property
    def ratio(self) -> float:
        """(|U_orig| - |U_norm|) / |U_orig|, from 0 to 1. Wrong merges count as well: that is what precision is for."""
        return (self.before - self.after) / self.before if self.before else 0.0

    @property
    def per_rule(self) -> float:
        """|U_orig| ReductionRatio / |R|: URLs saved by a rule."""
        return (self.before - self.after) / self.rules if self.rules else 0.0

    def __add__(self, other: Reduction) -> Reduction:
        return Reduction(self.rules + other.rules, self.before + other.before, self.after + other.after)


def reduction(rules: int, canonical: Sequence[str]) -> Reduction:
    """The reduction by a set of that many rules, from the canonical form of each URL."""
    return Reduction(rules, len(canonical), len(set(canonical)))


@dataclass(frozen=True, slots=True)
class Merges:
    """URLs whose canonical form was seen before, in first-come order.

    Attributes:
        redundant: URLs less labels: merges that could be made.
        made: Merges that were made.
        right: Those in which both pages have one label.
    """

    redundant: int
    made: int
    right: int

    @property
    def recall(self) -> float | None:
        """right / redundant; None where nothing is redundant."""
        return self.right / self.redundant if self.redundant else None

    @property
    def precision(self) -> float | None:
        """right / made; None where nothing was merged."""
        return self.right / self.made if self.made else None

    def __add__(self, other: Merges) -> Merges:
        return Merges(self.redundant + other.redundant, self.made + other.made, self.right + other.right)


def merges(canonical: Iterable[str], rows: Sequence[Row]) -> Merges:
    """Count the merges of URLs with these canonical forms."""
    first: dict[str, str] = {}
    made = right = 0
    for form, (_, label) in zip(canonical, rows, strict=True):
        if form in first:
            made += 1
            right += first[form] == label
        else:
            first[form] = label
    return Merges(len(rows) - len({label for _, label in rows}), made, right)
