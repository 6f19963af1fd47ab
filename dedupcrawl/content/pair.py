"""Pair: a new page beside a kept one, compared once, with what all features are made of."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content.differences import Differences
from dedupcrawl.content.view import View
from dedupcrawl.core.alignment import align
from dedupcrawl.core.diff import ADDED, DIFFERENCES, SECTIONS, differences
from dedupcrawl.core.digests import Secret

Counts = tuple[tuple[int, ...], ...]
"""Shape (DIFFERENCES, SECTIONS)."""


class Pair(msgspec.Struct, frozen=True, gc=False):
    """A new page beside a kept one."""

    new: View
    kept: View
    found: Differences  # where their main texts differ
    counts: Counts  # of each kind and place, how many of these differences there are
    title_counts: Counts  # the same of their titles; none where two pages of a host name themselves by one headline
    headline_counts: Counts  # the same of their headlines, of two pages of one host
    is_of_one_host: bool  # whether both are pages of one host
    template: float  # how much of the new page is furniture that it may share with the kept one
    uncovered: float  # share of the new page's own text that does not stand in the kept page
    kept_uncovered: float  # share of the kept page's own text that does not stand in the new page
    beside: int  # symbols of lines of text around the new main text that the kept page has nowhere
    secondary: int  # symbols of secondary text of either page that the other has nowhere, the greater of the two counts
    resources: int  # likewise pictures, media and files of its own; 0 where a page has none: print views leave them out

    @classmethod
    def of(cls, new: View, kept: View) -> Pair:
        """Lay two pages side by side."""
        found = Differences.of(new, kept)
        is_of_one_host = new.host == kept.host
        is_same_name = (
            is_of_one_host
            and new.headline_text[0] == kept.headline_text[0]
            and new.is_named_by_headline
            and kept.is_named_by_headline
        )
        return cls(
            new,
            kept,
            found,
            counts_of(found.rows),
            counts_of(NO_ROWS if is_same_name else line_rows(new.title_text, kept.title_text, new.secret)),
            counts_of(line_rows(new.headline_text, kept.headline_text, new.secret) if is_of_one_host else NO_ROWS),
            is_of_one_host,
            new.furniture if is_of_one_host else 0.0,
            uncovered(found.tally.uncovered, new, kept),
            uncovered(found.tally.kept_uncovered, kept, new),
            unknown_lines(new.around.asides, kept),
            max(unknown_lines(new.around.secondary, kept), unknown_lines(kept.around.secondary, new)),
            unknown_resources(new, kept),
        )


def counts_of(rows: NDArray[np.uint8]) -> Counts:
    """Of each kind and place, how many of some differences there are."""
    counts = np.bincount(rows[:, 0].astype(int) * SECTIONS + rows[:, 1], minlength=DIFFERENCES * SECTIONS)
    return tuple(map(tuple, counts.reshape(DIFFERENCES, SECTIONS).tolist()))


OWN = range(ADDED, DIFFERENCES)
"""Kinds of differences in own text that say something."""


def own_differences(counts: Counts) -> int:
    """How many differences say something."""
    return sum([sum(counts[kind]) for kind in OWN])


NO_ROWS = np.zeros((0, 3), dtype=np.uint8)


def line_rows(new: tuple[bytes, bytes], kept: tuple[bytes, bytes], secret: Secret) -> NDArray[np.uint8]:
    """The differences of two lines, symbols and kinds each, as those of two texts; none where either is empty."""
    (here, kinds), (there, kept_kinds) = new, kept
    if not here or not there or here == there:
        return NO_ROWS
    in_kept, in_new, pieces, _ = align(here, there)
    one = here, kinds, b"\1" * len(kinds), [len(kinds)]
    other = there, kept_kinds, b"\1" * len(kept_kinds), [len(kept_kinds)]
    rows, *_ = differences(one, other, in_kept, in_new, pieces, secret)
    return np.frombuffer(rows, np.uint8).reshape(-1, 3)


def uncovered(differs: int, page: View, other: View) -> float:
    """Share of a page's own text that does not stand in the other page, of which so many symbols differ."""
    beyond = 0 if page.main.tail_hash == other.main.tail_hash else page.main.tail
    return (differs + beyond) / max(1, page.own_count)


def unknown_lines(lines: dict[int, int], other: View) -> int:
    """Symbols of lines beside a main text, of whatever kind, that the other page has nowhere."""
    if not lines:
        return 0
    around = other.around
    last, asides, link_lines, secondary = around.last, around.asides, around.link_lines, around.secondary
    unknown = [
        line for line in lines if line <= last and not (line in asides or line in link_lines or line in secondary)
    ]
    return sum(lines[line] for line in set(unknown).difference(other.blocks)) if unknown else 0


def unknown_resources(new: View, kept: View) -> int:
    """Resources of either page that the other has not, the greater of the two counts; 0 where a page has none.

    Nor do they say anything where two hosts share none: a reprint has other pictures, or the same by other names.
    """
    here, there = new.around, kept.around
    if not here.resources or not there.resources:
        return 0
    if new.host != kept.host and here.resources.isdisjoint(there.resources):
        return 0
    last = min(here.last_resource, there.last_resource)
    return max(
        sum(one <= last for one in more.resources - less.resources) for more, less in ((here, there), (there, here))
    )
