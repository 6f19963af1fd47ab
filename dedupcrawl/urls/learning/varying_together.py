"""Values that vary together: of `/0a1b2c3d/page?ts=1` and `/4e5f6a7b/page?ts=2` neither the token nor `ts` matters.

A rule that forgets one of them brings nothing together as long as the other is there, so it takes one rule for both. To
forget segments of any kind at several places would be a bold guess; so of paths only random tokens (hexadecimal ones,
or others between fixed delimiters) and parameters of segments are meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dedupcrawl.urls.learning.path_parameters import differing_parameters
from dedupcrawl.urls.learning.transformation import Transformation, tail_of
from dedupcrawl.urls.template import SHORTEST_TOKEN, SPECIAL

_MOST_PLACES = 3  # in the path, and as many arguments
_LONGEST_TAIL = 3  # segments between and behind these places, that a template counts
_LONGEST_TEXT = 256  # characters of a segment that is looked into
_HEX = re.compile(r"[0-9a-f]+|[0-9A-F]+")
_NAME = re.compile(r"(?<=\{)[a-z]+")  # of a capture
_ALNUM = re.compile(r"[0-9A-Za-z]+")


def varying_together(one: Sequence[str], other: Sequence[str], names: Sequence[str]) -> Iterator[Transformation]:
    """The hypothesis for two URLs that differ at several places; none for others.

    Args:
        one: The segments of the one URL.
        other: ... and of the other.
        names: Arguments of which they have different values; they have no others but those that are equal.
    """
    if len(one) != len(other) or len(names) > _MOST_PLACES:
        return
    places = [i for i, (here, there) in enumerate(zip(one, other, strict=True)) if here != there]
    if not 0 < len(places) <= _MOST_PLACES or len(places) + len(names) < 2:
        return
    first, last = places[0], places[-1]
    behind = one[last + 1 :]
    if last + 1 - first - len(places) > _LONGEST_TAIL or (first and len(behind) > _LONGEST_TAIL):
        return
    match = to = "/{p*}" if first else ""
    for i in range(first, last + 1):
        forms = (f"{{m{i}}}", f"{{m{i}}}") if one[i] == other[i] else _forms(one[i], other[i], i)
        if forms is None or not one[i]:
            return
        match, to = f"{match}/{forms[0]}", f"{to}/{forms[1]}"
    end = tail_of(behind) if first or not any(behind) else "/{p*}"
    query = "&".join(f"{name}={{}}" for name in names)
    yield Transformation(f"{match}{end}{'?' if query else ''}{query}", f"{to}{end}")


def _forms(one: str, other: str, place: int) -> tuple[str, str] | None:
    """Segments of `match` and `to` that take both of two segments to one; None if there are no such ones."""
    if max(len(one), len(other)) > _LONGEST_TEXT or SPECIAL.search(one.replace("=", "") + other.replace("=", "")):
        return None
    of_parameters = list(differing_parameters(one, other))
    if of_parameters:
        match, to = (_NAME.sub(rf"\g<0>{place}", form) for form in of_parameters[-1])
        return match, to
    front, back = _common(one, other)
    token, other_token = one[len(front) : len(one) - len(back)], other[len(front) : len(other) - len(back)]
    if len(token) != len(other_token) or len(token) < SHORTEST_TOKEN:
        return None
    if _HEX.fullmatch(token) and _HEX.fullmatch(other_token):
        return f"{front}{{:token}}{back}", f"{front}{{}}{back}"
    if front and back and _ALNUM.fullmatch(token) and _ALNUM.fullmatch(other_token):
        return f"{front}{{:alnum}}{back}", f"{front}{{}}{back}"
    return None


def _common(one: str, other: str) -> tuple[str, str]:
    """How two segments begin and end alike, up to a delimiter: a token may begin like another by chance."""
    front = 0
    while front < min(len(one), len(other)) and one[front] == other[front]:
        front += 1
    while front and one[front - 1].isalnum():
        front -= 1
    back = 0
    while back < min(len(one), len(other)) - front and one[-1 - back] == other[-1 - back]:
        back += 1
    while back and one[-back].isalnum():
        back -= 1
    return one[:front], one[len(one) - back :]
