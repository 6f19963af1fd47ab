"""The ledger: what all rules of a site together merge, rightly and wrongly, and which of them has to go.

It uses the rules as a crawl does, by the normalizer, on all URLs. The worth of a rule is found by doing without it.

So it judges rules that were learned before, too. A crawl that uses a rule hardly fetches the duplicates from which it
was learned, so its log has little from which to learn the rule again. That is no evidence against it. Different pages
that it would merge are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from math import sqrt

from dedupcrawl.urls.bounds import upper_bound
from dedupcrawl.urls.learning.forms import Tally
from dedupcrawl.urls.learning.judge import Merge, judged
from dedupcrawl.urls.normalizer import Applied, SiteNormalizer, spelled_tokens
from dedupcrawl.urls.rule import Evidence, Rule, State
from dedupcrawl.urls.rule_files import SiteRules

# Of the wrong ones that a user allows for coverage: a wrong merge loses a page forever. Six mirrors, seed 4: recall
# .681 at precision .9928, with 0.15 .599 at .9941; six others, seed 3: .596 at .9858, with 0.1 .622 at .9762.
_SHARE = 0.2
_MOST_PLACES = 50  # where a rule is right that are looked at again without it. 25: as well; 100: .4786 (seeds 3 and 4)
# Right merges of those that stay of rules that drop each argument of fifteen mirrors, seeds 3 and 4, while one form did
# not refute: 5,456; with 3 suspects 5,423, 14 5,456; with 10 trials 4,802, 40 5,456.
_MOST_SUSPECTS = 7  # rules that are done without in a trial
_OF_ONE_MERGE = 2  # URLs; of one page that may have changed in between
_MOST_TRIALS = 20  # of which of several rules is to blame; where that was not enough, all that are wrong go


@dataclass(slots=True)
class Use:
    """What one rule has done; each URL counts for all rules that changed it.

    Attributes:
        coverage: URLs that it changed, by the part of their clusters.
        right: URLs that it led to URLs of their page.
        wrong: URLs that it led to URLs of other pages only.
        merges: URLs that it helped to merge rightly, minus one for each page.
        blame: Its share of the URLs that were merged wrongly.
        collisions: Canonical forms of several pages in which it had a part.
        real: URLs whose canonical form is a URL of the log.
    """

    coverage: list[int] = field(default_factory=lambda: [0, 0])
    right: list[int] = field(default_factory=lambda: [0, 0])
    wrong: list[int] = field(default_factory=lambda: [0, 0])
    merges: int = 0
    blame: float = 0.0
    collisions: int = 0
    real: int = 0
    rows: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Price:
    """What a wrong merge costs: one price, by the least share of right ones that a user asks for."""

    min_precision: float

    @property
    def of_wrong(self) -> float:
        """Right merges that a wrong one outweighs."""
        return 1.0 / max(1e-6, (1.0 - self.min_precision) * _SHARE)

    def passes(self, tally: Tally, clusters: float) -> bool:
        """True when a hypothesis is right as often as the user asks, of so many clusters at least."""
        return tally.clusters >= clusters and tally.right >= self.min_precision * (tally.right + tally.wrong)

    def is_safe(self, right: float, wrong: float) -> bool:
        """True when so many wrong ones may be chance: a standard deviation more than allowed."""
        allowed = max(0.0, right + wrong) / self.of_wrong
        return wrong <= allowed + sqrt(allowed)

    def allows(self, right: float, wrong: float) -> bool:
        """True when a rule is right as often as the user asks, give or take what may be chance."""
        allowed = (1.0 - self.min_precision) * (right + wrong)
        return wrong <= allowed + sqrt(allowed)

    def worth(self, right: float, wrong: float) -> float:
        return right - self.of_wrong * wrong


class Ledger:
    """All URLs of a site under its rules.

    Attributes:
        forms: What the rules make of each URL.
        uses: What each rule has done, by its id.
        right: Merges.
        wrong: Merges.
        coverage: URLs that some rule changed.
        misled: Those of them that come to the form of another page.
        collisions: Forms of several pages.
        refuted: Rules of known software against which the log speaks.
    """

    def __init__(self, site: str, urls: Sequence[str], labels: Sequence[int], sides: Sequence[int]) -> None:
        self.site, self.urls, self.labels, self.sides = site, urls, labels, sides
        self._tokens = [spelled_tokens(url) for url in urls]
        self._row_of = {spelled: row for row, (spelled, _) in enumerate(self._tokens)}
        self.rules: tuple[Rule, ...] = ()
        self.uses: dict[str, Use] = {}
        self.right = self.wrong = self.coverage = self.misled = self.collisions = 0
        self.forms = [spelled for spelled, _ in self._tokens]
        self._by: list[tuple[str, ...]] = [()] * len(urls)
        self._stuck: set[int] = set()  # rows that are left as they are only because rules do not come to an end
        self._groups: dict[str, list[int]] = {}
        self.refuted: list[Rule] = []

    def apply(self, rules: Sequence[Rule]) -> None:
        """Use these rules and no others; their ids differ."""
        before = set(self.rules)
        gone = {rule.id for rule in before.difference(rules)}
        is_new = not before.issuperset(rules)  # else only what the others did is done again
        self.rules = tuple(rules)
        applied = SiteNormalizer(SiteRules(self.site, self.rules)).applied
        for row, (url, parts) in enumerate(self._tokens):
            if parts is None or not (is_new or row in self._stuck or gone.intersection(self._by[row])):
                continue
            done = applied(url, parts)
            self.forms[row], used = done or (url, [])
            is_stuck = done is not None and self.forms[row] == url
            self._by[row] = () if is_stuck else tuple(dict.fromkeys(name for name, _ in used))
            (self._stuck.add if is_stuck else self._stuck.discard)(row)
        self._count()

    def _count(self) -> None:
        groups: defaultdict[str, list[int]] = defaultdict(list)
        for row, form in enumerate(self.forms):
            groups[form].append(row)
        self._groups = dict(groups)
        uses = {rule.id: Use() for rule in self.rules}
        self.right = self.wrong = self.misled = self.collisions = 0
        self.coverage = sum(map(bool, self._by))
        for row, by in enumerate(self._by):
            for name in by:
                use = uses[name]
                use.coverage[self.sides[row]] += 1
                use.rows.append(row)
                use.real += self.forms[row] in self._row_of
        for form, rows in self._groups.items():
            if len(rows) < 2:
                continue
            owner, right, wrong = self._judged(form, rows)
            self.right += right
            self.wrong += wrong
            held: set[str] = set()
            for row in rows:
                by, own = self._by[row], self.labels[row]
                held.update(by)
                self.misled += bool(by) and own != owner
                for name in by:
                    (uses[name].right if own == owner else uses[name].wrong)[self.sides[row]] += 1
            self.collisions += wrong > 0
            if wrong:  # each that was changed and merged with others has a part in it
                for name in held:
                    uses[name].collisions += 1
                    uses[name].blame += wrong / len(held)
            if right:
                for name in held:
                    uses[name].merges += right
        self.uses = uses

    def _judged(self, form: str, rows: Sequence[int]) -> Merge:
        own = next((self.labels[row] for row in rows if self.urls[row] == form), None)
        return judged([self.labels[row] for row in rows], own)

    def refute(self, rules: Iterable[Rule]) -> None:
        """Record the rules of known software against which the log speaks, as doubted or as disabled.

        A crawl that learns as it goes has only a short log, and trials of its own. So a rule that is right more often
        than not, as far as the log shows, is left to these trials.
        """
        for rule in rules:
            right, wrong = (sum(counts) for counts in (self.uses[rule.id].right, self.uses[rule.id].wrong))
            if rule.source == "software" and wrong:
                self.refuted.append(self.switched_off(rule, right, wrong))

    def switched_off(self, rule: Rule, right: int, wrong: int) -> Rule:
        """The rule as doubted or as disabled, by its right and wrong merges."""
        use = self.uses[rule.id]
        note = f"{wrong} of {right + wrong} merges in the log of {date.today()} were wrong"
        counts = Evidence(0, sum(use.coverage), right, wrong, use.collisions)
        # .25 and .75: the same rules of fifteen mirrors, seeds 3 and 4
        state: State = "disabled" if upper_bound(right, wrong) < 0.5 else "doubted"
        return replace(rule, evidence=counts, note=note, state=state)

    def without(self, name: str) -> tuple[int, int]:
        """Right and wrong merges of the others.

        Of places where a rule has part in many right merges, and in none that is wrong, some speak for all.
        """
        rules = tuple(rule for rule in self.rules if rule.id != name)
        applied = SiteNormalizer(SiteRules(self.site, rules)).applied
        places = dict.fromkeys(self.forms[row] for row in (*self.uses[name].rows, *self._stuck))
        mixed = [form for form in places if len({self.labels[row] for row in self._groups[form]}) > 1]
        plain = list(places.keys() - mixed)
        if len(plain) <= _MOST_PLACES:
            right, wrong = self._moved(name, places, applied)
            return self.right + right, self.wrong + wrong
        some = sorted(plain)[:: -(-len(plain) // _MOST_PLACES)]
        right, wrong = self._moved(name, mixed, applied)
        more = self._moved(name, some, applied)
        share = len(plain) / len(some)
        return self.right + right + round(share * more[0]), self.wrong + wrong + round(share * more[1])

    def _moved(self, name: str, places: Iterable[str], applied: Applied) -> tuple[int, int]:
        """How many more right and wrong merges there are when a rule is done without in some places."""
        rows_of = self._groups
        moved = dict[int, str]()
        for row in (row for form in places for row in rows_of[form]):
            url, parts = self._tokens[row]
            if parts is not None and (name in self._by[row] or row in self._stuck):
                moved[row], _ = applied(url, parts) or (url, [])
        touched: defaultdict[str, list[int]] = defaultdict(list)
        for row, form in moved.items():
            touched[form].append(row)
        right = wrong = 0
        for form in {self.forms[row] for row in moved} | touched.keys():
            before = rows_of.get(form, [])
            after = [row for row in before if row not in moved] + touched.get(form, [])
            for rows, sign in ((before, -1), (after, 1)):
                if len(rows) > 1:
                    merge = self._judged(form, rows)
                    right += sign * merge.right
                    wrong += sign * merge.wrong
        return right, wrong

    def is_alone(self, name: str, others: set[str]) -> bool:
        """True when none of the others has a part in any wrong merge of this rule."""
        for form in {self.forms[row] for row in self.uses[name].rows}:
            rows = self._groups[form]
            owner = self._judged(form, rows).owner
            is_wrong = len(rows) > 1 and any(name in self._by[row] and self.labels[row] != owner for row in rows)
            if is_wrong and any({*self._by[row]} & others - {name} for row in rows):
                return False
        return True

    def adds(self, name: str) -> tuple[int, int]:
        right, wrong = self.without(name)
        return self.right - right, self.wrong - wrong


@dataclass(frozen=True, slots=True)
class CarriedOver:
    """Which of a site's carried-over rules stay, and which the pages of the log refute.

    Of the latter those that are known of other sites are switched off, and tell what they would add.
    """

    stay: tuple[Rule, ...] = ()
    refuted: tuple[Rule, ...] = ()


def judge_carried_over(  # noqa: PLR0913 - URLs, labels, and numbers with defaults that were measured
    site: str,
    urls: Sequence[str],
    labels: Sequence[int],
    learned: Sequence[Rule],
    before: Sequence[Rule],
    price: Price,
) -> CarriedOver:
    """Use the carried-over rules of a site, from its earlier logs or from other sites, on the pages of a log.

    Each is used after all rules that were learned from this log. A rule that has nothing left to do then, but would
    have without them, is superfluous, unless it is known of all sites. If different pages are merged, more of them than
    may be chance and more than one (which may have changed in between), all rules that alone are to blame are refuted
    at once; if there is none, the rule without which the others do best. A rule is wrong by its share of the merges in
    which it has a part, or else by what it adds to the other rules.

    Args:
        site: Of the rules.
        urls: Distinct.
        labels: Cluster of each URL.
        learned: From these URLs, in order.
        before: The carried-over rules.
        price: For right and wrong merges.
    """
    effects = {rule.effect for rule in learned}
    rest = [rule for rule in before if rule.effect not in effects]
    if not rest:
        return CarriedOver()
    ledger = Ledger(site, urls, labels, [0] * len(urls))
    new = [replace(rule, id=f"new-{i}") for i, rule in enumerate(learned)]
    old = {f"old-{i}": rule for i, rule in enumerate(rest)}
    gone: list[Rule] = []
    trials = 0
    while True:
        named = {name: replace(rule, id=name) for name, rule in old.items()}
        ledger.apply([*new, *named.values()])
        uses = ledger.uses
        some = [name for name in old if sum(uses[name].wrong) > _OF_ONE_MERGE]
        wrong = [name for name in some if not price.allows(uses[name].merges, uses[name].blame)]
        wrong = wrong or [name for name in some if not price.allows(*ledger.adds(name))]
        if not wrong:
            break
        refuted = [name for name in wrong if ledger.is_alone(name, set(wrong))]
        if not refuted:
            trials += 1
            refuted = wrong
            if trials <= _MOST_TRIALS:
                suspects = sorted(wrong, key=lambda name: (-uses[name].blame, name))[:_MOST_SUSPECTS]
                refuted = [min(suspects, key=lambda name: (-price.worth(*ledger.without(name)), name))]
        for name in refuted:
            rule = old.pop(name)
            if rule.source != "learned":
                added, lost = ledger.adds(name)
                rule = replace(ledger.switched_off(named[name], max(0, added), max(0, lost)), id=rule.id)
            gone.append(rule)
    idle = [name for name, rule in old.items() if rule.source != "prior" and not uses[name].coverage[0]]
    done = {name for name in idle if _does([named[name]], ledger) and not _does([*new, named[name]], ledger)}
    return CarriedOver(tuple(rule for name, rule in old.items() if name not in done), tuple(gone))


def _does(rules: Sequence[Rule], ledger: Ledger) -> bool:
    normalize = SiteNormalizer(SiteRules(ledger.site, tuple(rules))).normalize
    return any(rules[-1].id in normalize(url).rules for url in ledger.urls)
