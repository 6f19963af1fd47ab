"""One segment into another that begins or ends like it, or is another spelling of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from dedupcrawl.urls.conversions import VALUE_CONVERSIONS, as_sent
from dedupcrawl.urls.learning.deep_tokens import MOST_UNITS
from dedupcrawl.urls.learning.transformation import Transformation

_LONGEST_TEXT = 256  # characters of a segment that is looked into
# Conversions of a segment, and what it or its result holds if they change it.
_OF_SEGMENTS = (("lower", ""), ("upper", ""), ("decode", "%"), ("encode", "%"))
# ... and those that bring both ways of writing a blank together, whichever of them is the target.
_OF_BLANKS = (("blanks", "+"), ("underscores", "_"))
_RUNS = re.compile(r"[A-Za-z0-9]+")
_UNITS = re.compile(r"[a-z]+|[A-Z]+|[0-9]+")  # as the paper has them; deep tokens take "Here" for one unit


def affixes(old: str, new: str, end: str, query: str) -> Iterator[Transformation]:
    """Hypotheses for paths that differ in one segment; what differs in the spelling of escapes is one already.

    Args:
        old: The segment of the one path.
        new: ... and of the other.
        end: Of a template: what is behind the segment.
        query: ... and what takes out the arguments that only the one URL has.
    """
    if as_sent(old) == as_sent(new):
        return
    front = 0
    while front < min(len(old), len(new)) and old[front] == new[front]:
        front += 1
    old_ends, new_ends = boundaries(old), boundaries(new)
    while front and not (front in old_ends and front in new_ends):
        front -= 1
    back = 0
    while back < min(len(old), len(new)) - front and old[-1 - back] == new[-1 - back]:
        back += 1
    while back and not (len(old) - back in old_ends and len(new) - back in new_ends):
        back -= 1
    if front > 1 and old[front - 1] == ".":  # of a suffix
        front -= 1
    if front:
        yield Transformation(f"/{{p*}}/{{name}}{old[front:]}{end}{query}", f"/{{p*}}/{{name}}{new[front:]}{end}")
    if back:
        stop = len(old) - back
        yield Transformation(
            f"/{{p*}}/{old[:stop]}{{name}}{end}{query}", f"/{{p*}}/{new[: len(new) - back]}{{name}}{end}"
        )
    for conversion, needed in _OF_SEGMENTS:
        if needed in old + new and VALUE_CONVERSIONS[conversion](old) == new:
            yield Transformation(f"/{{p*}}/{{name}}{end}{query}", f"/{{p*}}/{{name|{conversion}}}{end}")
    for conversion in _blanks(old, new):
        yield Transformation(f"/{{p*}}/{{name}}{end}{query}", f"/{{p*}}/{{name|{conversion}}}{end}")


def marked(old: list[str], new: list[str], end: str, query: str) -> Iterator[Transformation]:
    """Hypotheses for a folder that is a mark before a name in the other path: `/people/joe` and `/~joe`."""
    folder, name, other = (*old, *new) if len(old) > len(new) else (*new, *old)
    mark = other.removesuffix(name)
    if not name or mark == other or not mark or any(map(str.isalnum, mark)):
        return
    one, two = f"/{{p*}}/{folder}/{{name}}{end}", f"/{{p*}}/{mark}{{name}}{end}"
    yield Transformation(*((f"{one}{query}", two) if len(old) > len(new) else (f"{two}{query}", one)))


def _blanks(one: str, other: str) -> Iterator[str]:
    """Conversions that bring two texts together which differ in how blanks are written."""
    for conversion, needed in _OF_BLANKS:
        convert = VALUE_CONVERSIONS[conversion]
        if (needed in one or needed in other) and convert(one) == convert(other):
            yield conversion


@lru_cache(maxsize=4096)
def boundaries(text: str) -> frozenset[int]:
    """Indices at which a delimiter or a change of unit (a-z, A-Z, 0-9) is (Definition 3), and both ends of the text.

    Of a long text only its ends: it is no name, and what is remembered of it would be as long.
    """
    found = {0, len(text)}
    if len(text) > _LONGEST_TEXT:
        return frozenset(found)
    for run in _RUNS.finditer(text):
        found.update(run.span())
        units = [unit.start() for unit in _UNITS.finditer(text, *run.span())]
        if len(units) <= MOST_UNITS:
            found.update(units)
    for i, char in enumerate(text):
        if not char.isalnum():
            found |= {i, i + 1}
    return frozenset(found)
