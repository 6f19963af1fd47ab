"""The ledger: what all rules of a site together bring together, rightly and wrongly, and which of them has to go.

It uses the rules as a crawl does, by the normalizer, on all URLs. What a rule is worth is told by doing without it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import sqrt

from dedupcrawl.urls.normalizer import SiteNormalizer
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules

_SITE_SHARE = 0.1  # of the wrong ones that a rule may have, all rules of a site may: a wrong merge loses a page for ever
_DEVIATIONS = 1.0  # over what is allowed that may be chance, of a rule
_SITE_DEVIATIONS = 2.5  # ... of a site: more than that is chance once in a hundred sites
_MOST_SUSPECTS = 8  # rules that are done without, to tell which is to blame


@dataclass(slots=True)
class Use:
    """What one rule has done; each URL counts for all rules that changed it.

    Attributes:
        coverage: URLs that it changed, by the part of their clusters.
        right: ... that came to URLs of their page.
        wrong: ... that came to URLs of other pages only.
        collisions: Canonical forms of several pages that it has a part in.
        clusters: Pages that it has a part in bringing together.
        real: URLs whose canonical form is a URL of the log.
        rows: The URLs.
    """

    coverage: list[int] = field(default_factory=lambda: [0, 0])
    right: list[int] = field(default_factory=lambda: [0, 0])
    wrong: list[int] = field(default_factory=lambda: [0, 0])
    collisions: int = 0
    clusters: int = 0
    real: int = 0
    rows: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Price:
    """What wrong merges cost, by the precision that a user asks for.

    Attributes:
        min_precision: Least share of right ones among what a rule brings together.
    """

    min_precision: float

    def holds(self, right: float, wrong: float) -> bool:
        """True when so many wrong ones of a rule may be chance."""
        return _may_be_chance(wrong, (1.0 - self.min_precision) * (right + wrong), _DEVIATIONS)

    def holds_for_site(self, right: float, wrong: float) -> bool:
        """The same of all rules of a site."""
        return _may_be_chance(wrong, (1.0 - self.min_precision) * _SITE_SHARE * (right + wrong), _SITE_DEVIATIONS)

    def worth(self, right: float, wrong: float) -> float:
        """Right merges less the price of the wrong ones."""
        return right - wrong / max(1e-6, (1.0 - self.min_precision) * _SITE_SHARE)


def _may_be_chance(wrong: float, allowed: float, deviations: float) -> bool:
    return wrong <= allowed + deviations * sqrt(allowed)


class Ledger:
    """All URLs of a site under its rules."""

    def __init__(self, site: str, urls: Sequence[str], labels: Sequence[int], sides: Sequence[int]) -> None:
        self.site, self.urls, self.labels, self.sides = site, urls, labels, sides
        self._own = set(urls)
        self.rules: list[Rule] = []
        self.uses: dict[str, Use] = {}
        self.right = self.wrong = 0
        self._forms: list[str] = []
        self._by: list[tuple[str, ...]] = []
        self._groups: dict[str, list[int]] = {}
        self._made: dict[tuple[Rule, ...], tuple[list[str], list[tuple[str, ...]]]] = {}

    def apply(self, rules: Sequence[Rule]) -> None:
        """Use these rules, and no others. Their ids have to be different."""
        rules = list(rules)
        if self.rules and set(rules) < set(self.rules):  # only what the others did is done again
            gone = {rule.id for rule in self.rules if rule not in rules}
            again = [row for row, by in enumerate(self._by) if not gone.isdisjoint(by)]
        else:
            again = list(range(len(self.urls)))
            self._forms, self._by = [""] * len(self.urls), [()] * len(self.urls)
        self.rules = rules
        normalize = SiteNormalizer(SiteRules(self.site, tuple(rules))).normalize
        for row in again:
            done = normalize(self.urls[row])
            self._forms[row], self._by[row] = done.canonical, done.rules
        self._count()

    def _count(self) -> None:
        groups: defaultdict[str, list[int]] = defaultdict(list)
        for row, form in enumerate(self._forms):
            groups[form].append(row)
        self._groups = {form: rows for form, rows in groups.items() if len(rows) > 1}
        uses = {rule.id: Use() for rule in self.rules}
        self.right = self.wrong = 0
        for row, by in enumerate(self._by):
            for name in by:
                use = uses[name]
                use.coverage[self.sides[row]] += 1
                use.rows.append(row)
                use.real += self._forms[row] in self._own
        for rows in self._groups.values():
            right, wrong, label = self._judged(rows)
            self.right += right
            self.wrong += wrong
            held = set()
            for row in rows:
                good = self.labels[row] == label and right > 0
                for name in self._by[row]:
                    (uses[name].right if good else uses[name].wrong)[self.sides[row]] += 1
                    held.add(name)
            if wrong:  # whoever was changed to meet others has a part in it
                for name in held:
                    uses[name].collisions += 1
            if right:
                for name in held:
                    uses[name].clusters += 1
        self.uses = uses

    def _judged(self, rows: Sequence[int]) -> tuple[int, int, int]:
        labels = Counter([self.labels[row] for row in rows])
        own = next((self.labels[row] for row in rows if not self._by[row]), None)
        label, most = max(labels.items(), key=lambda item: (item[1], item[0] == own, -item[0]))
        return most - 1, len(rows) - most, label

    def judged(self, name: str) -> tuple[list[int], list[int]]:
        """URLs that a rule changed and that meet others: rightly, and wrongly."""
        right_rows, wrong_rows = [], []
        for rows in self._groups.values():
            if not any(name in self._by[row] for row in rows):
                continue
            right, _, label = self._judged(rows)
            for row in rows:
                if name in self._by[row]:
                    (right_rows if self.labels[row] == label and right else wrong_rows).append(row)
        return right_rows, wrong_rows

    def without(self, name: str) -> tuple[int, int]:
        """Right and wrong merges of the others."""
        rules = tuple(rule for rule in self.rules if rule.id != name)
        normalize = SiteNormalizer(SiteRules(self.site, rules)).normalize
        moved = {row: normalize(self.urls[row]).canonical for row, by in enumerate(self._by) if name in by}
        touched: defaultdict[str, list[int]] = defaultdict(list)
        for row, form in moved.items():
            touched[form].append(row)
        forms = {self._forms[row] for row in moved} | touched.keys()
        right, wrong = self.right, self.wrong
        single = {form: row for row, form in enumerate(self._forms) if form in forms}
        for form in forms:
            before = self._groups.get(form) or ([single[form]] if form in single else [])
            after = [row for row in before if row not in moved] + touched.get(form, [])
            for rows, sign in ((before, -1), (after, 1)):
                if len(rows) > 1:
                    gain, loss, _ = self._judged(rows)
                    right += sign * gain
                    wrong += sign * loss
        return right, wrong

    def worst(self, names: Iterable[str], price: Price) -> str:
        """The rule without which the others are best."""
        suspects = sorted(names, key=lambda name: (-sum(self.uses[name].wrong), name))[:_MOST_SUSPECTS]
        return max(suspects, key=lambda name: price.worth(*self.without(name)))
