"""What becomes of the ways to merge two URLs that training leaves apart: what speaks against each, or is missing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil

from dedupcrawl.counts import counted
from dedupcrawl.urls.learning.diff import diff
from dedupcrawl.urls.learning.forms import Forms, Tally
from dedupcrawl.urls.learning.learn import GENERAL
from dedupcrawl.urls.learning.ledger import Ledger, Price
from dedupcrawl.urls.learning.narrowing import specialized
from dedupcrawl.urls.learning.search import candidates, cost_of
from dedupcrawl.urls.normalizer import SiteNormalizer
from dedupcrawl.urls.rule import Rule, described
from dedupcrawl.urls.rule_files import SiteRules
from dedupcrawl.urls.url_parts import split_url

_NAMED = 2  # pairs of URLs that speak against a hypothesis
_PRICE = Price(0.95)  # as in `learn_site`
_OF_ONE_HALF = "no held-out cluster confirms it", "all its clusters are held out for the proof"

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Reason:
    """What became of one way to merge them.

    Attributes:
        rule: What it would do, in one line.
        pairs: URLs of different pages that it would merge.
    """

    rule: str
    why: str
    pairs: tuple[Pair, ...] = ()


def made(urls: Pair, site: str, rules: Sequence[Rule]) -> tuple[Pair, tuple[str, ...]]:
    """What rules make of two URLs of a site, and the ids of those that do."""
    one, other = map(SiteNormalizer(SiteRules(site, tuple(rules))).normalize, urls)
    return (one.canonical, other.canonical), tuple(dict.fromkeys((*one.rules, *other.rules)))


def hypotheses(urls: Pair) -> Iterable[Rule]:
    """What would make one of the other, or bring them nearer, for values like theirs."""
    parts = sorted(filter(None, map(split_url, urls)), key=lambda own: (len(own.args), len(own.join())))
    seen: dict[Rule, defaultdict[str, set[str]]] = {}
    for rule, values in diff(parts[1], parts[0], {}) if len(parts) > 1 else ():
        held = seen.setdefault(rule, defaultdict(set))
        for name, value in values.items():
            held[name].add(value)
    return dict.fromkeys(filter(None, (specialized(rule, held, 1) for rule, held in seen.items())))


def judged(urls: Pair, log: Ledger) -> list[Reason]:
    """What one more round of learning would make of each hypothesis: the first step that it fails.

    `log` has the pages of the site, under the rules that training on it leaves, which do not merge the two.
    """
    forms = Forms(log.site, log.forms, log.labels, log.sides, log.bits)
    return [_judged(rule, urls, forms, log.rules) for rule in hypotheses(made(urls, log.site, log.rules)[0])]


def _judged(rule: Rule, urls: Pair, forms: Forms, rules: Sequence[Rule]) -> Reason:
    tried = forms.tried(rule)
    is_expected = rule.effect in {one.effect for one in GENERAL.expected}
    least = 1 if is_expected else ceil(cost_of(rule))
    pairs, near = _different(tried, forms)
    told = f"{tried.wrong:,} of {counted(tried.right + tried.wrong, 'merge')} would be wrong"
    if not tried.right and not tried.wrong:
        told = "no page of the log supports or contradicts it"
        if near:
            told = f"only similar pages support it ({counted(near, 'pair')}), which count neither way"
    elif tried.right and tried.clusters < least:
        support = f"{counted(tried.clusters, 'cluster')} of the log support{'s' * (tried.clusters == 1)} it"
        told = f"{support}, and it takes {least}" + f"; {told}" * (tried.wrong > 0)
    elif tried.right:
        found = [*candidates([(rule, tried.clusters, is_expected)], forms, _PRICE)]
        mine = [one for one in found if len(set(made(urls, forms.site, [*rules, one.rule])[0])) == 1]
        if mine:
            halves = {forms.side_of(forms.all[row].label) for row in mine[0].counts.rows_with(1)}
            is_of_one = len(halves) == 1 and not is_expected
            but = _OF_ONE_HALF[halves.pop()] if is_of_one else "training does not take it"
            told += f"; right as {described(mine[0].rule)}, but {but}"
        elif found:
            told += f"; right for other URLs: {described(found[0].rule)}"
        else:
            told += "; no narrower rule is right often enough"
    return Reason(described(rule), told, tuple(pairs) if tried.wrong else ())


def _different(tried: Tally, forms: Forms) -> tuple[list[Pair], int]:
    """Some pairs of different pages that a rule merges, and how many pairs of near ones it does."""
    changed = set(tried.rows)
    first = {form.text: row for row, form in forms.all.items() if row not in changed}
    pairs: list[Pair] = []
    near = 0
    for row, after in zip(tried.rows, tried.after, strict=True):
        one, other = forms.all[first.setdefault(after, row)], forms.all[row]
        if forms.are_near(one.label, other.label):
            near += 1
        elif one.label != other.label and len(pairs) < _NAMED:
            pairs.append((one.text, other.text))
    return pairs, near
