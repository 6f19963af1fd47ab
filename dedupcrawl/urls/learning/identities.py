"""Which arguments tell the pages of a path apart: the others may all be taken out at once.

Pairs of URLs that differ in six arguments suggest little about each. So of every path with arguments those are left
out one after the other without which no more different pages come together.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from dedupcrawl.urls.learning.forms import Form, Forms
from dedupcrawl.urls.learning.references import Suggestion, values_of
from dedupcrawl.urls.learning.written import is_expressible_path, is_name, literal, whole, written
from dedupcrawl.urls.template import Template

_MOST_FORMS = 600  # of a path, at equal steps
_MOST_NAMES = 10
_LEAST = 4  # forms of a path


def identities(forms: Forms) -> Iterator[tuple[Suggestion, set[int]]]:
    """For every path, what takes out the arguments that tell no pages apart, and the clusters that say so."""
    by_path: defaultdict[tuple[str, ...], list[Form]] = defaultdict(list)
    for form in forms.all:
        if form.parts.args:
            by_path[tuple(form.parts.segments)].append(form)
    for path, there in by_path.items():
        if len(there) < _LEAST or not is_expressible_path(path):
            continue
        some = there[:: -(-len(there) // _MOST_FORMS)]
        args = [values_of(form.parts) for form in some]
        counts = Counter(name for own in args for name in own if is_name(name))
        names = sorted(counts, key=lambda name: (counts[name], name))[-_MOST_NAMES:]
        kept = set(names)
        best = _wrong(some, args, kept)
        for name in names:
            wrong = _wrong(some, args, kept - {name})
            if wrong <= best:
                kept.discard(name)
        gone = tuple(sorted(set(names) - kept))
        if not gone or len(gone) < 2:
            continue
        labels = _met(some, args, kept)
        if labels:
            query = tuple((name, whole()) for name in sorted(kept) if all(own.get(name) for own in args))
            match = written(Template(path=tuple(map(literal, path)), args=query))
            yield Suggestion(match=match, drop=gone), labels


def _wrong(forms: list[Form], args: list[dict[str, str | None]], kept: set[str]) -> int:
    groups: defaultdict[tuple[object, ...], Counter[int]] = defaultdict(Counter)
    for form, own in zip(forms, args, strict=True):
        groups[tuple(own.get(name, 0) for name in sorted(kept))][form.label] += 1
    return sum(labels.total() - max(labels.values()) for labels in groups.values())


def _met(forms: list[Form], args: list[dict[str, str | None]], kept: set[str]) -> set[int]:
    groups: defaultdict[tuple[object, ...], Counter[int]] = defaultdict(Counter)
    for form, own in zip(forms, args, strict=True):
        groups[tuple(own.get(name, 0) for name in sorted(kept))][form.label] += 1
    return {label for labels in groups.values() for label, count in labels.items() if count > 1}
