"""Measures: two pages side by side, and what is counted of their differences.

Each measure is one number about a pair; which of them speaks for or against, and how much, is said by
`dedupcrawl.content.features` and the model.
"""

from __future__ import annotations

import math

import msgspec
import numpy as np

from dedupcrawl.content.differences import EVERY, OWN, OWN_VALUE, VALUE, Differences, Flags, Side
from dedupcrawl.content.tiles import Symbols
from dedupcrawl.content.view import View
from dedupcrawl.sites import host_of

_EDGE, _EDGE_SHARE = 12, 0.04  # symbols at either end of a text, where bylines and datelines stand
_STRAY = 0.01
"""Share of the common symbols at either end that may stand far from the others, as a common word of a byline does.
(With 0 and .05 the AUC on sources not fitted on is the same within .001.)"""
_LINKS = 20  # symbols for a link, of a text that is nothing but links
_UNTITLED = 0.4  # where a page has no title: the mean of `untold_title` over the labelled pairs is .44


class Pair(msgspec.Struct, frozen=True, gc=False):
    """A new page beside a kept one.

    Attributes:
        new: The new page.
        kept: The kept one.
        found: Where their main texts differ.
        middle: Which symbols of the new text stand at neither end.
        is_of_one_host: Whether both are pages of one host.
        template: How much of the new page is furniture that it may share with the kept one.
        uncovered: Share of the new page's own text that does not stand in the kept page.
        kept_uncovered: Share of the kept page's own text that does not stand in the new page.
        beside: Symbols of lines of text around the new main text that the kept page has nowhere.
    """

    new: View
    kept: View
    found: Differences
    middle: Flags
    is_of_one_host: bool
    template: float
    uncovered: float
    kept_uncovered: float
    beside: int

    @classmethod
    def of(cls, new: View, kept: View) -> Pair:
        """Lay two pages side by side."""
        found = Differences.of(new, kept)
        is_of_one_host = host_of(new.url).removeprefix("www.") == host_of(kept.url).removeprefix("www.")
        return cls(
            new,
            kept,
            found,
            middle(len(found.new.own)),
            is_of_one_host,
            new.furniture if is_of_one_host else 0.0,
            uncovered(found.new, new, kept),
            uncovered(found.kept, kept, new),
            lines_of_its_own(new, kept),
        )


def middle(count: int) -> Flags:
    """Which symbols stand at neither end of a text."""
    edge = max(_EDGE, int(_EDGE_SHARE * count))
    middle = np.zeros(count, dtype=np.bool_)
    middle[edge : max(edge, count - edge)] = True
    return middle


def uncovered(side: Side, page: View, other: View) -> float:
    """Share of a page's own text that does not stand in the other page."""
    same_tail = page.main.tail_hash == other.main.tail_hash
    beyond = 0 if same_tail else page.main.tail
    return (count_of(side.differs & side.own) + beyond) / max(1, page.own_count)


def log_of(count: float) -> float:
    """The logarithm of a count and one."""
    return math.log1p(count)


def count_of(flags: Flags) -> int:
    """How many are flagged."""
    return int(np.count_nonzero(flags))


def scattered(pair: Pair) -> float:
    """Share of the new text between the first and the last common symbol that is not common."""
    common = np.flatnonzero(pair.found.alignment.new)
    return float(1 - len(common) / (common[-1] - common[0] + 1)) if len(common) else 0.0


def density(pair: Pair) -> float:
    """Places that differ for twenty symbols, where most of the common text stands."""
    common, pieces = np.flatnonzero(pair.found.alignment.new), pair.found.alignment.pieces
    if not len(common) or not len(pieces):
        return 0.0
    stray = int(_STRAY * len(common))
    begin, end = int(common[stray]), int(common[-1 - stray]) + 1
    return min(1.0, 20 * count_of((pieces[:, 0] >= begin) & (pieces[:, 1] <= end)) / (end - begin))


def title_overlap(one: frozenset[int], other: frozenset[int]) -> float:
    """Dice's coefficient; 1 where either page has no title."""
    return 2 * len(one & other) / (len(one) + len(other)) if one and other else 1.0


