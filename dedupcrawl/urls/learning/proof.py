"""The proof of rules before use: what they do, all together, to clusters that they were not learned from."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from dedupcrawl.urls.normalizer import SiteNormalizer
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules

_EXAMPLES = 3  # of a rule
_LONGEST_EXAMPLE = 300  # characters


@dataclass(slots=True)
class Use:
    """What one rule did to the URLs of one part.

    Attributes:
        coverage: URLs that it changed.
        right: Of these, URLs that met another one of their cluster.
        wrong: Of these, URLs that met others of other clusters only.
        clusters: Clusters of the right ones.
        collisions: Forms at which URLs of different clusters met.
        examples: Some URLs that were right, and their forms.
    """

    coverage: int = 0
    right: int = 0
    wrong: int = 0
    clusters: set[int] = field(default_factory=set)
    collisions: int = 0
    examples: list[tuple[str, str]] = field(default_factory=list)


def uses(site: str, rules: Sequence[Rule], urls: Sequence[str], labels: Sequence[int]) -> dict[str, Use]:
    """Apply the rules, all together, to some URLs and see which meet. Linear in the number of URLs."""
    normalize = SiteNormalizer(SiteRules(site, tuple(rules))).normalize
    by_form: dict[str, int | list[int]] = {}
    changed: dict[int, tuple[str, ...]] = {}
    coverage: Counter[tuple[str, ...]] = Counter()
    for i, url in enumerate(urls):
        done = normalize(url)
        if done.rules:
            changed[i] = done.rules
            coverage[done.rules] += 1
        form = done.canonical
        there = by_form.setdefault(form, i)
        if there is not i:
            if isinstance(there, list):
                there.append(i)
            else:
                by_form[form] = [there, i]
    used: dict[str, Use] = defaultdict(Use)
    for names, count in coverage.items():
        for name in names:
            used[name].coverage += count
    for form, members in by_form.items():
        if isinstance(members, list):
            _judge(form, members, urls, labels, changed, used)
    return used


def _judge(
    form: str,
    members: list[int],
    urls: Sequence[str],
    labels: Sequence[int],
    changed: dict[int, tuple[str, ...]],
    used: dict[str, Use],
) -> None:
    """Put the meeting of some URLs at one form down to the rules that brought them there."""
    counts = Counter(labels[i] for i in members)
    own = [i for i in members if i not in changed]
    label, most = counts.most_common(1)[0]
    if own and counts[labels[own[0]]] == most:
        label = labels[own[0]]
    everyone = {name for i in members for name in changed.get(i, ())}
    for i in members:
        names = changed.get(i)
        if labels[i] == label and most > 1:
            for name in names or ():
                use = used[name]
                use.right += 1
                use.clusters.add(label)
                if len(use.examples) < _EXAMPLES and len(urls[i]) < _LONGEST_EXAMPLE:
                    use.examples.append((urls[i], form))
        elif labels[i] != label:
            for name in names or everyone:
                used[name].wrong += 1
    if len(counts) > 1:
        for name in everyone:
            used[name].collisions += 1
