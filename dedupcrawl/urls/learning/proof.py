"""The proof of rules before use: what they do, all together, to clusters that they were not learned from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import polars as pl

from dedupcrawl.urls.learning.sample import Part, mixed
from dedupcrawl.urls.learning.search import compiled
from dedupcrawl.urls.normalizer import SiteNormalizer
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules

_MOST_OF_A_CLUSTER = 20  # URLs
_MOST_COLLIDING = 5000  # URLs that are given back to learning
_EXAMPLES = 8  # candidates for the examples of a rule


Names = tuple[str, ...]


@dataclass(slots=True)
class Use:
    """What one rule did to the URLs of a site. Pairs are counts of the URLs of the first part and of the second.

    Attributes:
        coverage: URLs that it changed.
        right: Of these, URLs that met another one of their cluster.
        wrong: Of these, URLs that met others, but not of their cluster, or not of the cluster of most of them. The
            others may be of either part: half of all collisions are between the parts.
        clusters: Clusters of the right ones.
        met: URLs that it changed, alone or with others, to a URL of the site.
        collisions: Forms at which URLs of different clusters met, of both parts together.
        examples: Numbers of some URLs of the second part that were right.
    """

    coverage: list[int] = field(default_factory=lambda: [0, 0])
    right: list[int] = field(default_factory=lambda: [0, 0])
    wrong: list[float] = field(default_factory=lambda: [0.0, 0.0])
    clusters: tuple[set[int], set[int]] = field(default_factory=lambda: (set(), set()))
    met: int = 0
    collisions: int = 0
    examples: list[int] = field(default_factory=list)

    def add(self, other: Use) -> None:
        """Add the counts of other URLs."""
        for side in (0, 1):
            self.coverage[side] += other.coverage[side]
            self.right[side] += other.right[side]
            self.wrong[side] += other.wrong[side]
            self.clusters[side].update(other.clusters[side])
        self.met += other.met
        self.collisions += other.collisions
        self.examples = (self.examples + other.examples)[:_EXAMPLES]


@dataclass(slots=True)
class SiteUse:
    """What all rules of a site did to its URLs.

    Attributes:
        by_rule: Id of each rule → what it did.
        right: URLs that met others of their cluster, less one for each form; of a cluster at most `_MOST_OF_A_CLUSTER`
            at one form, so that one page with a hundred thousand URLs does not hide what is wrong with all others.
        wrong: URLs that met others of another cluster.
    """

    by_rule: dict[str, Use]
    right: int = 0
    wrong: int = 0


class Proof:
    """The URLs of a site under rules that come, and are taken out until all that are left hold."""

    def __init__(self, site: str, urls: Sequence[str], labels: Sequence[int], sides: Sequence[int]) -> None:
        """Take the URLs.

        Args:
            site: Of the rules.
            urls: Distinct.
            labels: Cluster of each URL.
            sides: 0 or 1 for the part of each URL, -1 for URLs that do not count.
        """
        self._site = site
        self._urls = urls
        self._labels = labels
        self._sides = sides
        self._row_of = {url: i for i, url in enumerate(urls) if sides[i] >= 0}
        self._column = _column(urls)
        self._rules: Sequence[Rule] = ()
        self._forms: dict[int, tuple[str, Names]] = {}  # of the URLs that some rule changes, and by which
        self._groups: dict[str, list[int]] = {}  # form → the URLs that have it, as of the last `uses`
        self._colliding: list[list[int]] | None = None  # groups of several clusters when `uses` was first asked for

    def apply(self, rules: Sequence[Rule]) -> None:
        """Have these rules applied to all URLs.

        Only URLs are looked at that a rule has changed which is no longer there, or that have what a rule asks for
        which is new.
        """
        before = {rule.id for rule in self._rules}
        gone = before - {rule.id for rule in rules}
        todo = {i for i, (_, by) in self._forms.items() if not gone.isdisjoint(by)} if gone else set()
        todo.update(self._within_reach([rule for rule in rules if rule.id not in before]))
        self._rules = rules
        for i, form in self._normalized(sorted(todo), rules):
            if form is None:
                self._forms.pop(i, None)
            else:
                self._forms[i] = form

    def without(self, rule_id: str, used: SiteUse) -> SiteUse:
        """The counts of the whole site without one of the rules.

        Args:
            rule_id: Of the rule.
            used: What `uses` says of all rules; it must have been asked for since they were applied.
        """
        rows = [i for i, (_, by) in self._forms.items() if rule_id in by]
        left: dict[str, set[int]] = {}
        come: dict[str, list[int]] = {}
        for i in rows:
            left.setdefault(self._forms[i][0], set()).add(i)
        for i, form in self._normalized(rows, [rule for rule in self._rules if rule.id != rule_id]):
            come.setdefault(self._urls[i] if form is None else form[0], []).append(i)
        before, after = SiteUse({}), SiteUse({})
        for text in left.keys() | come.keys():
            there = self._groups.get(text)
            if there is None:  # the URL of this very form, if it was not changed
                row = self._row_of.get(text)
                there = [] if row is None or row in self._forms else [row]
            out = left.get(text, ())
            _count(there, self._labels, before)
            _count(come.get(text, []) + [i for i in there if i not in out], self._labels, after)
        return SiteUse({}, used.right + after.right - before.right, used.wrong + after.wrong - before.wrong)

    def next_round(self) -> None:
        """Have `collisions` tell of the next rules."""
        self._colliding = None

    def uses(self) -> SiteUse:
        """See which URLs meet. Linear in the number of URLs that rules change."""
        found = SiteUse({rule.id: Use() for rule in self._rules})
        by_names: dict[Names, Use] = {}  # what several rules did together is counted once, and then put down to each
        for i, (_, names) in self._forms.items():
            use = by_names.get(names)
            if use is None:
                use = by_names[names] = Use()
            use.coverage[self._sides[i]] += 1
        groups = self._groups = self._meetings()
        colliding = []
        for members in groups.values():
            wrong = found.wrong
            label = _count(members, self._labels, found)
            if found.wrong > wrong:
                colliding.append(members)
            if len(members) > 1:
                self._judge(members, label, by_names, found)
        if self._colliding is None:
            self._colliding = colliding
        for names, use in by_names.items():
            for name in names:
                found.by_rule[name].add(use)
        return found

    def collisions(self, shares: Sequence[float]) -> list[Part]:
        """URLs of each part that should not meet, but did when `uses` was first asked for: a share of these meetings.

        A meeting of both parts is of both.
        """
        parts = []
        for side, share in enumerate(shares):
            rows: dict[int, None] = {}
            for number, members in enumerate(self._colliding or ()):
                if mixed(number, 2) < share * (1 << 64):
                    rows |= dict.fromkeys([i for i in members if self._sides[i] == side][:_MOST_OF_A_CLUSTER])
                    if len(rows) > _MOST_COLLIDING:
                        break
            parts.append(Part([self._urls[i] for i in rows], [self._labels[i] for i in rows]))
        return parts

    def _within_reach(self, rules: Sequence[Rule]) -> Iterable[int]:
        """URLs that some of the rules may change, as they are or after others: a few too many."""
        if not rules:
            return ()
        texts = sorted({text for rule in rules for text in _texts(rule)})
        if "" in texts:
            return range(len(self._urls))
        rows = set(_having(texts, self._column))
        forms = _column([form for form, _ in self._forms.values()])
        changed = list(self._forms)
        return rows.union([changed[i] for i in _having(texts, forms)])

    def _normalized(self, rows: Iterable[int], rules: Sequence[Rule]) -> Iterator[tuple[int, tuple[str, Names] | None]]:
        """The form of each of these URLs, and the rules that gave it; None for URLs that no rule changes."""
        normalize = SiteNormalizer(SiteRules(self._site, tuple(rules))).normalize
        urls, sides = self._urls, self._sides
        for i in rows:
            if sides[i] >= 0:
                _, form, _, names = normalize(urls[i])
                yield i, (form, names) if names else None

    def _meetings(self) -> dict[str, list[int]]:
        """Numbers of the URLs of each form that some URL was changed to."""
        groups: dict[str, list[int]] = {}
        forms = self._forms
        for i, (form, _) in forms.items():
            there = groups.get(form)
            if there is None:
                groups[form] = [i]
            else:
                there.append(i)
        for form, members in groups.items():
            row = self._row_of.get(form)
            if row is not None and row not in forms:
                members.append(row)
        return groups

    def _judge(self, members: list[int], label: int, by_names: dict[Names, Use], found: SiteUse) -> None:
        """Put the meeting of some URLs at one form down to the rules that brought them there."""
        labels, sides, forms = self._labels, self._sides, self._forms
        alone = all(i in forms for i in members)
        right = [i for i in members if labels[i] == label]
        for i in members:
            if i in forms:
                use = by_names[forms[i][1]]
                use.met += not alone
                if labels[i] == label and len(right) > 1:
                    side = sides[i]
                    use.right[side] += 1
                    use.clusters[side].add(label)
                    if side and len(use.examples) < _EXAMPLES:
                        use.examples.append(i)
        if len(right) == len(members):
            return
        everyone = {name for i in members if i in forms for name in forms[i][1]}
        for name in everyone:
            found.by_rule[name].collisions += 1
        for i in members:
            if labels[i] != label:
                names = forms[i][1] if i in forms else ()
                for name in names or everyone:  # a URL that nobody changed is one wrong URL, whoever came to it
                    found.by_rule[name].wrong[sides[i]] += 1.0 if names else 1.0 / len(everyone)


def _having(texts: Sequence[str], column: pl.Series) -> list[int]:
    """Where a column has one of the texts in it."""
    rows: list[int] = column.str.contains_any(_column(texts).to_list()).arg_true().to_list()
    return rows


def _column(texts: Sequence[str]) -> pl.Series:
    """Texts for Polars: decoded escapes may have left what is no UTF-8, each such character is a question mark."""
    return pl.Series([t if t.isascii() else t.encode("utf-8", "replace").decode() for t in texts], dtype=pl.String)


def _texts(rule: Rule) -> Iterator[str]:
    """Texts of which a URL must have one for the rule to change it; the empty text if it may change any."""
    ready = compiled(rule)
    needles = ready.needles()
    if not needles:
        yield from ready.texts()
    for kind, _, token in needles:
        if kind == "seg":
            yield f"/{token}"
        else:
            yield from (f"{before}{token}" for before in "?&;")


def _count(members: Sequence[int], labels: Sequence[int], found: SiteUse) -> int:
    """Count a meeting of some URLs, the last of which is the one that was not changed, if there is one.

    Returns:
        The label of those who are right: of most, and of equally many that of the last.
    """
    if len(members) < 2:
        return labels[members[0]] if members else -1
    counts = Counter([labels[i] for i in members])
    label = labels[members[-1]]
    if len(counts) == 1:
        found.right += min(len(members), _MOST_OF_A_CLUSTER) - 1
        return label
    first, most = counts.most_common(1)[0]
    if counts[label] < most:
        label = first
    found.right += min(most, _MOST_OF_A_CLUSTER) - 1
    found.wrong += sum(min(count, _MOST_OF_A_CLUSTER) for other, count in counts.items() if other != label)
    return label
