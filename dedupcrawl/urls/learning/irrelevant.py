"""Which arguments an identity may leave out: those that have been seen to come, go or change without another page.

"Keep these arguments and drop all others" is a bold guess of arguments that hardly ever came: those of a search that
was made once say what is shown, though nothing in the log speaks against it. So each needs evidence of its own.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np

from dedupcrawl.urls.learning.corpus import Corpus
from dedupcrawl.urls.learning.evidence import Meetings
from dedupcrawl.urls.learning.token_texts import ABSENT, Ints
from dedupcrawl.urls.learning.url_columns import UrlColumns
from dedupcrawl.urls.rule import Rule

_LEAST_CLUSTERS = 2  # in which an argument made no difference
_MOST_WRONG = 0.1  # of the pages that differ in an argument, at most, lead elsewhere
_MOST_NAMES = 24  # that a rule lists


def with_known_arguments(rule: Rule, found: Meetings, corpus: Corpus) -> Rule | None:
    """The identity, with the names of the arguments that it drops; None if there is evidence for none of them.

    Args:
        rule: Drops all arguments that it does not name.
        found: What it brings together.
        corpus: Of these forms.
    """
    columns, labels = corpus.columns, corpus.labels.first.tolist()
    rows = np.unique(np.concatenate([found.sources.rows, found.targets[found.targets != ABSENT]]))
    args, name_of = _arguments(columns, rows)
    met: dict[int, list[int]] = defaultdict(list)
    for number, row in zip(*map(np.ndarray.tolist, found.sources), strict=True):
        met[number].append(row)
    same: dict[int, set[int]] = defaultdict(set)
    pages: dict[int, list[int]] = defaultdict(lambda: [0, 0])  # that differ in it: elsewhere, the same
    targets = found.targets.tolist()
    for number, those in met.items():
        first = those[0] if targets[number] == ABSENT else targets[number]
        for row in those:
            alike = labels[row] == labels[first]
            for changed in {name_of[arg] for arg in args[first].symmetric_difference(args[row])}:
                pages[changed][alike] += 1
                if alike:
                    same[changed].add(labels[row])
    match = rule.templates()[0]
    kept = {name for name, _ in match.args} if match else set()
    drop = sorted(
        name
        for changed, clusters in same.items()
        if (name := columns.texts[changed])
        and name not in kept
        and name[-1] != "*"
        and len(clusters) >= _LEAST_CLUSTERS
        and pages[changed][0] <= _MOST_WRONG * sum(pages[changed])
    )
    if not drop:
        return None
    return replace(rule, drop=tuple(drop)) if len(drop) <= _MOST_NAMES else rule


def _arguments(columns: UrlColumns, rows: Ints) -> tuple[dict[int, frozenset[int]], dict[int, int]]:
    """The numbers of the arguments of each row, and of each of these the number of its name."""
    numbers, stop = columns.args.flat(rows)[2], np.cumsum(columns.args.size[rows]).tolist()
    of_row = zip(rows.tolist(), [0, *stop], stop, strict=False)
    all_, names = numbers.tolist(), columns.arg_texts.names(numbers).tolist()
    return {row: frozenset(all_[start:end]) for row, start, end in of_row}, dict(zip(all_, names, strict=True))
