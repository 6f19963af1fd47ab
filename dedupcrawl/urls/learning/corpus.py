"""The URLs of one site as the learner sees them: distinct forms, each with the cluster that it belongs to."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from dedupcrawl.urls.compiled_rule import CompiledRule
from dedupcrawl.urls.learning.column_rule import column_rule
from dedupcrawl.urls.learning.context_keys import ContextKeys, Slot
from dedupcrawl.urls.learning.deep_tokens import PatternNode, deep_patterns
from dedupcrawl.urls.learning.groups import grouped, places
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
        labels: The cluster of each URL that has come to this form, those of the largest share first.
    """

    __slots__ = ("_text", "labels", "parts")

    def __init__(self, parts: UrlParts, labels: list[int]) -> None:
        self.parts = parts
        self.labels = labels
        self._text = ""

    @property
    def label(self) -> int:
        """The cluster that most of its URLs belong to."""
        return self.labels[0]

    @property
    def text(self) -> str:
        """The form itself."""
        if not self._text:
            self._text = self.parts.join()
        return self._text


class Tried(NamedTuple):
    """What a rule would make of the forms of a corpus.

    Attributes:
        rows: Those that the rule changes, as places in `Corpus.forms`. Shape (m,), as the next two.
        after: A number for what becomes of each, equal for equal ones.
        targets: The form that it becomes, as a place in `Corpus.forms`; -1 if it becomes none of them.
    """

    rows: Ints
    after: Hashes
    targets: Ints


class Labels(NamedTuple):
    """The labels of the forms of a corpus, as small numbers.

    Attributes:
        start: Where those of each form begin, and where the last ones end. Shape (n + 1,).
        all: One form after the other.
        different: How many different ones there are.
    """

    start: Ints
    all: Ints
    different: int

    @classmethod
    def of(cls, forms: Sequence[Form]) -> Labels:
        """The labels of these forms."""
        start = np.zeros(len(forms) + 1, dtype=np.int64)
        np.cumsum([len(form.labels) for form in forms], out=start[1:])
        own = np.array([label for form in forms for label in form.labels], dtype=np.int64)
        unique, labels = np.unique(own, return_inverse=True)
        return cls(start, labels, len(unique))

    def of_form(self, row: int) -> list[int]:
        """Those of one form."""
        found: list[int] = self.all[self.start[row] : self.start[row + 1]].tolist()
        return found


class Corpus:
    """All forms of one site. Forms that a rule brings together become one.

    Attributes:
        site: Of the URLs.
        columns: The tokens of the forms, all of them plain.
        forms: In the order in which they came.
    """

    def __init__(self, site: str, columns: UrlColumns, labels: Sequence[int]) -> None:
        """Take the URLs; of several that differ in the fragment alone, the first.

        Args:
            site: Of all URLs.
            columns: The URLs, of which those that are not plain are left out.
            labels: The cluster of each.
        """
        self.site = site
        columns = columns.copy()
        columns.fragments[:] = 0
        bare = np.flatnonzero(columns.split & (columns.segments.size == 0))  # http://a.com is http://a.com/
        columns.segments.put(bare, np.ones(len(bare), dtype=np.int64), np.zeros(len(bare), dtype=np.int64))
        columns.plain[bare] = columns.separators[bare] == 0
        rows = np.flatnonzero(columns.plain)
        rows = rows[np.sort(np.unique(columns.hashes(rows), return_index=True)[1])]
        self.columns = columns.taken(rows)
        own = [[labels[row]] for row in rows.tolist()]
        self.forms = list(map(Form, columns.all_parts(rows), own))
        self._patterns: dict[Slot, PatternNode] | None = None
        self._made: dict[Rule, Made] = {}
        self._split: Made = {}
        self._sort()

    @classmethod
    def of(cls, site: str, urls: Sequence[str], labels: Sequence[int]) -> Corpus:
        """The corpus of these URLs."""
        return cls(site, UrlColumns.of(urls), labels)

    def _sort(self) -> None:
        self._labels: Labels | None = None
        self._keys: ContextKeys | None = None
        self._own = self.columns.hashes(np.arange(len(self.columns)))

    @property
    def labels(self) -> Labels:
        """Of all forms."""
        if self._labels is None:
            self._labels = Labels.of(self.forms)
        return self._labels

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
        return [self.forms[row] for row in np.unique(owner[columns.texts.which(test, numbers)]).tolist()]

    def clusters(self) -> list[list[Form]]:
        """The clusters that still have more than one form."""
        by_label: dict[int, list[Form]] = defaultdict(list)
        for form in self.forms:
            by_label[form.labels[0]].append(form)
        return [forms for forms in by_label.values() if len(forms) > 1]

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
        changed = self.columns.copy()
        changed.put(rows, urls, np.arange(len(urls)))
        self.columns = changed.taken(np.concatenate([kept, rows[new]]))
        before = self.forms
        self.forms = [before[row] for row in kept.tolist()]
        self.forms += [Form(parts, []) for parts in urls.all_parts(new)]
        came: dict[int, list[int]] = defaultdict(list)
        for row, at in zip(rows.tolist(), home[group].tolist(), strict=True):
            came[at] += before[row].labels
        for at, labels in came.items():
            self.forms[at].labels = _most_common_first(self.forms[at].labels + labels)
        self._sort()


def _distinct(numbers: Ints) -> list[int]:
    """Each number once, in the order in which they came."""
    return list(dict.fromkeys(numbers.tolist()))


def _most_common_first(labels: list[int]) -> list[int]:
    """Sorted by count; of equally many, those that came first."""
    if labels.count(labels[0]) * 2 >= len(labels):
        return labels
    counts = Counter(labels)
    return sorted(labels, key=lambda label: -counts[label])
