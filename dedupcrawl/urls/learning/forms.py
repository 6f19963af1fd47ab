"""The distinct URLs of a site under the rules accepted so far, and what one more rule would do to them.

Evidence counts for and against: two URLs of different pages that a rule would merge speak against it, whether or not
anybody ever saw the URL that it makes of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from dedupcrawl.core.url_parts import UrlParts, split_url
from dedupcrawl.urls.compiled_rule import CompiledRule, TooLongError, compiled
from dedupcrawl.urls.learning.deep_tokens import PatternNode, deep_patterns
from dedupcrawl.urls.learning.generalize import kind_of
from dedupcrawl.urls.learning.judge import judged
from dedupcrawl.urls.learning.written import DEEP, LONGEST_WORD, MOST_ARGS, is_expressible, is_name, is_value
from dedupcrawl.urls.rule import Rule

WRONG_COSTS = 50.0  # right merges that a wrong one outweighs, of hypotheses; 100: freetz.org .857 → .688, seeds 3 to 5
_SWITCHES = {"0", "1"}  # numbers that may be a kind of page; none: openenergymonitor.org .447 → .421, seed 0

# Values of an argument that may be kinds of pages; of more they are names. 40: smullinsupply.com .832 at .988, not .830
# at 1.000 (seed 0), all others as they are.
_MOST_KINDS = 12

Patterns = Mapping[str, PatternNode]  # name of an argument → the deep tokenization of its values


@dataclass(slots=True)
class Form:
    """One distinct URL.

    Attributes:
        label: Of its page; where rules brought together several, that of the first.
    """

    parts: UrlParts
    text: str
    label: int


@dataclass(frozen=True, slots=True)
class Tally:
    """What a rule does to some forms.

    Attributes:
        rows: Forms that it changes.
        after: What it makes of each.
        flags: 1 for a form that it rightly merges with another one, 0 for wrongly, -1 for not at all.
        right: How many it merges rightly, minus one for each merge in which it changes all forms.
        wrong: How many it merges wrongly.
        clusters: Pages whose forms it merges.
    """

    rows: list[int] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    flags: list[int] = field(default_factory=list)
    right: int = 0
    wrong: int = 0
    clusters: int = 0

    @property
    def worth(self) -> float:
        return self.right - WRONG_COSTS * self.wrong

    def rows_with(self, flag: int) -> list[int]:
        return [row for row, one in zip(self.rows, self.flags, strict=True) if one == flag]


class Forms:
    """The distinct URLs of one site.

    Attributes:
        all: By the number of each, which it keeps.
        sides: The part of each page.
    """

    def __init__(self, site: str, urls: Sequence[str], labels: Sequence[int], sides: Sequence[int]) -> None:
        self.site = site
        self.all: dict[int, Form] = {}
        self._row_of: dict[str, int] = {}
        self._atoms: dict[int, frozenset[str]] = {}
        self._with: defaultdict[str, list[int]] = defaultdict(list)  # also rows that are gone
        self._with_args: list[int] = []
        self._next = 0
        self._parts: list[UrlParts] = []
        self.sides = dict(zip(labels, sides, strict=True))
        for url, label in zip(urls, labels, strict=True):
            parts = split_url(url)
            if parts is not None:
                self._add(Form(parts, url, label))

    def _add(self, form: Form) -> None:
        row = self._next
        if self._row_of.setdefault(form.text, row) != row:
            return
        self._next += 1
        self.all[row] = form
        self._parts.append(form.parts)
        tokens = {f"//{form.parts.authority}", *form.parts.segments}
        if form.parts.args:
            self._with_args.append(row)
            tokens.update(form.parts.names(), form.parts.args)
        for token in tokens:
            self._with[token].append(row)

    @cached_property
    def _values(self) -> dict[str, dict[str, None]]:
        """Values of each argument, in the order of the URLs as they were when this was first asked for."""
        values: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for form in self.all.values():
            for arg in form.parts.args[:MOST_ARGS]:
                name, _, value = arg.partition("=")
                values[name][value] = None
        return values

    @cached_property
    def patterns(self) -> Patterns:
        """Deep tokenization (Algorithms 1-2) of the arguments whose values are of several kinds.

        Patterns of segments made no rule better: recall of fifteen mirrors and four crawls .5017 with and without
        (seed 0).
        """
        trees = {name: deep_patterns(list(texts)) for name, texts in self._values.items()}
        return {name: tree for name, tree in trees.items() if tree.children}

    @cached_property
    def names(self) -> frozenset[str]:
        """Arguments of so many values that they are names: of one that was wrong nothing can be told about the next."""
        return frozenset(name for name, values in self._values.items() if len(values) > _MOST_KINDS)

    def atoms(self, row: int) -> frozenset[str]:
        """What contexts may ask of a form, see `atoms_of`."""
        atoms = self._atoms.get(row)
        if atoms is None:
            atoms = self._atoms[row] = atoms_of(self.all[row].parts, self.patterns, self.names)
        return atoms

    def has(self, text: str) -> bool:
        return text in self._row_of

    def clusters(self) -> dict[int, list[int]]:
        """The pages that still have several forms, and these."""
        members: defaultdict[int, list[int]] = defaultdict(list)
        for row, form in self.all.items():
            members[form.label].append(row)
        return {label: rows for label, rows in members.items() if len(rows) > 1}

    def _asked(self, rule: CompiledRule) -> list[int]:
        tokens, texts, needs_args = rule.asks_for()
        rows = {row for token in tokens for row in self._with.get(token, ())}
        if texts:
            rows.update(row for row, form in self.all.items() if any(text in form.text for text in texts))
        return sorted(self.all.keys() & (rows.union(self._with_args) if needs_args else rows))

    def changed(self, rule: Rule, rows: Iterable[int] | None = None) -> tuple[list[int], list[str]]:
        """The forms that a rule changes, of some or all, and what it makes of them."""
        ready = compiled(rule)
        asked = self._asked(ready) if rows is None else list(rows)
        numbers, after, place = [], [], -1
        while (fit := ready.conditions.next(asked, place + 1, self._parts)) is not None:
            place, values = fit
            try:
                new = ready.made(self._parts[asked[place]], values, self.site)
            except TooLongError:
                continue
            if new is not None:
                numbers.append(asked[place])
                after.append(new.join())
        return numbers, after

    def tried(self, rule: Rule, rows: Iterable[int] | None = None) -> Tally:
        """What a rule would do to all forms, or to some."""
        return self.tally(*self.changed(rule, rows))

    def tally(self, rows: list[int], after: list[str]) -> Tally:
        """Judge forms that are changed to these texts."""
        meetings: defaultdict[str, list[int]] = defaultdict(list)
        for place, text in enumerate(after):
            meetings[text].append(place)
        changed = set(rows)
        flags = [-1] * len(rows)
        right = wrong = 0
        clusters: set[int] = set()
        everything, row_of = self.all, self._row_of
        for text, places in meetings.items():
            there = row_of.get(text, -1)
            if there in changed:
                there = -1
            if len(places) + (there >= 0) < 2:
                continue
            labels = [everything[rows[place]].label for place in places]
            own = everything[there].label if there >= 0 else None
            merge = judged(labels if own is None else [*labels, own], own)
            right += merge.right
            wrong += merge.wrong
            if merge.right and merge.owner is not None:
                clusters.add(merge.owner)
            for place, label in zip(places, labels, strict=True):
                flags[place] = int(label == merge.owner)
        return Tally(rows, after, flags, right, wrong, len(clusters))

    def apply(self, rule: Rule) -> None:
        """Take all forms through an accepted rule; what then is one becomes one."""
        rows, after = self.changed(rule)
        gone = [self.all.pop(row) for row in rows]
        for form in gone:
            del self._row_of[form.text]
        for form, text in zip(gone, after, strict=True):
            parts = split_url(text)
            if parts is not None:
                self._add(Form(parts, text, form.label))


def atoms_of(parts: UrlParts, patterns: Patterns = MappingProxyType({}), names: Container[str] = ()) -> frozenset[str]:
    """The conditions that a URL fulfils, as texts, by the patterns of its site, and arguments whose values are names.

    >>> from dedupcrawl.core.url_parts import split_url
    >>> sorted(atoms_of(split_url("http://a.com/wiki/7?mode=view")))
    ['0=wiki', '1:digits', '?mode', '?mode=view', 'depth=2', 'host=a.com']
    """
    segments = parts.segments or [""]
    atoms = {f"host={parts.authority.lower()}", f"depth={len(segments)}"}
    for i, segment in enumerate(segments[:DEEP]):
        if kind := kind_of([segment]):
            atoms.add(f"{i}:{kind}")
        elif len(segment) <= LONGEST_WORD and is_expressible(segment) and (segment or i or len(segments) == 1):
            atoms.add(f"{i}={segment}")
    last = segments[-1]
    if (at := last.rfind(".")) > 0 and len(last) - at <= 6:  # 3 and 12: the same rules of fifteen mirrors
        atoms.add(f"suffix={last[at:]}")
    if len(segments) > 1 and len(last) <= LONGEST_WORD and is_expressible(last) and not _is_number(last):
        atoms.add(f"last={last}")
    for arg in parts.args[:MOST_ARGS]:
        name, equals, value = arg.partition("=")
        if is_name(name):
            atoms.add(f"?{name}")
            if (
                equals
                and value
                and name not in names
                and len(value) <= LONGEST_WORD
                and is_value(value)
                and not _is_number(value)
            ):
                atoms.add(f"?{name}={value}")
            if name in patterns:
                atoms.update([f"?{name}={template}" for template in patterns[name].templates_of(value)[1:]])
    return frozenset(atoms)


def _is_number(value: str) -> bool:
    """True for what names a page, or a part of one: of one that was wrong nothing can be told about the next."""
    return kind_of([value]) == "token" or (value.isdigit() and value not in _SWITCHES)
