"""Remove from lines what users' regular expressions find (DEDUP_IGNORE), in bounded time.

On a malicious line, a pattern such as ([0-9]+,?)+x backtracks for years. The library `regex` takes the patterns of
Python's `re`, and has a timeout.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from functools import cache
from typing import Any

import regex  # type: ignore[import-untyped]  # it has no types

LINE_TIME, PAGE_TIME = 0.05, 0.5
"""Seconds of CPU that a pattern may take in one line, and in all lines of a page."""
LONGEST_LINE = 100_000
"""Most characters of a line; a longer one is left as it is. `regex` checks the time only once in some thousand steps,
each of which may read the line to its end. It stops 3 s late in a line of 2,000,000 characters, 0.2 s late in one of
100,000.
"""

Pattern = Any
logger = logging.getLogger(__name__)


def read_pattern(written: str) -> Pattern:
    """Compile a regular expression.

    Raises:
        ValueError: It is invalid, or matches the empty string.
    """
    try:
        pattern = regex.compile(written, regex.VERSION0)
    except regex.error as error:
        raise ValueError(f"{written!r} is not a regular expression: {error}") from error
    if pattern.fullmatch(""):
        raise ValueError(f"{written!r} finds nothing at all in every line: say what is to be found")
    return pattern


def without_matches(pattern: Pattern, lists: Iterable[Iterable[str]]) -> list[list[str]]:
    """Remove what a pattern finds from lists of lines of one page, and then lines that are empty.

    White space in changed lines is collapsed. If the time is used up, the remaining lines stay as they are, and a
    warning says so once per pattern.
    """
    end = time.process_time() + PAGE_TIME
    return [[left for line in lines if (left := _without(pattern, line, end))] for lines in lists]


def _without(pattern: Pattern, line: str, end: float) -> str:
    remaining = end - time.process_time()
    if remaining <= 0 or len(line) > LONGEST_LINE:
        return line
    try:
        left: str = pattern.sub(" ", line, timeout=min(LINE_TIME, remaining))
    except TimeoutError:
        _warn(pattern.pattern)
        return line
    return line if left == line else " ".join(left.split())


@cache
def _warn(written: str) -> None:
    logger.warning(
        "DEDUP_IGNORE: the pattern %r takes longer than %s s in a line, or than %s s in a page. Lines for which there "
        "was no time are kept as they are. Write it so that it can match a text in one way only, with [0-9,]+ instead "
        "of ([0-9]+,?)+, and at most one .* in it. This is logged once.",
        f"re:{written}",
        LINE_TIME,
        PAGE_TIME,
    )
