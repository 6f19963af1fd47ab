"""Which arguments an identity may leave out: those that have been seen to come, go or change without another page.

"Keep these arguments and drop all others" is a bold guess of arguments that hardly ever came: those of a search that
was made once say what is shown, though nothing in the log speaks against it. So each needs evidence of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dedupcrawl.urls.learning.corpus import Form
from dedupcrawl.urls.learning.evidence import Meetings
from dedupcrawl.urls.learning.token_texts import ABSENT
from dedupcrawl.urls.rule import Rule

_LEAST_CLUSTERS = 2  # in which an argument made no difference
_MOST_WRONG = 0.1  # of the pages that differ in an argument, at most, lead elsewhere
_MOST_NAMES = 24  # that a rule lists


def with_known_arguments(rule: Rule, found: Meetings, forms: Sequence[Form]) -> Rule | None:
    """The identity, with the names of the arguments that it drops; None if there is evidence for none of them.

    Args:
        rule: Drops all arguments that it does not name.
        found: What it brings together.
        forms: Of the corpus.
    """
    groups: dict[int, list[Form]] = defaultdict(list)
    for number, row in zip(*map(np.ndarray.tolist, found.sources), strict=True):
        groups[number].append(forms[row])
    same: dict[str, set[int]] = defaultdict(set)
    pages: dict[str, list[int]] = defaultdict(lambda: [0, 0])  # that differ in it: elsewhere, the same
    targets = found.targets.tolist()
    for number, those in groups.items():
        first = those[0] if targets[number] == ABSENT else forms[targets[number]]
        there = frozenset(first.parts.args)
        for form in those:
            if form is first:
                continue
            alike = form.label == first.label
            for name in {arg.partition("=")[0] for arg in there.symmetric_difference(form.parts.args)}:
                pages[name][alike] += 1
                if alike:
                    same[name].add(form.label)
    match = rule.templates()[0]
    kept = {name for name, _ in match.args} if match else set()
    drop = sorted(
        name
        for name, labels in same.items()
        if name
        and name not in kept
        and name[-1] != "*"
        and len(labels) >= _LEAST_CLUSTERS
        and pages[name][0] <= _MOST_WRONG * sum(pages[name])
    )
    if not drop:
        return None
    return replace(rule, drop=tuple(drop)) if len(drop) <= _MOST_NAMES else rule
