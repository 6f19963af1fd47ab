"""Parameters of a segment: what stands behind a ";" in it, as in `/report;v=2/` (RFC 3986, 3.3).

They are to a segment what arguments are to a URL: two paths that differ in one of them suggest that it is irrelevant,
and nothing of the segment that it belongs to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dedupcrawl.urls.learning.transformation import Transformation, tail_of
from dedupcrawl.urls.template import SPECIAL

_TOKEN = re.compile(r"[0-9a-f]{8,}|[0-9A-F]{8,}")
_MOST = 4  # parameters of a segment that are looked at
_LONGEST_TAIL = 2  # segments behind, that a template counts
_LONGEST_FRONT = 3  # ... and before it


def parameter_edits(
    before: Sequence[str], old: Sequence[str], new: Sequence[str], after: Sequence[str], query: str
) -> Iterator[Transformation]:
    """Hypotheses for paths that differ in the parameters of one segment only; nothing for others.

    Args:
        before: Segments at the start that both paths have.
        old: The one in the middle of the one path.
        new: ... and of the other.
        after: Those at the end that both have.
        query: Of a template that takes out the arguments that only the one URL has.
    """
    for match, to in differing_parameters(old[0], new[0]) if len(old) == len(new) == 1 else ():
        if len(after) <= _LONGEST_TAIL:
            end = tail_of(after)
            yield Transformation(f"/{{p*}}/{match}{end}{query}", f"/{{p*}}/{to}{end}")
        elif len(before) <= _LONGEST_FRONT:
            front = "".join(f"/{{b{i}}}" for i in range(len(before)))
            yield Transformation(f"{front}/{match}/{{p*}}{query}", f"{front}/{to}/{{p*}}")


def differing_parameters(one: str, other: str) -> Iterator[tuple[str, str]]:
    """Segments of `match` and `to` that take away a parameter in which two segments differ, and all such parameters.

    Nothing if they differ in something else, or in nothing.

    >>> list(differing_parameters("report;v=1", "report;v=2"))
    [('{name};v={}', '{name}')]
    """
    if ";" not in one and ";" not in other:
        return
    name, *here = one.split(";")
    other_name, *there = other.split(";")
    if name != other_name or not name or max(len(here), len(there)) > _MOST or SPECIAL.search(one.replace("=", "")):
        return
    if SPECIAL.search(other.replace("=", "")):
        return
    longer = max(here, there, key=len)
    differing = [i for i, one in enumerate(longer) if one not in here or one not in there]
    forms = [f";{_form(one)}" for one in longer]
    for place in differing:
        rest = ";{more}" if place + 1 < len(longer) else ""
        yield f"{{name}}{forms[place]}{rest}", f"{{name}}{rest}"
    if len(differing) > 1 and differing[-1] == len(longer) - 1 and differing[-1] - differing[0] + 1 == len(differing):
        yield f"{{name}}{''.join(forms[i] for i in differing)}", "{name}"


def _form(parameter: str) -> str:
    """A template of a parameter like this one."""
    name, equals, _ = parameter.partition("=")
    if equals:
        return f"{name}={{}}"
    if parameter.isascii() and parameter.isdigit():
        return "{:digits}"
    return "{:token}" if _TOKEN.fullmatch(parameter) else parameter
