"""What contexts may speak of (spec 5, "Generalization"): the keys of a URL and their values, as numbers.

A tree asks again and again which URLs have which value of which key. So each pair of a key and a value has a number,
its code, and each URL a run of codes in the order of `keys_of`. A code is put into words when a rule is made of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from dedupcrawl.sites import ascii_form
from dedupcrawl.urls.learning.deep_tokens import PatternNode
from dedupcrawl.urls.learning.token_runs import mixed, powers
from dedupcrawl.urls.learning.token_texts import ABSENT, Ints
from dedupcrawl.urls.learning.url_columns import UrlColumns
from dedupcrawl.urls.template import has_braces
from dedupcrawl.urls.url_parts import UrlParts

ContextKey = tuple[str, str]
Slot = tuple[str, str]
Patterns = Mapping[Slot, PatternNode]

NO_VALUE = "\0absent"  # value of a key that a URL does not have; no URL has it, as it begins with a control character

_FRONTS = 3  # segments from the start, at most, that are one key
NO_PATTERNS: Patterns = MappingProxyType({})
_HAS, _ARG, _FORM, _KIND = range(4)  # order of an argument's keys


def keys_of(parts: UrlParts, patterns: Patterns = NO_PATTERNS) -> dict[ContextKey, str]:
    """The keys of a URL that contexts may speak of: host, path, its first segments and its last, arguments.

    Where the values of a slot are of several kinds (`patterns`), the kind is a key as well: the pattern of the whole
    value ("form"), and the coarsest one that says anything ("kind").
    """
    segments = parts.segments or [""]
    keys: dict[ContextKey, str] = {
        ("host", ""): ascii_form(parts.authority.lower()),
        ("path", ""): "/" + "/".join(segments),
    }
    for depth in range(1, min(len(segments), _FRONTS + 1)):
        keys["front", str(depth)] = "/".join(segments[:depth])
    keys["last", ""] = segments[-1]
    for arg in parts.args:
        name, _, value = arg.partition("=")
        if name and not has_braces(arg):
            keys.setdefault(("has", name), "yes")
            keys.setdefault(("arg", name), value)
            if ("arg", name) in patterns:
                _add_forms(keys, ("form", name), ("kind", name), patterns["arg", name].path_of(value))
    for depth, segment in enumerate(segments):
        if ("", str(depth)) in patterns:
            _add_forms(keys, ("part", str(depth)), ("sort", str(depth)), patterns["", str(depth)].path_of(segment))
    return keys


def _add_forms(keys: dict[ContextKey, str], leaf: ContextKey, top: ContextKey, path: list[str]) -> None:
    if len(path) > 1:
        keys.setdefault(leaf, path[-1])
    if len(path) > 2:
        keys.setdefault(top, path[1])


class _Found(NamedTuple):
    """Some keys of some URLs: for each its URL, its place among those of the URL, and its code."""

    owner: Ints
    rank: Ints
    code: Ints


class ContextKeys:
    """The keys of some URLs.

    Attributes:
        keys: All there are.
        start: Where the codes of each URL begin, and where the last ones end. Shape (n + 1,).
        codes: Of all URLs.
        key_of: The place in `keys` of each code.
    """

    def __init__(
        self, columns: UrlColumns, patterns: Patterns, keys: list[ContextKey], key_of: Ints, codes: Ints, start: Ints
    ) -> None:
        self.keys, self.key_of, self.codes, self.start = keys, key_of, codes, start
        self._columns, self._patterns = columns, patterns
        self._place = {key: place for place, key in enumerate(keys)}
        self._owner: Ints | None = None  # of each code, some URL that has it
        self._values = {ABSENT: NO_VALUE}

    @classmethod
    def of(cls, columns: UrlColumns, patterns: Patterns = NO_PATTERNS) -> ContextKeys:
        """The keys of these URLs, all of which `split_url` can tokenize."""
        return _Coder(columns, patterns).coded()

    def place(self, key: ContextKey) -> int:
        """The place of a key in `keys`, or ABSENT."""
        return self._place.get(key, ABSENT)

    def flat(self, rows: Ints) -> tuple[Ints, Ints]:
        """All codes of these URLs: for each its place in `rows`, and itself."""
        first = self.start[rows]
        size = self.start[rows + 1] - first
        owner = np.repeat(np.arange(len(rows)), size)
        return owner, self.codes[np.arange(len(owner)) + (first - (np.cumsum(size) - size))[owner]]

    def values_of(self, rows: Ints, key: int) -> Ints:
        """The code of this key of each of these URLs, ABSENT where it has none. Shape (len(rows),)."""
        owner, codes = self.flat(rows)
        here = self.key_of[codes] == key
        found = np.full(len(rows), ABSENT, dtype=np.int64)
        found[owner[here]] = codes[here]
        return found

    def value(self, code: int) -> str:
        """A code put into words; NO_VALUE for ABSENT."""
        return self.values([code])[0]

    def values(self, codes: Sequence[int]) -> list[str]:
        """Codes put into words; NO_VALUE for ABSENT."""
        new = np.array([code for code in dict.fromkeys(codes) if code not in self._values], dtype=np.int64)
        if new.size:
            if self._owner is None:
                self._owner = np.zeros(len(self.key_of), dtype=np.int64)
                self._owner[self.codes] = np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))
            for code, parts in zip(new.tolist(), self._columns.all_parts(self._owner[new]), strict=True):
                self._values[code] = keys_of(parts, self._patterns)[self.keys[self.key_of[code]]]
        return [self._values[code] for code in codes]

    def with_joint(self, names: Sequence[str], rows: Ints) -> ContextKeys:
        """These, and as one more key the values of some arguments together, for those of `rows` that have them all."""
        columns = []
        for name in names:
            place = self.place(("arg", name))
            if place == ABSENT:
                return self
            columns.append(self.values_of(rows, place))
        there = np.flatnonzero(np.min(columns, axis=0) != ABSENT)
        if not there.size:
            return self
        pairs = np.zeros(len(there), dtype=np.int64)
        for column in columns:
            unique, first, pairs = np.unique(
                pairs * len(self.key_of) + column[there], return_index=True, return_inverse=True
            )
        texts = list(zip(*(self.values(column[there[first]].tolist()) for column in columns), strict=True))
        sayable = np.array([not any("&" in text for text in values) for values in texts])[pairs]
        there, where = there[sayable], pairs[sayable]
        more, order = rows[there], np.argsort(rows[there], kind="stable")
        codes = np.insert(self.codes, self.start[more[order] + 1], len(self.key_of) + where[order])
        size = np.diff(self.start)
        size[more] += 1
        start = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(size)])
        key_of = np.concatenate([self.key_of, np.full(len(unique), len(self.keys))])
        found = ContextKeys(
            self._columns, self._patterns, [*self.keys, ("args", "&".join(names))], key_of, codes, start
        )
        found._values |= {len(self.key_of) + i: "&".join(values) for i, values in enumerate(texts)}
        return found


class _Coder:
    """Gives codes to what it finds, key by key."""

    def __init__(self, columns: UrlColumns, patterns: Patterns) -> None:
        self._columns, self._patterns = columns, patterns
        self._keys: list[ContextKey] = []
        self._key_of: list[Ints] = []
        self._codes = 0
        self._found: list[_Found] = []

    def coded(self) -> ContextKeys:
        columns = self._columns
        every, size = np.arange(len(columns)), columns.segments.size
        hosts, host = np.unique(columns.authorities, return_inverse=True)
        texts = columns.texts
        lower = np.array([texts.number(ascii_form(texts[number].lower())) for number in hosts.tolist()], dtype=np.int64)
        self._add(("host", ""), every, 0, lower[host] if len(lower) else host)
        paths = columns.segments.hashes(every).view(np.int64)
        of_empty = mixed(powers(1)).view(np.int64)  # of one empty segment; without a path as with that
        self._add(
            ("path", ""), every, 1, np.where(size == 0, of_empty, paths)
        )  # without a path as with one empty segment
        for depth in range(1, _FRONTS + 1):
            rows = np.flatnonzero(size > depth)
            places = np.repeat(columns.segments.start[rows], depth) + np.tile(np.arange(depth), len(rows))
            self._add(("front", str(depth)), rows, 1 + depth, _same(columns.segments.pool.all[places], depth))
        last = np.zeros(len(columns), dtype=np.int64)
        rows = np.flatnonzero(size)
        last[rows] = columns.segments.at(rows, -1)
        self._add(("last", ""), every, 2 + _FRONTS, last)
        self._add_args(3 + _FRONTS)
        for name in sorted(name for kind, name in self._patterns if not kind):
            rows = np.flatnonzero(size > int(name))
            rank = np.full(len(rows), (1 << 40) + 2 * int(name))
            values = columns.segments.at(rows, int(name))
            self._add_forms(("part", name), ("sort", name), ("", name), _Found(rows, rank, values))
        return self._sorted()

    def _add(self, key: ContextKey, owner: Ints, rank: int | Ints, values: Ints) -> None:
        """One key of some URLs, and any numbers that are equal for equal values."""
        unique, where = np.unique(values, return_inverse=True)
        if isinstance(rank, int):
            rank = np.full(len(owner), rank)
        self._found.append(_Found(owner, rank, self._codes + where))
        self._key_of.append(np.full(len(unique), len(self._keys)))
        self._keys.append(key)
        self._codes += len(unique)

    def _add_args(self, rank: int) -> None:
        columns, texts = self._columns, self._columns.texts
        owner, place, numbers = columns.args.flat(np.arange(len(columns)))
        names, values = columns.arg_texts.names(numbers), np.maximum(columns.arg_texts.values(numbers), 0)
        good = np.flatnonzero((names > 0) & ~columns.arg_texts.which(has_braces, numbers))
        owner, place, names, values = owner[good], rank + 4 * place[good], names[good], values[good]
        for name in sorted(name for kind, name in self._patterns if kind):
            there = np.flatnonzero(names == texts.known(name))
            some = _Found(owner[there], place[there] + _FORM, values[there])
            self._add_forms(("form", name), ("kind", name), ("arg", name), some)
        first = np.sort(np.unique(owner << 32 | names, return_index=True)[1])  # of several of one name
        owner, place, names, values = owner[first], place[first], names[first], values[first]
        for kind, order, pairs in (("has", _HAS, names << 32), ("arg", _ARG, names << 32 | values)):
            unique, where = np.unique(pairs, return_inverse=True)
            those, key = np.unique(unique >> 32, return_inverse=True)
            self._found.append(_Found(owner, place + order, self._codes + where))
            self._key_of.append(len(self._keys) + key)
            self._keys += [(kind, texts[number]) for number in those.tolist()]
            self._codes += len(unique)

    def _add_forms(self, leaf: ContextKey, top: ContextKey, slot: Slot, some: _Found) -> None:
        """The kinds of some values: of each URL the first value that has one."""
        unique, where = np.unique(some.code, return_inverse=True)
        paths = [self._patterns[slot].path_of(self._columns.texts[number]) for number in unique.tolist()]
        for order, key, index, least in ((0, leaf, -1, 2), (_KIND - _FORM, top, 1, 3)):
            numbers: dict[str, int] = {}
            kinds = [numbers.setdefault(p[index], len(numbers)) if len(p) >= least else ABSENT for p in paths]
            kind = np.array(kinds, dtype=np.int64)[where]
            there = np.flatnonzero(kind != ABSENT)
            if there.size:
                there = there[np.sort(np.unique(some.owner[there], return_index=True)[1])]
                self._add(key, some.owner[there], some.rank[there] + order, kind[there])

    def _sorted(self) -> ContextKeys:
        owner, rank, codes = (np.concatenate(column) for column in zip(*self._found, strict=True))
        start = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(owner, minlength=len(self._columns)))])
        codes = codes[np.lexsort((rank, owner))]
        return ContextKeys(self._columns, self._patterns, self._keys, np.concatenate(self._key_of), codes, start)


def _same(numbers: Ints, width: int) -> Ints:
    """A number for each run of `width` of the numbers, equal for equal runs. Shape (len(numbers) / width,)."""
    table = numbers.reshape(-1, width)
    found: Ints = table[:, 0]
    for place in range(1, width):
        found = np.unique(found, return_inverse=True)[1] << 32 | table[:, place]
    return found
