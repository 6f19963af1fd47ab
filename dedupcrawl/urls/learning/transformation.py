"""What a rule does, without its context: the value that hypotheses are made of (Definition 2 of Koppula et al.)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Transformation(NamedTuple):
    """What a rule does wherever it does it. (A tuple, as thousands of pairs suggest a few hundred.)

    Attributes:
        match: As of `Rule`, like the others.
        to: Empty if it is one of the others.
        drop: Names of arguments.
        convert: Of the whole URL.
    """

    match: str = ""
    to: str = ""
    drop: tuple[str, ...] = ()
    convert: str = ""


def tail_of(segments: Sequence[str]) -> str:
    """The end of a path as a template that takes as many segments, and leaves them where they are.

    >>> tail_of(["7", "view", ""])
    '/{x0}/{x1}/'
    """
    return "".join("/" if segment == "" else f"/{{x{i}}}" for i, segment in enumerate(segments))
