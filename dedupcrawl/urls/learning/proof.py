"""The proof of rules before use: what they do, all together, to clusters that they were not learned from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from dedupcrawl.urls.normalizer import SiteNormalizer
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules

_MOST_OF_A_CLUSTER = 20  # URLs
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
        collisions: Forms at which URLs of different clusters met, of both parts together.
        examples: Numbers of some URLs that were right.
    """

    coverage: list[int] = field(default_factory=lambda: [0, 0])
    right: list[int] = field(default_factory=lambda: [0, 0])
    wrong: list[int] = field(default_factory=lambda: [0, 0])
    clusters: tuple[set[int], set[int]] = field(default_factory=lambda: (set(), set()))
    collisions: int = 0
    examples: tuple[list[int], list[int]] = field(default_factory=lambda: ([], []))

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


def uses(site: str, rules: Sequence[Rule], urls: Sequence[str], labels: Sequence[int], sides: Sequence[int]) -> SiteUse:
    """Apply the rules, all together, to all URLs and see which meet. Linear in the number of URLs.

    Args:
        site: Of the rules.
        rules: In order.
        urls: Distinct.
        labels: Cluster of each URL.
        sides: 0 or 1 for the part of each URL, -1 for URLs that do not count.
    """
    normalize = SiteNormalizer(SiteRules(site, tuple(rules))).normalize
    by_form: dict[str, int | list[int]] = {}
    changed: dict[int, tuple[str, ...]] = {}
    found = SiteUse({rule.id: Use() for rule in rules})
    for i, url in enumerate(urls):
        if sides[i] < 0:
            continue
        done = normalize(url)
        if done.rules:
            changed[i] = done.rules
            for name in done.rules:
                found.by_rule[name].coverage[sides[i]] += 1
        there = by_form.setdefault(done.canonical, i)
        if there is not i:
            if isinstance(there, list):
                there.append(i)
            else:
                by_form[done.canonical] = [there, i]
    for members in by_form.values():
        if isinstance(members, list):
            _judge(members, labels, sides, changed, found)
    return found


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
    for i in members:
        names, side = changed.get(i), sides[i]
        if labels[i] != label:
            for name in names or everyone:
                found.by_rule[name].wrong[side] += 1
        elif most > 1:
            for name in names or ():
                use = found.by_rule[name]
                use.right[side] += 1
                use.clusters[side].add(label)
                if len(use.examples[side]) < _EXAMPLES:
                    use.examples[side].append(i)
    if len(counts) > 1:
        for name in everyone:
            found.by_rule[name].collisions += 1
