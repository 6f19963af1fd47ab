"""The URLs of one site as the learner sees them: distinct forms, each with the cluster that it belongs to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from dedupcrawl.urls.compiled_rule import CompiledRule
from dedupcrawl.urls.learning.column_rule import column_rule
from dedupcrawl.urls.learning.context_keys import ContextKeys, Slot
from dedupcrawl.urls.learning.deep_tokens import PatternNode, deep_patterns
from dedupcrawl.urls.learning.groups import grouped, places
from dedupcrawl.urls.learning.labels import Labels
from dedupcrawl.urls.learning.retokenized import split_again
from dedupcrawl.urls.learning.token_runs import Hashes
from dedupcrawl.urls.learning.token_texts import ABSENT, Ints
from dedupcrawl.urls.learning.url_columns import Made, UrlColumns
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.url_parts import UrlParts

_DEEP = 2  # segments from the start that are looked into
_LEAST_VALUES = 12  # of a slot that is looked into

_NONE = np.zeros(0, dtype=np.int64)


class Form:
    """One form that URLs of the site have under the rules accepted so far.

    Attributes:
        parts: Its tokens, not to be edited.
        label: The cluster that most of its URLs belong to.
        text: The form itself.
    """

    __slots__ = ("label", "parts", "text")

    def __init__(self, parts: UrlParts, label: int) -> None:
        self.parts, self.label, self.text = parts, label, parts.join()


class Tried(NamedTuple):
    """What a rule would make of the forms of a corpus.

    Attributes:
        rows: Those that the rule changes, as places in the corpus. Shape (m,), as the next two.
        after: A number for what becomes of each, equal for equal ones.
        targets: The form that it becomes, as a place in the corpus; -1 if it becomes none of them.
    """

    rows: Ints
    after: Hashes
    targets: Ints


class Corpus:
    """All forms of one site, in the order in which they came. Forms that a rule brings together become one.

    Attributes:
        site: Of the URLs.
        columns: The tokens of the forms, all of them plain.
        labels: Of the forms.
    """

    def __init__(self, site: str, columns: UrlColumns, labels: Sequence[int]) -> None:
        """Take the URLs; of several that differ in the fragment alone, the first.

        Args:
            site: Of all URLs.
            columns: The URLs, of which those that are not plain are left out.
            labels: The cluster of each.
        """
        self.site = site
        columns = columns.taken(np.arange(len(columns)))
        columns.fragments[:] = 0
        bare = np.flatnonzero(columns.split & (columns.segments.size == 0))  # http://a.com is http://a.com/
        columns.segments.put(bare, np.ones(len(bare), dtype=np.int64), np.zeros(len(bare), dtype=np.int64))
        columns.plain[bare] = columns.separators[bare] == 0
        rows = np.flatnonzero(columns.plain)
        hashes = columns.hashes(rows)
        first = grouped(hashes)[1]
        self.columns, self._own = columns.taken(rows[first]), hashes[first]
        self.labels = Labels.of(np.array(labels, dtype=np.int64)[rows[first]])
        self._keys: ContextKeys | None = None
        self._patterns: dict[Slot, PatternNode] | None = None
        self._made: dict[Rule, Made] = {}
        self._split: Made = {}

    @classmethod
    def of(cls, site: str, urls: Sequence[str], labels: Sequence[int]) -> Corpus:
        """The corpus of these URLs."""
        return cls(site, UrlColumns.of(urls), labels)

    @property
    def keys(self) -> ContextKeys:
        """What contexts may speak of, of all forms."""
        if self._keys is None:
            self._keys = ContextKeys.of(self.columns, self.patterns)
        return self._keys

    @property
    def patterns(self) -> dict[Slot, PatternNode]:
        """Deep tokenization of the slots whose values are of several kinds; made when first asked for, and kept."""
        if self._patterns is None:
            slots = self._slots()
            trees = {slot: deep_patterns(found) for slot, found in slots.items() if len(found) >= _LEAST_VALUES}
            self._patterns = {slot: tree for slot, tree in trees.items() if tree.children}
        return self._patterns

    def _slots(self) -> dict[Slot, list[str]]:
        """The distinct values of the first segments and of each argument, in the order in which they came."""
        columns, slots = self.columns, {}
        texts = columns.texts
        for depth in range(_DEEP):
            rows = np.flatnonzero(columns.segments.size > depth)
            slots["", str(depth)] = [texts[number] for number in _distinct(columns.segments.at(rows, depth))]
        args = _distinct(columns.args.flat(np.arange(len(columns)))[2])
        numbers = np.array(args, dtype=np.int64)
        by_name: dict[int, dict[int, None]] = defaultdict(dict)
        names, values = columns.arg_texts.names(numbers), columns.arg_texts.values(numbers)
        for name, value in zip(names.tolist(), values.tolist(), strict=True):
            by_name[name][max(value, 0)] = None  # without "=" as with an empty value
        for name, found in by_name.items():
            slots["arg", texts[name]] = [texts[value] for value in found]
        return slots

    def with_segment(self, test: Callable[[str], bool]) -> list[Form]:
        """The forms with a segment that passes a test, which is asked once for each text."""
        columns = self.columns
        owner, _, numbers = columns.segments.flat(np.arange(len(columns)))
        return self.forms(np.unique(owner[columns.texts.which(test, numbers)]))

    def clusters(self) -> dict[int, Ints]:
        """The clusters that still have more than one form: the places of these."""
        first = self.labels.first
        group, leaders = grouped(first.astype(np.uint64))
        order, size = np.argsort(group, kind="stable"), np.bincount(group)
        stop = np.cumsum(size)
        several = np.flatnonzero(size > 1)
        names = self.labels.clusters[first[leaders[several]]]
        runs = zip((stop - size)[several].tolist(), stop[several].tolist(), strict=True)
        return {name: order[start:end] for name, (start, end) in zip(names.tolist(), runs, strict=True)}

    def forms(self, rows: Ints) -> list[Form]:
        """Some of the forms as objects."""
        labels = self.labels.clusters[self.labels.first[rows]]
        return list(map(Form, self.columns.all_parts(rows), labels.tolist()))

    def tried(self, rule: CompiledRule) -> Tried:
        """What a rule would make of all forms."""
        rows, urls = self._changed(rule)
        if not rows.size:
            return Tried(_NONE, _NONE.astype(np.uint64), _NONE)
        hashes = urls.hashes(np.arange(len(urls)))
        return Tried(rows, hashes, places(self._own, hashes))

    def _changed(self, rule: CompiledRule) -> tuple[Ints, UrlColumns]:
        """Which forms a rule changes, and what it makes of each; what would be no URL stays what it was."""
        ready = column_rule(rule.rule)
        rows = ready.fitting(self.columns)
        urls = self.columns.taken(rows)
        if not rows.size:
            return rows, urls
        changed = ready.change(urls, np.arange(len(rows)), self.site, self._made.setdefault(rule.rule, {}))
        if not ready.keeps_tokens:
            split_again(urls, changed[urls.plain[changed]], self._split)
        changed = changed[urls.plain[changed]]
        return rows[changed], urls.taken(changed)

    def apply(self, rule: CompiledRule) -> None:
        """Take all forms through an accepted rule."""
        rows, urls = self._changed(rule)
        if not rows.size:
            return
        stays = np.ones(len(self.columns), dtype=np.bool_)
        stays[rows] = False
        hashes = urls.hashes(np.arange(len(urls)))
        targets = places(self._own, hashes)
        targets = np.where(stays[targets], targets, ABSENT)
        group, first = grouped(hashes)
        new = first[targets[first] == ABSENT]
        kept = np.flatnonzero(stays)
        place = np.cumsum(stays) - 1  # of what stays, among what there is then
        home = np.empty(len(first), dtype=np.int64)
        home[group[new]] = len(kept) + np.arange(len(new))
        there = targets[first] != ABSENT
        home[there] = place[targets[first[there]]]
        columns = self.columns.taken(np.concatenate([kept, rows[new]]))
        columns.put(np.arange(len(kept), len(columns)), urls, new)
        self.columns, self._keys = columns, None
        self._own = np.concatenate([self._own[kept], hashes[new]])
        homes = np.concatenate([np.arange(len(kept)), home[group]])
        self.labels = self.labels.moved(np.concatenate([kept, rows]), homes, len(columns))


def _distinct(numbers: Ints) -> list[int]:
    """Each number once, in the order in which they came."""
    return list(dict.fromkeys(numbers.tolist()))
