"""`SiteNormalizer` for many URLs of a site at once: the same canonical forms, as numbers that can be compared."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dedupcrawl.urls.learning.column_rule import ColumnRule, column_rule
from dedupcrawl.urls.learning.retokenized import split_again
from dedupcrawl.urls.learning.token_runs import Hashes
from dedupcrawl.urls.learning.token_texts import Ints
from dedupcrawl.urls.learning.url_columns import Made, UrlColumns
from dedupcrawl.urls.normalizer import MOST_PASSES, SiteNormalizer
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules

Names = tuple[str, ...]


class ColumnNormalizer:
    """The URLs of one site, and what rules make of them.

    Attributes:
        columns: The URLs.
        own: Shape (n,): a number for each URL as it is.
        histories: Sets of rules by number: their ids, in the order in which they first changed a URL. Number 0 is none.
    """

    def __init__(self, site: str, urls: Sequence[str]) -> None:
        self._site = site
        self._urls = urls
        self.columns = UrlColumns.of(urls)
        self.own = self.columns.hashes(np.arange(len(urls)))
        self.histories: list[Names] = [()]
        self._history_of: dict[Names, int] = {(): 0}
        self._made: dict[ColumnRule, Made] = {}
        self._split: Made = {}

    def normalize(self, rows: Ints, rules: Sequence[Rule]) -> tuple[Hashes, Ints]:
        """Apply rules to these URLs, in order, again and again until nothing changes.

        Returns:
            For each row the number of its canonical form, which is that of the URL if it is one, and the number of its
            history; 0 for URLs that no rule changes. Shapes (len(rows),).
        """
        state = self.columns.taken(rows)
        found, by = self.own[rows], np.zeros(len(rows), dtype=np.int64)
        slow = [np.flatnonzero(state.split & ~state.plain)]
        trail = [found]
        active = np.flatnonzero(state.plain)
        ready = [(rule.id, column_rule(_nameless(rule))) for rule in rules]
        for _ in range(MOST_PASSES):
            part = state.taken(active)
            changed = self._passed(part, by, active, ready)
            if not changed.size:
                active = changed
                break
            odd = ~part.plain[changed]
            slow.append(active[changed[odd]])
            changed = changed[~odd]
            state.put(active[changed], part, changed)
            active = active[changed]
            forms = state.hashes(active)
            settled = forms == trail[-1][active]
            circles = np.zeros(len(active), dtype=np.bool_)
            for earlier in trail[:-1]:
                circles |= forms == earlier[active]
            slow.append(active[circles & ~settled])
            found = found.copy()
            found[active] = forms
            trail.append(found)
            active = active[~settled & ~circles]
        slow.append(active)
        found, late = found.copy(), np.concatenate(slow)
        self._one_by_one(rows, np.unique(late), rules, found, by)
        by[found == self.own[rows]] = 0
        return found, by

    def _passed(self, part: UrlColumns, by: Ints, active: Ints, ready: Sequence[tuple[str, ColumnRule]]) -> Ints:
        """Apply each rule once, and note in `by` that it did something; the rows of `part` that have changed."""
        before = part.copy()
        changed = np.zeros(len(part), dtype=np.bool_)
        put_together = np.zeros(len(part), dtype=np.bool_)
        for name, rule in ready:
            rows = rule.apply(part, self._site, before, changed, self._made.setdefault(rule, {}))
            if rows.size:
                changed[rows] = True
                by[active[rows]] = self._then(by[active[rows]], name)
                if not rule.keeps_tokens:
                    put_together[rows] = True
        split_again(part, np.flatnonzero(put_together & part.plain), self._split)
        return np.flatnonzero(changed)

    def _then(self, histories: Ints, name: str) -> Ints:
        """The numbers of these histories with a rule at their end."""
        unique, where = np.unique(histories, return_inverse=True)
        after = []
        for number in unique.tolist():
            names = self.histories[number]
            after.append(number if name in names else self._number((*names, name)))
        return np.array(after, dtype=np.int64)[where]

    def _number(self, names: Names) -> int:
        found = self._history_of.get(names)
        if found is None:
            found = self._history_of[names] = len(self.histories)
            self.histories.append(names)
        return found

    def _one_by_one(self, rows: Ints, places: Ints, rules: Sequence[Rule], found: Hashes, by: Ints) -> None:
        """Put the forms and histories of the few URLs that have no columns into `found` and `by`."""
        if not places.size:
            return
        normalize = SiteNormalizer(SiteRules(self._site, tuple(rules))).normalize
        done = [normalize(self._urls[row]) for row in rows[places].tolist()]
        forms = UrlColumns.of([one.canonical for one in done], like=self.columns)
        found[places] = forms.hashes(np.arange(len(done)))
        by[places] = [self._number(one.rules) for one in done]


def _nameless(rule: Rule) -> Rule:
    """One object for rules that do the same."""
    return Rule("-", "equivalence", rule.hosts, rule.within, rule.match, rule.unless, rule.to, rule.drop, rule.convert)
