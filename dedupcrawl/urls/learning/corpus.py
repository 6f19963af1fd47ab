"""The URLs of one site as the learner sees them: distinct forms, each with the cluster that it belongs to."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from dedupcrawl.urls.compiled_rule import LONGEST_URL, CompiledRule
from dedupcrawl.urls.learning.column_rule import column_rule, split_again
from dedupcrawl.urls.learning.deep_tokens import PatternNode, deep_patterns
from dedupcrawl.urls.learning.token_texts import Ints
from dedupcrawl.urls.learning.url_columns import Hashes, Made, UrlColumns
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.url_parts import UrlParts, split_url

_INDEXED = 4  # segments from either end
_DEEP = 2  # segments from the start that are looked into
_LEAST_VALUES = 12  # of a slot that is looked into

_NONE = np.zeros(0, dtype=np.int64)

ContextKey = tuple[str, str]
Slot = tuple[str, str]


class Form:
    """One form that URLs of the site have under the rules accepted so far.

    Attributes:
        text: The form itself.
        parts: Its tokens, not to be edited.
        labels: The cluster of each URL that has come to this form, those of the largest share first.
        keys: What contexts may speak of (see `contexts.keys_of`), once somebody has asked.
        alive: False once a rule has taken it to another form.
    """

    __slots__ = ("alive", "keys", "labels", "parts", "text")

    def __init__(self, text: str, parts: UrlParts, labels: list[int]) -> None:
        self.text = text
        self.parts = parts
        self.labels = labels
        self.keys: dict[ContextKey, str] | None = None
        self.alive = True

    @property
    def label(self) -> int:
        """The cluster that most of its URLs belong to."""
        return self.labels[0]


Living = tuple[list[Form], UrlColumns, Hashes, Ints]
"""Forms, their columns, their sorted hashes, and where each of these stands among the forms."""


class Tried(NamedTuple):
    """What a rule would make of the forms of a corpus.

    Attributes:
        forms: All of them.
        rows: Those that the rule changes, as places in `forms`. Shape (m,), as the next two.
        after: A number for what becomes of each, equal for equal ones.
        targets: The form that it becomes, as a place in `forms`; -1 if it becomes none of them.
    """

    forms: list[Form]
    rows: Ints
    after: Hashes
    targets: Ints


class Corpus:
    """All forms of one site, found by text, by cluster and by what is in them.

    Forms that a rule brings together become one.
    """

    def __init__(self, site: str, urls: Iterable[str], labels: Iterable[int]) -> None:
        self.site = site
        self.forms: dict[str, Form] = {}
        self._index: dict[tuple[str, int, str], list[Form]] = defaultdict(list)
        self._patterns: dict[Slot, PatternNode] | None = None
        self._rows: list[Form] = []  # all forms that there ever were, those of `_columns` first
        self._columns = UrlColumns.of([])
        self._own: Hashes = np.zeros(0, dtype=np.uint64)
        self._living: Living | None = None
        self._made: dict[Rule, Made] = {}
        self._split: Made = {}
        for url, label in zip(urls, labels, strict=True):
            parts = split_url(url) if len(url) <= LONGEST_URL else None
            if parts is not None:
                text = url.removesuffix(parts.fragment)
                parts.fragment = ""
                if text not in self.forms:
                    self._add(Form(text, parts, [label]))

    @property
    def patterns(self) -> dict[Slot, PatternNode]:
        """Deep tokenization of the slots whose values are of several kinds; made when first asked for, and kept."""
        if self._patterns is None:
            values: dict[Slot, dict[str, None]] = defaultdict(dict)
            for form in self.forms.values():
                for depth, segment in enumerate(form.parts.segments[:_DEEP]):
                    values["", str(depth)][segment] = None
                for arg in form.parts.args:
                    name, _, value = arg.partition("=")
                    values["arg", name][value] = None
            trees = {slot: deep_patterns(list(found)) for slot, found in values.items() if len(found) >= _LEAST_VALUES}
            self._patterns = {slot: tree for slot, tree in trees.items() if tree.children}
        return self._patterns

    def clusters(self) -> list[list[Form]]:
        """The clusters that still have more than one form."""
        by_label: dict[int, list[Form]] = defaultdict(list)
        for form in self.forms.values():
            by_label[form.label].append(form)
        return [forms for forms in by_label.values() if len(forms) > 1]

    def candidates(self, rule: CompiledRule) -> Iterable[Form]:
        """Forms that the rule might apply to; a few too many, never too few."""
        needles = rule.needles()
        if not needles or any(not -_INDEXED <= place < _INDEXED for _, place, _ in needles):
            return self.forms.values()
        if len(needles) == 1:
            return [form for form in self._index.get(needles[0], ()) if form.alive]
        return {form.text: form for key in needles for form in self._index.get(key, ()) if form.alive}.values()

    def tried(self, rule: CompiledRule) -> Tried:
        """What a rule would make of all forms."""
        forms, base, own, order = self._living = self._living or self._now()
        ready = column_rule(rule.rule)
        if ready.asks_for_unknown(base):
            return Tried(forms, _NONE, _NONE.astype(np.uint64), _NONE)
        urls = base.copy()
        made = self._made.setdefault(rule.rule, {})
        rows = ready.apply(urls, self.site, urls, np.zeros(len(forms), dtype=np.bool_), made)
        if not ready.keeps_tokens:
            split_again(urls, rows[urls.plain[rows]], self._split)
        rows = rows[urls.plain[rows]]
        odd, texts = [], []
        for row in np.flatnonzero(~urls.plain).tolist():
            after = rule.apply(forms[row].parts, self.site)
            if after is not None:
                odd.append(row)
                texts.append(after.join())
        hashes = urls.hashes(rows)
        if odd:
            others = UrlColumns.of(texts, like=urls)
            rows = np.concatenate([rows, np.array(odd, dtype=np.int64)])
            hashes = np.concatenate([hashes, others.hashes(np.arange(len(odd)))])
        place = np.minimum(np.searchsorted(own, hashes), len(own) - 1)
        targets = np.where(own[place] == hashes, order[place], -1)
        return Tried(forms, rows, hashes, targets)

    def _now(self) -> Living:
        new = [form.text for form in self._rows[len(self._columns) :]]
        if new:
            first = len(self._columns)
            self._columns = self._columns.extended(new)
            hashes = self._columns.hashes(np.arange(first, len(self._columns)))
            self._own = np.concatenate([self._own, hashes])
        living = np.flatnonzero(np.fromiter((form.alive for form in self._rows), np.bool_, len(self._rows)))
        own = self._own[living]
        order = np.argsort(own)
        return [self._rows[i] for i in living.tolist()], self._columns.taken(living), own[order], order

    def apply(self, rule: CompiledRule) -> None:
        """Take all forms through an accepted rule."""
        self._living = None
        moved: list[tuple[Form, UrlParts]] = []
        for form in self.candidates(rule):
            after = rule.apply(form.parts, self.site)
            if after is not None:
                moved.append((form, after))
        for form, _ in moved:
            del self.forms[form.text]
        for form, after in moved:
            text = after.join()
            parts = split_url(text)
            if parts is None or len(text) > LONGEST_URL:
                self.forms[form.text] = form
                continue
            form.alive = False
            there = self.forms.get(text)
            if there is None:
                self._add(Form(text, parts, form.labels))
            else:
                there.labels = _most_common_first(there.labels + form.labels)

    def _add(self, form: Form) -> None:
        index = self._index
        self.forms[form.text] = form
        self._rows.append(form)
        for name in {arg.partition("=")[0] for arg in form.parts.args}:
            index["arg", 0, name].append(form)
        segments = form.parts.segments or [""]
        for i, segment in enumerate(segments[:_INDEXED]):
            index["seg", i, segment].append(form)
        for i, segment in enumerate(segments[: -_INDEXED - 1 : -1]):
            index["seg", -i - 1, segment].append(form)


def _most_common_first(labels: list[int]) -> list[int]:
    """Sorted by count; of equally many, those that came first."""
    if labels.count(labels[0]) * 2 >= len(labels):
        return labels
    counts = Counter(labels)
    return sorted(labels, key=lambda label: -counts[label])
