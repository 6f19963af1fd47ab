"""Identities: the few arguments that tell the pages of one path apart, whatever other arguments there are.

A transformation that takes out one argument needs pairs that differ in nothing else. Where ten arguments come and go,
such pairs are rare, but URLs that have `do=details&task_id=7` in common are many, and lead to one page. So the question
is turned round: for a path, which smallest set of arguments is such that URLs with equal values in it have one content?
What speaks against a set are URLs of different clusters with equal values.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from dedupcrawl.urls.learning.corpus import Corpus
from dedupcrawl.urls.learning.token_texts import ABSENT, Ints
from dedupcrawl.urls.learning.transformation import Transformation
from dedupcrawl.urls.learning.url_columns import UrlColumns
from dedupcrawl.urls.template import BRACES, has_braces

_MOST_NAMES = 9  # of a path that are looked at
_MOST_KEPT = 3  # arguments of an identity
_MOST_FORMS = 600  # of a path that are looked at
_PURE = 0.995  # share of right merges at which no larger set is looked for
_PROMISING = 0.8  # ... and at which a context may do the rest
_LEAST_CLUSTERS = 2


class Arguments(NamedTuple):
    """The arguments of all forms that say something, and that a rule can say, of several of one name the first.

    Attributes:
        owner: Its form, ascending. Shape (n,), as all others.
        name: The number of its name.
        value: ... and of its value.
    """

    owner: Ints
    name: Ints
    value: Ints


def identities(corpus: Corpus) -> Iterator[tuple[Transformation, set[int]]]:
    """Rules that keep some arguments of a path and drop all others, each with the clusters that suggest it."""
    columns = corpus.columns
    rows = np.flatnonzero(columns.args.size > 0)
    if not rows.size:
        return
    args = _arguments(columns)
    labels = corpus.labels.clusters[corpus.labels.first]
    paths = columns.segments.hashes(np.arange(len(columns))).view(np.int64)
    for (path, fixed, pattern), group in _groups(corpus, rows, paths).items():
        if len(group) > 2:
            some = np.array(group[:: -(-len(group) // _MOST_FORMS)], dtype=np.int64)
            for names, found in _kept(_Rows.of(columns, args, some, paths, labels), fixed):
                query = "&".join(f"{name}={pattern if name == fixed else '{}'}" for name in names)
                yield Transformation(f"{path}?{query}" if query else path, drop=("*",)), found


def path_shape(segments: Sequence[str]) -> str | None:
    """The path with numbers left open; None where a template cannot say it.

    >>> path_shape(["forum", "12"])
    '/forum/{:digits}'
    """
    if any(map(BRACES.search, segments)) or (len(segments) > 1 and not segments[0]):
        return None  # in a template // is the beginning of a host
    return "".join("/{:digits}" if s.isascii() and s.isdigit() else f"/{s}" for s in segments)


def _arguments(columns: UrlColumns) -> Arguments:
    owner, _, numbers = columns.args.flat(np.arange(len(columns)))
    names, values = columns.arg_texts.names(numbers), columns.arg_texts.values(numbers)
    good = np.flatnonzero((names > 0) & (values > 0) & ~columns.arg_texts.which(has_braces, numbers))
    _, first = np.unique(owner[good] << 32 | names[good], return_index=True)
    good = good[np.sort(first)]
    return Arguments(owner[good], names[good], values[good])


def _groups(corpus: Corpus, rows: Ints, paths: Ints) -> dict[tuple[str, str, str], list[int]]:
    """Forms by the shape of their path, and by that and the pattern of one of their arguments: path, name, pattern."""
    columns, patterns = corpus.columns, corpus.patterns
    _, first, place = np.unique(paths[rows], return_index=True, return_inverse=True)
    shapes = [path_shape(parts.segments) for parts in columns.all_parts(rows[first])]
    shape_of = {row: shapes[i] for row, i in zip(rows.tolist(), place.tolist(), strict=True)}
    groups: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for row, shape in shape_of.items():
        if shape is not None:
            groups[shape, "", ""].append(row)
    for kind, name in patterns:
        if kind == "arg":
            places = columns.args_named(columns.texts.known(name))
            there = np.flatnonzero(places != ABSENT)
            numbers = columns.args.pool.all[columns.args.start[there] + places[there]]
            finer: dict[int, list[str]] = {}
            for row, number in zip(there.tolist(), numbers.tolist(), strict=True):
                found = finer.get(number)
                if found is None:
                    value = columns.arg_texts[number].partition("=")[2]
                    found = finer[number] = patterns[kind, name].path_of(value)[1:]
                if (shape := shape_of[row]) is not None:
                    for pattern in found:
                        groups[shape, name, pattern].append(row)
    return groups


class _Rows(NamedTuple):
    """Forms of one group.

    Attributes:
        names: The arguments that many of them have, in order.
        values: For each of these, the value of each form, as a small number; ABSENT if it has none. Shape (n,).
        path: Of each form, as a small number. Shape (n,), as the next.
        label: Place in `labels`.
        labels: The clusters.
    """

    names: list[str]
    values: list[Ints]
    path: Ints
    label: Ints
    labels: list[int]

    @classmethod
    def of(cls, columns: UrlColumns, args: Arguments, rows: Ints, paths: Ints, labels: Ints) -> _Rows:
        first = np.searchsorted(args.owner, rows)
        size = np.searchsorted(args.owner, rows, side="right") - first
        owner = np.repeat(np.arange(len(rows)), size)
        here = np.arange(len(owner)) + (first - (np.cumsum(size) - size))[owner]
        name, value = args.name[here], args.value[here]
        unique, which, counts = np.unique(name, return_inverse=True, return_counts=True)
        least = max(2, len(rows) // 50)
        most = [i for i in np.argsort(-counts, kind="stable")[:_MOST_NAMES].tolist() if counts[i] >= least]
        found = {}
        for i in most:
            at = which == i
            column = np.full(len(rows), ABSENT, dtype=np.int64)
            column[owner[at]] = np.unique(value[at], return_inverse=True)[1]
            found[columns.texts[int(unique[i])]] = column
        names = sorted(found)
        clusters, label = np.unique(labels[rows], return_inverse=True)
        path = np.unique(paths[rows], return_inverse=True)[1]
        return cls(names, [found[name] for name in names], path, label, clusters.tolist())


def _kept(rows: _Rows, fixed: str) -> Iterator[tuple[tuple[str, ...], set[int]]]:
    pure: list[set[int]] = []
    for size in range(min(_MOST_KEPT, len(rows.names)) + 1):
        for kept in combinations(range(len(rows.names)), size):
            names = tuple([rows.names[i] for i in kept])
            if any(found <= set(kept) for found in pure) or (fixed and fixed not in names):
                continue
            right, wrong, labels = _merged(rows, kept)
            if len(labels) >= min(_LEAST_CLUSTERS, size + 1) and right >= _PROMISING * (right + wrong):
                if right >= _PURE * (right + wrong):
                    pure.append(set(kept))
                yield names, labels


def _merged(rows: _Rows, kept: Sequence[int]) -> tuple[int, int, set[int]]:
    """What comes of it when only these arguments count: right and wrong merges, and the clusters of right ones.

    Without right merges, wrong ones are not counted; with too many wrong ones, clusters are not looked for.
    """
    key, there = rows.path, np.ones(len(rows.path), dtype=np.bool_)
    for i in kept:  # the forms are few enough for all numbers together to make one
        key = key * len(key) + rows.values[i]
        there &= rows.values[i] != ABSENT
    pairs, counts = np.unique((key * len(key) + rows.label)[there], return_counts=True)
    if counts.max(initial=0) < 2:
        return 0, 0, set()
    group = pairs // len(key)
    starts = np.flatnonzero(np.append(True, group[1:] != group[:-1]))
    most = np.maximum.reduceat(counts, starts)
    right, wrong = int((most - 1).sum()), int(counts.sum() - most.sum())
    if right < _PROMISING * (right + wrong):
        return right, wrong, set()
    size = np.diff(np.append(starts, len(pairs)))
    leads = (counts == np.repeat(most, size)) & (counts > 1)
    return right, wrong, {rows.labels[i] for i in (pairs[leads] % len(key)).tolist()}
