"""The proof of rules before use: what they do, all together, to clusters that they were not learned from."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from dedupcrawl.urls.learning.column_normalizer import ColumnNormalizer
from dedupcrawl.urls.learning.meeting_counts import Counts, UrlMeetings
from dedupcrawl.urls.learning.sample import SitePart, label_hash
from dedupcrawl.urls.learning.seen_sections import Met
from dedupcrawl.urls.learning.token_runs import mixed
from dedupcrawl.urls.learning.token_texts import ABSENT, Bools, Ints
from dedupcrawl.urls.learning.url_columns import UrlColumns
from dedupcrawl.urls.rule import Rule

_MOST_OF_A_CLUSTER = 20  # URLs of a colliding form that are given back
_MOST_COLLIDING = 5000  # URLs that are given back to learning
_MOST_JUDGED = 2000  # right URLs of a rule, and as many wrong ones, that are looked at again, about
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
    clusters: int = 0
    met: int = 0
    collisions: int = 0
    examples: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SiteUse:
    """What all rules of a site did to its URLs.

    Attributes:
        by_rule: Id of each rule → what it did.
        counts: Of the whole site.
    """

    by_rule: dict[str, Use]
    counts: Counts


class Judged(NamedTuple):
    """URLs that a rule has changed and that met others.

    Attributes:
        wrong: Numbers of URLs that it was wrong about, one in `wrong_step`.
        forms: Of each of these, the number of the form at which it met others.
        right: Numbers of URLs that it was right about, one in `right_step`.
        wrong_step: Such that there are not too many.
        right_step: Such that there are not too many.
    """

    wrong: Ints
    forms: Ints
    right: Ints
    wrong_step: int = 1
    right_step: int = 1


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
        self._urls = urls
        self._labels = np.array(labels, dtype=np.int64)
        self._clusters = np.unique(self._labels, return_inverse=True)[1]  # the same, as small numbers
        self._sides = np.array(sides, dtype=np.int64)
        self._normalizer = ColumnNormalizer(site, urls)
        self._rules: Sequence[Rule] = ()
        self._forms = self._normalizer.own.copy()  # of each URL under the rules
        self._histories = np.zeros(len(urls), dtype=np.int64)  # which rules gave it, by number
        self._meetings: UrlMeetings | None = None
        self._colliding: list[Ints] | None = None  # groups of several clusters when `uses` was first asked for

    @property
    def columns(self) -> UrlColumns:
        """The tokens of the URLs, not to be changed."""
        return self._normalizer.columns

    def apply(self, rules: Sequence[Rule]) -> None:
        """Have these rules applied to all URLs.

        When some of the present rules are merely taken out, or come back narrower under their old ids, only URLs are
        looked at that one of them has changed.
        """
        now, before = {rule.id: rule for rule in rules}, {rule.id: rule for rule in self._rules}
        gone = {name for name, rule in before.items() if now.get(name) != rule}
        rows = np.flatnonzero(self._sides >= 0)
        if before and now.keys() <= before.keys():
            rows = rows[self._changed_by(gone)[rows]]
        self._rules, self._meetings = rules, None
        self._forms[rows], self._histories[rows] = self._normalizer.normalize(rows, rules)

    def without(self, rule_id: str) -> Counts:
        """The counts of the whole site without one of the rules."""
        rows = np.flatnonzero(self._changed_by({rule_id}))
        if not rows.size:
            return self._met().counts()
        forms, histories = self._forms.copy(), self._histories.copy()
        rest = [rule for rule in self._rules if rule.id != rule_id]
        forms[rows], histories[rows] = self._normalizer.normalize(rows, rest)
        return UrlMeetings.of(forms, histories, self._clusters, self._sides).counts()

    def judged(self, rule_id: str) -> Judged:
        """What a rule was wrong and right about.

        It was wrong about a URL, too, that came with others of its cluster to the page of another one.
        """
        met = self._met()
        by_rule = self._changed_by({rule_id})[met.rows]
        owner = np.full(int(met.form.max(initial=-1)) + 1, -1, dtype=np.int64)  # of each form, the cluster it is from
        unchanged = self._histories[met.rows] == 0
        owner[met.form[unchanged]] = self._labels[met.rows[unchanged]]
        owners, labels = owner[met.form], self._labels[met.rows]
        bad = ~met.leads | ((owners >= 0) & (owners != labels))
        wrong, wrong_step = _some(np.flatnonzero(by_rule & bad), met.rows)
        right, right_step = _some(np.flatnonzero(by_rule & met.right & ~bad), met.rows)
        return Judged(met.rows[wrong], met.form[wrong], met.rows[right], wrong_step, right_step)

    def met(self, rule_id: str) -> Iterator[Met]:
        """URLs that a rule was right about, and those that they met: of some forms, all of them."""
        found = self._met()
        rows, form = found.rows[found.right], found.form[found.right]
        by_rule = self._changed_by({rule_id})[rows]
        here = np.isin(form, form[by_rule])
        step = -(-int(here.sum()) // _MOST_JUDGED) or 1
        here &= np.unique(form, return_inverse=True)[1] % step == 0
        urls = self.columns.all_parts(rows[here])
        return map(Met, urls, form[here].tolist(), by_rule[here].tolist())

    def varied(self, names: Mapping[str, Sequence[str]]) -> dict[str, dict[str, set[str | None]]]:
        """Values of arguments that made no difference: URLs of one cluster that met at a form have several of them.

        Args:
            names: Id of each rule → the arguments that are of interest where it changed some of these URLs.

        Returns:
            Id → name → values, None for an argument without "="; without the arguments that none of these URLs has.
        """
        met = self._met()
        rows, form = met.rows[met.right], met.form[met.right]
        columns = self.columns
        found: dict[str, dict[str, set[str | None]]] = {}
        for rule_id, wanted in names.items():
            changed = self._changed_by({rule_id})[rows]
            here = np.isin(form, form[changed])
            those, at, by_rule = rows[here], form[here], changed[here]
            of_rule = found.setdefault(rule_id, {})
            for name in wanted:
                place = columns.args_named(columns.texts.known(name))[those]
                there = np.flatnonzero(place != ABSENT)
                if not there.size:
                    continue
                value = np.full(len(those), ABSENT - 1, dtype=np.int64)  # without the argument
                value[there] = columns.arg_texts.values(
                    columns.args.pool.all[columns.args.start[those[there]] + place[there]]
                )
                order = np.lexsort((value, at))
                same = (at[order][1:] == at[order][:-1]) & (value[order][1:] != value[order][:-1])
                several = np.isin(at, at[order][1:][same])
                numbers = np.unique(value[several & by_rule & (place != ABSENT)]).tolist()
                of_rule[name] = {None if number == ABSENT else columns.texts[number] for number in numbers}
        return found

    def next_round(self) -> None:
        """Have `collisions` tell of the next rules."""
        self._colliding = None

    def uses(self) -> SiteUse:
        """See which URLs meet."""
        met = self._met()
        if self._colliding is None:
            self._colliding = met.colliding()
        found = SiteUse({rule.id: Use() for rule in self._rules}, met.counts())
        names = self._normalizer.histories
        for history, side, count in _tallied(self._histories, self._sides):
            for name in names[history]:
                found.by_rule[name].coverage[side] += count
        histories, sides = self._histories[met.rows], self._sides[met.rows]
        right = met.right & (histories > 0)
        for history, side, count in _tallied(histories[right], sides[right]):
            for name in names[history]:
                found.by_rule[name].right[side] += count
        at_a_url = met.with_unchanged & (histories > 0)
        for history, _, count in _tallied(histories[at_a_url], sides[at_a_url]):
            for name in names[history]:
                found.by_rule[name].met += count
        self._count_clusters(found, met, right)
        self._blame(found.by_rule, met, met.collides)
        return found

    def wrong_alone(self, names: Collection[str]) -> dict[str, Use]:
        """`wrong` and `collisions` of each rule, as in `uses`, at the forms for which only one of these is to blame."""
        met, found = self._met(), {rule.id: Use() for rule in self._rules}
        blamed = self._blamed(met.form[met.collides], self._histories[met.rows[met.collides]])
        single = [at for at, everyone in blamed.items() if len(everyone.intersection(names)) == 1]
        self._blame(found, met, met.collides & np.isin(met.form, single))
        return found

    def collisions(self, shares: Sequence[float]) -> list[SitePart]:
        """URLs of each part that should not meet, but did when `uses` was first asked for: a share of these meetings.

        A meeting of both parts is of both.
        """
        parts = []
        for side, share in enumerate(shares):
            rows: dict[int, None] = {}
            for members in self._colliding or ():
                if label_hash(int(members.min()), 2) < share * (1 << 64):
                    here = members[self._sides[members] == side]
                    rows |= dict.fromkeys(here[:_MOST_OF_A_CLUSTER].tolist())
                    if len(rows) > _MOST_COLLIDING:
                        break
            parts.append(SitePart(list(rows), self._labels[list(rows)].tolist()))
        return parts

    def _changed_by(self, ids: set[str]) -> Bools:
        """Which URLs one of these rules has changed. Shape (n,)."""
        those = [not ids.isdisjoint(names) for names in self._normalizer.histories]
        return np.array(those, dtype=np.bool_)[self._histories]

    def _met(self) -> UrlMeetings:
        """Which URLs meet under the rules."""
        if self._meetings is None:
            self._meetings = UrlMeetings.of(self._forms, self._histories, self._clusters, self._sides)
        return self._meetings

    def _count_clusters(self, found: SiteUse, met: UrlMeetings, right: Bools) -> None:
        """Clusters of the right ones, and examples, by rule."""
        names = self._normalizer.histories
        rows = met.rows[right]
        histories, labels = self._histories[rows], self._clusters[rows]
        for name, use in found.by_rule.items():
            those = np.array([name in history for history in names], dtype=np.bool_)
            use.clusters = int(np.count_nonzero(np.bincount(labels[those[histories]])))
        second = np.sort(rows[self._sides[rows] == 1])
        for history in np.unique(self._histories[second]).tolist():
            some = second[self._histories[second] == history][:_EXAMPLES].tolist()
            for name in names[history]:
                use = found.by_rule[name]
                use.examples = (use.examples + some)[:_EXAMPLES]

    def _blame(self, found: Mapping[str, Use], met: UrlMeetings, those: Bools) -> None:
        """Put the meetings of several clusters down to the rules that brought their URLs there.

        Args:
            found: What is counted of each rule.
            met: All meetings.
            those: Which of the URLs that met. All of a form, or none.
        """
        names = self._normalizer.histories
        rows, form, wrong = met.rows[those], met.form[those], ~met.leads[those]
        histories, sides = self._histories[rows], self._sides[rows]
        for history, side, count in _tallied(histories[wrong], sides[wrong]):
            for name in names[history]:
                found[name].wrong[side] += count
        # A URL that nobody changed is one wrong URL, whoever came to it.
        unchanged = wrong & (histories == 0)
        side_of = dict(zip(form[unchanged].tolist(), sides[unchanged].tolist(), strict=True))
        for at, everyone in self._blamed(form, histories).items():
            for name in everyone:
                found[name].collisions += 1
                if at in side_of:
                    found[name].wrong[side_of[at]] += 1.0 / len(everyone)

    def _blamed(self, form: Ints, histories: Ints) -> dict[int, set[str]]:
        """Number of each form → the rules that changed URLs which came to it."""
        names = self._normalizer.histories
        blamed: dict[int, set[str]] = {}
        for pair in np.unique(form * len(names) + histories).tolist():
            blamed.setdefault(pair // len(names), set()).update(names[pair % len(names)])
        return blamed


def _some(places: Ints, rows: Ints) -> tuple[Ints, int]:
    """About `_MOST_JUDGED` of these at most, one in so many: not each so manieth, as kinds of URLs may take turns.

    Which ones depends on the URLs that are there, `rows`, and not on the order of their forms, which is that of hashes.
    """
    step = -(-len(places) // _MOST_JUDGED) or 1
    return places[mixed(rows[places].astype(np.uint64)) % np.uint64(step) == 0], step


def _tallied(histories: Ints, sides: Ints) -> list[tuple[int, int, int]]:
    """How often each history and side are together, the empty history left out: (history, side, count)."""
    there = (histories > 0) & (sides >= 0)
    keys, counts = np.unique(histories[there] * 2 + sides[there], return_counts=True)
    return [(key >> 1, key & 1, count) for key, count in zip(keys.tolist(), counts.tolist(), strict=True)]
