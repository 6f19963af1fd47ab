"""The proof of rules before use: what they do, all together, to clusters that they were not learned from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from dedupcrawl.urls.learning.sample import Part, mixed
from dedupcrawl.urls.normalizer import SiteNormalizer
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules

_MOST_OF_A_CLUSTER = 20  # URLs
_MOST_COLLIDING = 5000  # URLs that are given back to learning
_EXAMPLES = 8  # candidates for the examples of a rule


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

    @property
    def precision(self) -> float:
        """Share of right ones."""
        met = sum(self.right) + sum(self.wrong)
        return sum(self.right) / met if met else 0.0


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
    """The URLs of a site under rules that are taken out until all that are left hold."""

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
        self._rules: Sequence[Rule] | None = None
        self._forms: dict[int, tuple[str, tuple[str, ...]]] = {}  # of the URLs that some rule changes, and by which
        self._colliding: list[list[int]] | None = None

    def apply(self, rules: Sequence[Rule]) -> None:
        """Apply the rules to all URLs. After the first time they must be some of those of the last time.

        Only URLs that a rule has changed which is no longer there are looked at again.
        """
        normalize = SiteNormalizer(SiteRules(self._site, tuple(rules))).normalize
        urls, sides, forms = self._urls, self._sides, self._forms
        if self._rules is None:
            todo: Iterable[int] = range(len(urls))
        else:
            gone = {rule.id for rule in self._rules} - {rule.id for rule in rules}
            todo = [i for i, (_, by) in forms.items() if not gone.isdisjoint(by)]
        self._rules = rules
        for i in todo:
            done = normalize(urls[i])
            if done.rules and sides[i] >= 0:
                forms[i] = (done.canonical, done.rules)
            else:
                forms.pop(i, None)

    def without(self, rule_id: str) -> SiteUse:
        """What the rules do without one of them; nothing is changed for good."""
        rules, forms = self._rules or (), self._forms
        self._forms = dict(forms)
        self.apply([rule for rule in rules if rule.id != rule_id])
        used = self.uses()
        self._rules, self._forms = rules, forms
        return used

    def restart(self) -> None:
        """Forget the rules, so that other ones can be applied."""
        self._rules = self._colliding = None
        self._forms.clear()

    def uses(self) -> SiteUse:
        """See which URLs meet. Linear in the number of URLs."""
        found = SiteUse({rule.id: Use() for rule in self._rules or ()})
        for i, (_, by) in self._forms.items():
            for name in by:
                found.by_rule[name].coverage[self._sides[i]] += 1
        changed = {i: by for i, (_, by) in self._forms.items()}
        meetings = self._meetings()
        if self._colliding is None:
            labels = self._labels
            self._colliding = [one for one in meetings if any(labels[i] != labels[one[0]] for i in one)]
        for members in meetings:
            _judge(members, self._labels, self._sides, changed, found)
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

    def _meetings(self) -> list[list[int]]:
        """Numbers of the URLs that share a form, if they are more than one."""
        groups: dict[str, list[int]] = {}
        for i, (form, _) in self._forms.items():
            groups.setdefault(form, []).append(i)
        for i, url in enumerate(self._urls):
            if url in groups and i not in self._forms and self._sides[i] >= 0:
                groups[url].append(i)
        return [members for members in groups.values() if len(members) > 1]


def _judge(
    members: list[int],
    labels: Sequence[int],
    sides: Sequence[int],
    changed: dict[int, tuple[str, ...]],
    found: SiteUse,
) -> None:
    """Put the meeting of some URLs at one form down to the rules that brought them there."""
    counts = Counter(labels[i] for i in members)
    label, most = counts.most_common(1)[0]
    own = next((labels[i] for i in members if i not in changed), label)
    if counts[own] == most:
        label = own
    found.right += min(most, _MOST_OF_A_CLUSTER) - 1
    found.wrong += sum(min(count, _MOST_OF_A_CLUSTER) for other, count in counts.items() if other != label)
    everyone = {name for i in members for name in changed.get(i, ())}
    if len(changed.keys() & members) < len(members):
        for i in members:
            for name in changed.get(i, ()):
                found.by_rule[name].met += 1
    for i in members:
        names, side = changed.get(i), sides[i]
        if labels[i] != label:
            for name in names or everyone:  # a URL that nobody changed is one wrong URL, whoever came to it
                found.by_rule[name].wrong[side] += 1.0 if names else 1.0 / len(everyone)
        elif most > 1:
            for name in names or ():
                use = found.by_rule[name]
                use.right[side] += 1
                use.clusters[side].add(label)
                if side and len(use.examples) < _EXAMPLES:
                    use.examples.append(i)
    if len(counts) > 1:
        for name in everyone:
            found.by_rule[name].collisions += 1
