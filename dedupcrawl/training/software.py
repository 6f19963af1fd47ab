"""Known software in training: its rules come before all that is learned, as far as the site's log bears them out.

The learner is given what they leave of the URLs, so it neither has to find them out again nor knows of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from dedupcrawl.software.program import programs
from dedupcrawl.software.recognition import Recognizer
from dedupcrawl.urls.normalizer import SiteNormalizer
from dedupcrawl.urls.probation import FROM_OTHER_SITES
from dedupcrawl.urls.rule import Evidence, Rule
from dedupcrawl.urls.rule_files import SiteRules

_EXAMPLES = 3  # of a rule
_MOST_LOOKED_AT = 20_000  # URLs of a site, at equal steps: signs are of whole sites


@dataclass(frozen=True, slots=True)
class Assumed:
    """What known software makes of a site's log.

    Attributes:
        rules: Those that the log bears out, with its evidence, and, disabled, those that it refutes.
        urls: What is left of the URLs: distinct.
        labels: Of these.
        rows: Where each of them stands first among the URLs of the log.
    """

    rules: tuple[Rule, ...]
    urls: list[str]
    labels: list[int]
    rows: list[int]


def recognized_rules(site: str, urls: Sequence[str]) -> tuple[Rule, ...]:
    """The rules of the software that the URLs of a site's log tell."""
    recognizer = Recognizer(programs())
    for url in urls[:: len(urls) // _MOST_LOOKED_AT + 1]:
        recognizer.see_url(url)
    return recognizer.rules_of(site)


def assumed(site: str, urls: Sequence[str], labels: Sequence[int], min_precision: float) -> Assumed:
    """Judge the rules of the software of a site by its log, and use them on it.

    A rule is refuted when it brings together URLs of different pages more often than `min_precision` allows, what is
    known of other sites included; of several that are, the worst goes first, and the others are judged without it. What
    there are no URLs for is neither borne out nor refuted, and left out.

    Args:
        site: Of all URLs.
        urls: Distinct.
        labels: Cluster of each.
        min_precision: Least share of right ones among the URLs that a rule brings together.
    """
    rules = {rule.id: rule for rule in recognized_rules(site, urls)}
    refuted: list[Rule] = []
    while True:
        made = SiteNormalizer(SiteRules(site, tuple(rules.values())))
        used = _Used.of(made, urls, labels)
        wrong = [
            (used.wrong[name] / (used.right[name] + used.wrong[name]), name)
            for name in rules
            if used.right[name] + FROM_OTHER_SITES
            < min_precision * (used.right[name] + used.wrong[name] + FROM_OTHER_SITES)
        ]
        if not wrong:
            break
        name = max(wrong)[1]
        counts = used.evidence(name)
        note = f"{counts.wrong} of {counts.correct + counts.wrong} merges in the log of {date.today()} were wrong"
        refuted.append(replace(rules.pop(name), state="disabled", evidence=counts, note=note))
    held = tuple(
        replace(rule, evidence=used.evidence(name), examples=tuple(used.examples[name]))
        for name, rule in rules.items()
        if used.covered[name]
    )
    left: dict[str, int] = {}
    for row in used.first.values():
        done = made.normalize(urls[row])
        left.setdefault(urls[row] if done.kind == "equivalence" else done.canonical, row)
    return Assumed((*held, *refuted), list(left), [labels[row] for row in left.values()], list(left.values()))


@dataclass(slots=True)
class _Used:
    """What some rules make of URLs, by their ids."""

    right: Counter[str]
    wrong: Counter[str]
    covered: Counter[str]
    examples: dict[str, list[tuple[str, str]]]
    first: dict[str, int]  # canonical form → row of the first URL of it

    @classmethod
    def of(cls, made: SiteNormalizer, urls: Sequence[str], labels: Sequence[int]) -> _Used:
        found = cls(Counter(), Counter(), Counter(), {}, {})
        rules_of_first: dict[str, tuple[str, ...]] = {}
        for row, (url, label) in enumerate(zip(urls, labels, strict=True)):
            done = made.normalize(url)
            found.covered.update(done.rules)
            for name in done.rules:
                examples = found.examples.setdefault(name, [])
                if len(examples) < _EXAMPLES and len(done.rules) == 1 and url.isprintable():
                    examples.append((url, done.canonical))
            before = found.first.setdefault(done.canonical, row)
            if before == row:
                rules_of_first[done.canonical] = done.rules
                continue
            counts = found.right if labels[before] == label else found.wrong
            counts.update({*done.rules, *rules_of_first[done.canonical]})
        return found

    def evidence(self, name: str) -> Evidence:
        return Evidence(coverage=self.covered[name], correct=self.right[name], wrong=self.wrong[name])