def untold_title(pair: Pair) -> float:
    """Share of the words of the kept page's title that the common text lacks: it is not what that page is about.

    It counts as far as the pages differ at all, be it in one place, line or word of the title: where nothing does, the
    common text is all that they say. (Without that an equal page under an equal title is kept in doubt; the AUC on
    sources not fitted on is the same, .963.)
    """
    title = pair.kept.title
    if not title or not pair.new.title:
        return _UNTITLED
    equal = (1 + len(pair.found.alignment.pieces)) * (1 + pair.beside) * (1 + titles_differ(pair))
    if equal == 1:
        return 0.0
    new = pair.found.new
    return (1 - occurring(title, new.symbols[~new.differs]) / len(title)) * (1 - 1 / equal)


def occurring(words: frozenset[int], symbols: Symbols) -> int:
    """How many of these words a text has."""
    if not words:
        return 0
    occurs = np.zeros(1 << 16, dtype=np.bool_)
    occurs[symbols] = True
    return count_of(occurs[list(words)])


def lines_of_its_own(page: View, other: View) -> int:
    """Symbols of lines of text around a main text that the other page has nowhere."""
    return unknown_lines(page.around.asides, other)


def links_of_its_own(page: View, other: View) -> int:
    """The same of lines of links."""
    return unknown_lines(page.around.link_lines, other)


def unknown_lines(lines: dict[int, int], other: View) -> int:
    """Symbols of lines that the other page has nowhere."""
    last, asides, links = other.around.last, other.around.asides, other.around.link_lines
    unknown = [line for line in lines if line <= last and line not in asides and line not in links]
    return sum(lines[line] for line in set(unknown).difference(other.main.blocks.hashes)) if unknown else 0


def shortness(pair: Pair) -> float:
    """How short the new page's own text is."""
    return max(0.0, math.log(200 / (1 + pair.new.own_count)))


def slots(pair: Pair) -> int:
    """Differences in furniture on both sides."""
    new, kept = pair.found.count, pair.found.count_kept
    own, size, kept_size = new[:, OWN] + kept[:, OWN], new[:, EVERY], kept[:, EVERY]
    return count_of((own == 0) & (size > 0) & (kept_size > 0))


def exchanged_values(pair: Pair) -> int:
    """How many numbers and values, in digits or in words, stand in the place of others."""
    return int(np.minimum(pair.found.count[:, OWN_VALUE], pair.found.count_kept[:, VALUE]).sum())


def share_of_differences(pair: Pair, count: int) -> float:
    """Which share of all differences these are."""
    return count / max(1, len(pair.found.alignment.pieces))


def titles_differ(pair: Pair) -> int:
    """How many words one title has that the other lacks: the greater of the two counts."""
    new, kept = pair.new.title, pair.kept.title
    return max(len(new - kept), len(kept - new)) if new and kept else 0


def titles_told(pair: Pair) -> int:
    """Words in which the titles differ, that the texts differ in too."""
    new, kept = pair.new.title, pair.kept.title
    return min(told_words(new - kept, pair.found.new), told_words(kept - new, pair.found.kept))


def told_words(words: frozenset[int], side: Side) -> int:
    """How many of these words are in the text what only it says."""
    return occurring(words, side.symbols[side.is_new])


def listed(pair: Pair) -> float:
    """How much more a kept page of another title says that links to the new one: it is a list, and this an original.

    An article links to its print view, its digest and its second part, too, which have its title.
    """
    if not pair.kept.links_to(pair.new):
        return 0.0
    is_titled = pair.new.title and pair.kept.title
    return pair.kept_uncovered * (1 - title_overlap(pair.new.title, pair.kept.title) if is_titled else 1.0)


def lists(pair: Pair) -> float:
    """How much the titles differ, of a new page that links to the kept one: it is a list, and the kept one in it."""
    return 1 - title_overlap(pair.new.title, pair.kept.title) if pair.new.links_to(pair.kept) else 0.0


def kept_links(pair: Pair) -> float:
    """How much of what the kept page has more is links: a listing."""
    return pair.kept_uncovered * min(1.0, _LINKS * len(pair.kept.around.links) / max(1, pair.kept.own_count))
