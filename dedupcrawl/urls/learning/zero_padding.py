"""Numbers that are written with zeros before them and without: `/2009/01/05/` and `/2009/1/5/`, `?p=007` and `?p=7`.

A pair of URLs in which one number is spelled in two ways says nothing of other numbers, so all that it suggests is to
take the zeros away: that the number is irrelevant, or that this very `01` is `1`, would be what it seems to say else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dedupcrawl.urls.conversions import VALUE_CONVERSIONS
from dedupcrawl.urls.learning.transformation import Transformation, tail_of

_unpadded = VALUE_CONVERSIONS["unpadded"]
_DIGITS = "0123456789"
_DELIMITERS = "-_.,+~"
_LONGEST_NUMBER = 20  # digits
_LONGEST_TAIL = 3  # segments behind the number, that a template counts


def is_same_number(one: str, other: str) -> bool:
    """True for two spellings of one number.

    >>> is_same_number("007", "7"), is_same_number("7", "7"), is_same_number("70", "7")
    (True, False, False)
    """
    if len(one) == len(other) or not (one and other) or one[-1] != other[-1]:
        return False  # as most pairs are
    if len(one) > _LONGEST_NUMBER or len(other) > _LONGEST_NUMBER:
        return False
    return not (one + other).strip(_DIGITS) and _unpadded(one) == _unpadded(other)


def unpadded_segments(
    before: Sequence[str], old: Sequence[str], new: Sequence[str], after: Sequence[str]
) -> Iterator[Transformation]:
    """Hypotheses for paths that differ in the spelling of numbers only; nothing for others.

    Args:
        before: Segments at the start that both paths have.
        old: Those in the middle of the one path.
        new: ... and of the other.
        after: Those at the end that both have.
    """
    if len(old) != len(new) or not all(a == b or is_same_number(a, b) for a, b in zip(old, new, strict=True)):
        if len(old) == len(new) == 1:
            yield from _inside(old[0], new[0], after)
        return
    places = [i for i, (a, b) in enumerate(zip(old, new, strict=True)) if a != b]
    for place in places:
        yield from _at(len(before) + place, [*old[place + 1 :], *after])
    if len(places) > 1:
        captures = [f"{{n{i}:digits}}" if i in places else f"{{m{i}}}" for i in range(len(old))]
        built = [f"{{n{i}|unpadded}}" if i in places else f"{{m{i}}}" for i in range(len(old))]
        end = tail_of(after)
        yield Transformation(f"/{{p*}}/{'/'.join(captures)}{end}", f"/{{p*}}/{'/'.join(built)}{end}")


def unpadded_args(names: Sequence[str]) -> Iterator[Transformation]:
    """Hypotheses for arguments of which two URLs have the same numbers, spelled in two ways."""
    groups = [[name] for name in names]
    for group in (*groups, list(names)) if len(names) > 1 else groups:
        captures = "&".join(f"{name}={{n{i}:digits}}" for i, name in enumerate(group))
        yield Transformation(f"?{captures}", f"?{captures.replace(':digits', '|unpadded')}")


def _at(place: int, behind: Sequence[str]) -> Iterator[Transformation]:
    if len(behind) <= _LONGEST_TAIL:
        end = tail_of(behind)
        yield Transformation(f"/{{p*}}/{{n:digits}}{end}", f"/{{p*}}/{{n|unpadded}}{end}")
    elif place <= _LONGEST_TAIL:
        front = "".join(f"/{{b{i}}}" for i in range(place))
        yield Transformation(f"{front}/{{n:digits}}/{{p*}}", f"{front}/{{n|unpadded}}/{{p*}}")


def _inside(old: str, new: str, after: Sequence[str]) -> Iterator[Transformation]:
    """Of a segment of which the number is only a part: `img_007.html`, `any-words-007`."""
    front = 0
    while front < min(len(old), len(new)) and old[front] == new[front]:
        front += 1
    back = 0
    while back < min(len(old), len(new)) - front and old[-1 - back] == new[-1 - back]:
        back += 1
    start = len(old[:front].rstrip(_DIGITS))
    stop = len(old) - back
    while stop < len(old) and old[stop] in _DIGITS:
        stop += 1
    suffix = old[stop:]
    if is_same_number(old[start:stop], new[start : len(new) - len(suffix)]):
        end = f"{suffix}{tail_of(after)}"
        yield Transformation(f"/{{p*}}/{old[:start]}{{n:digits}}{end}", f"/{{p*}}/{old[:start]}{{n|unpadded}}{end}")
        if start > 1 and old[start - 1] in _DELIMITERS:
            words = f"{{words}}{old[start - 1]}"
            yield Transformation(f"/{{p*}}/{words}{{n:digits}}{end}", f"/{{p*}}/{words}{{n|unpadded}}{end}")
