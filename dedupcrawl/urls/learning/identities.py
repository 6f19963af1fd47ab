"""Identities: the few arguments that tell the pages of one path apart, whatever other arguments there are.

A transformation that takes out one argument needs pairs that differ in nothing else. Where ten arguments come and go,
such pairs are rare, but URLs that have `do=details&task_id=7` in common are many, and lead to one page. So the question
is turned round: for a path, which smallest set of arguments is such that URLs with equal values in it have one content?
What speaks against a set are URLs of different clusters with equal values.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations

from dedupcrawl.urls.learning.corpus import Corpus, Form
from dedupcrawl.urls.learning.hypotheses import Transformation

_MOST_NAMES = 9  # of a path that are looked at
_MOST_KEPT = 3  # arguments of an identity
_MOST_FORMS = 600  # of a path that are looked at
_PURE = 0.995  # share of right merges at which no larger set is looked for
_PROMISING = 0.8  # ... and at which a context may do the rest
_LEAST_CLUSTERS = 2
_BRACES = re.compile(r"[{}]")

Values = dict[str, str]


def identities(corpus: Corpus) -> Iterator[tuple[Transformation, set[int]]]:
    """Rules that keep some arguments of a path and drop all others, each with the clusters that suggest it."""
    groups: dict[tuple[str, str, str], list[Form]] = defaultdict(list)
    patterns = corpus.patterns
    for form in corpus.forms:
        if form.parts.args and (path := path_shape(form.parts.segments or [""])) is not None:
            groups[path, "", ""].append(form)
            for arg in form.parts.args:
                name, _, value = arg.partition("=")
                if ("arg", name) in patterns:
                    for pattern in patterns["arg", name].path_of(value)[1:]:
                        groups[path, name, pattern].append(form)
    for (path, fixed, pattern), forms in groups.items():
        if len(forms) > 2:
            for names, found in _kept(forms[:: -(-len(forms) // _MOST_FORMS)], fixed):
                query = "&".join(f"{name}={pattern if name == fixed else '{}'}" for name in names)
                yield Transformation(f"{path}?{query}" if query else path, drop=("*",)), found


def path_shape(segments: Sequence[str]) -> str | None:
    """The path with numbers left open; None where a template cannot say it.

    >>> path_shape(["forum", "12"])
    '/forum/{:digits}'
    """
    if any(map(_BRACES.search, segments)):
        return None
    return "".join("/{:digits}" if s.isascii() and s.isdigit() else f"/{s}" for s in segments)


def _kept(forms: Sequence[Form], fixed: str) -> Iterator[tuple[tuple[str, ...], set[int]]]:
    rows = [(_path_and_values(form), form.label) for form in forms]
    counts = Counter(name for (_, values), _ in rows for name in values)
    least = max(2, len(rows) // 50)
    names = sorted(name for name, count in counts.most_common(_MOST_NAMES) if count >= least)
    pure: list[set[str]] = []
    for size in range(min(_MOST_KEPT, len(names)) + 1):
        for kept in combinations(names, size):
            if any(found <= set(kept) for found in pure) or (fixed and fixed not in kept):
                continue
            right, wrong, labels = _merged(rows, kept)
            if len(labels) >= min(_LEAST_CLUSTERS, size + 1) and right >= _PROMISING * (right + wrong):
                if right >= _PURE * (right + wrong):
                    pure.append(set(kept))
                yield kept, labels


def _path_and_values(form: Form) -> tuple[str, Values]:
    values: Values = {}
    for arg in form.parts.args:
        name, _, value = arg.partition("=")
        if value and name and not _BRACES.search(arg):
            values.setdefault(name, value)
    return "/".join(form.parts.segments), values


def _merged(rows: Sequence[tuple[tuple[str, Values], int]], kept: Sequence[str]) -> tuple[int, int, set[int]]:
    """What comes of it when only these arguments count: right and wrong merges, and the clusters of right ones."""
    groups: dict[tuple[str, tuple[str, ...]], list[int]] = defaultdict(list)
    for (path, values), label in rows:
        try:
            groups[path, tuple([values[name] for name in kept])].append(label)
        except KeyError:
            continue
    right = wrong = 0
    labels: set[int] = set()
    for members in groups.values():
        if len(members) > 1:
            first = members[0]
            most = members.count(first)
            if most * 2 < len(members):
                first, most = Counter(members).most_common(1)[0]
            right += most - 1
            wrong += len(members) - most
            if most > 1:
                labels.add(first)
    return right, wrong, labels
