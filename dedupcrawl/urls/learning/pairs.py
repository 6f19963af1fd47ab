"""Which pairs of URLs of a cluster to learn from: target and source selection (Algorithm 4 of Koppula et al.).

Never all pairs of a cluster: targets are the few best-ranked forms, sources are a sample of the rest, and besides each
source is paired with its neighbour in two sorted orders, so that pairs that differ in one key only are met. The work is
O(C log C) for a cluster of C.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from dedupcrawl.urls.learning.corpus import Form

_TARGETS = 2
_SOURCES = 16


def target_rank(form: Form) -> tuple[int, int, int, str]:
    """Rank as a target, smaller is better: static before dynamic, then short, then shallow.

    In-links, the paper's last word, are left out: few logs have them, and where they do they choose the sample.
    """
    parts = form.parts
    return len(parts.args), len(form.text), len(parts.segments), form.text


def select_pairs(cluster: Sequence[Form]) -> Iterator[tuple[Form, Form]]:
    """Pairs (source, target) of one cluster, the target ranked before the source."""
    ranked = sorted(cluster, key=target_rank)
    targets = ranked[:_TARGETS]
    sources = sample(ranked[1:], _SOURCES)
    place = {form.text: i for i, form in enumerate(ranked)}
    seen = set()
    for source in sources:
        for target in targets:
            pair = place[source.text], place[target.text]
            if pair[1] < pair[0]:
                seen.add(pair)
                yield source, target
    for order in (_text, _reversed_text):
        line = [place[form.text] for form in sorted([*targets, *sources], key=order)]
        for one, other in pairwise(line):
            pair = max(one, other), min(one, other)
            if one != other and pair not in seen:
                seen.add(pair)
                yield ranked[pair[0]], ranked[pair[1]]


def sample(forms: Sequence[Form], most: int) -> list[Form]:
    """At most `most` of the forms, one shape after the other, so that every pattern of a cluster is seen."""
    if len(forms) <= most:
        return list(forms)
    by_shape: dict[tuple[object, ...], list[Form]] = {}
    for form in forms:
        parts = form.parts
        shape = (parts.authority, len(parts.segments), parts.segments[:1] and parts.segments[0], tuple(parts.names()))
        by_shape.setdefault(shape, []).append(form)
    taken: list[Form] = []
    turn = 0
    groups = list(by_shape.values())
    while len(taken) < most:
        for group in groups:
            if turn < len(group):
                taken.append(group[turn])
        turn += 1
    return taken[:most]


def _text(form: Form) -> str:
    return form.text


def _reversed_text(form: Form) -> str:
    return form.text[::-1]
