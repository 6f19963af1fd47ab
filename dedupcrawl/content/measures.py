"""Measures: two pages side by side, and what is counted of their differences.

Each measure is one number about a pair; which of them speaks for or against, and how much, is said by
`dedupcrawl.content.features` and the model.
"""

from __future__ import annotations

import math
from collections import Counter

import msgspec
import numpy as np

from dedupcrawl.content.differences import Counts, Differences, Flags, Side
from dedupcrawl.content.tiles import Symbols
from dedupcrawl.content.view import View, url_words
from dedupcrawl.sites import host_of

_EDGE, _EDGE_SHARE = 12, 0.04  # symbols at either end of a text, where bylines and datelines stand
_LONG_EXCHANGE = 8  # symbols; what is longer is not counted as the same exchange twice
_LINKS = 20  # symbols for a link, of a text that is nothing but links


class Pair(msgspec.Struct, frozen=True, gc=False):
    """A new page beside a kept one.

    Attributes:
        new: The new page.
        kept: The kept one.
        found: Where their main texts differ.
        middle: Which symbols of the new text stand at neither end.
        kept_middle: Which of the kept text.
        exchanged: Which differences are words of one page alone in whose place the other has words of its own.
        template: How much of the new page is furniture that it may share with the kept one.
        uncovered: Share of the new page's own text that does not stand in the kept page.
        kept_uncovered: Share of the kept page's own text that does not stand in the new page.
        exchanges: How many of the exchanged differences are in own text.
        values: How many short differences in own text are numbers or values.
        reversals: How many short differences are a negation or an antonym.
    """

    new: View
    kept: View
    found: Differences
    middle: Flags
    kept_middle: Flags
    exchanged: Flags
    template: float
    uncovered: float
    kept_uncovered: float
    exchanges: int
    values: int
    reversals: int

    @classmethod
    def of(cls, new: View, kept: View) -> Pair:
        """Lay two pages side by side."""
        found = Differences.of(new, kept)
        exchanged = (found.count(found.new.is_new) > 0) & (found.count_kept(found.kept.is_new) > 0)
        is_of_one_host = host_of(new.url).removeprefix("www.") == host_of(kept.url).removeprefix("www.")
        template = new.furniture if is_of_one_host else 0.0
        own = found.count(found.new.own) + found.count_kept(found.kept.own) > 0
        return cls(
            new,
            kept,
            found,
            middle(len(found.new.own)),
            middle(len(found.kept.own)),
            exchanged,
            template,
            uncovered(found.new, new, kept),
            uncovered(found.kept, kept, new),
            count_of(exchanged & own),
            found.values(),
            found.reversed(),
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
    return (int(np.count_nonzero(side.differs & side.own)) + beyond) / max(1, page.own_count)


def log_of(count: float) -> float:
    """The logarithm of a count and one."""
    return math.log1p(count)


def count_of(flags: Flags) -> int:
    """How many are flagged."""
    return int(np.count_nonzero(flags))


def longest(side: Side, flags: Flags, *, inside: bool) -> int:
    """Most flagged symbols in one run of symbols that differ, before, after or (`inside`) between what is the same."""
    differs = side.differs
    edges = np.flatnonzero(np.diff(differs, prepend=False, append=False))
    begins, ends = edges[::2], edges[1::2]
    if inside:
        is_inside = (begins > 0) & (ends < len(differs))
        begins, ends = begins[is_inside], ends[is_inside]
    if not len(begins):
        return 0
    before = np.concatenate(([0], flags.cumsum()))
    return int((before[ends] - before[begins]).max())


def most_frequent(symbols: Symbols) -> int:
    """How often the most frequent symbol stands there."""
    return int(np.unique(symbols, return_counts=True)[1].max()) if len(symbols) else 0


def title_overlap(one: Symbols, other: Symbols) -> float:
    """Dice's coefficient; 1 where either page has no title."""
    if not len(one) or not len(other):
        return 1.0
    return 2 * len(np.intersect1d(one, other, assume_unique=True)) / (len(one) + len(other))


def only_here(one: Symbols, other: Symbols) -> Symbols:
    """The words that only one has."""
    return np.setdiff1d(one, other, assume_unique=True)


def told_words(words: Symbols, side: Side) -> int:
    """How many of these words are in the text what only it says."""
    return len(np.intersect1d(words, side.symbols[side.is_new]))


def lines_of_its_own(page: View, other: View) -> int:
    """Symbols of lines of text around a main text that the other page has nowhere."""
    return unknown_lines(page.around.asides, other)


def links_of_its_own(page: View, other: View) -> int:
    """The same of lines of links."""
    return unknown_lines(page.around.link_lines, other)


def unknown_lines(lines: dict[int, int], other: View) -> int:
    """Symbols of lines that the other page has nowhere."""
    if not lines:
        return 0
    known, last = {*other.around.asides, *other.around.link_lines, *other.main.blocks.hashes}, other.around.last
    return sum(size for line, size in lines.items() if line <= last and line not in known)


def shortness(pair: Pair) -> float:
    """How short the new page's own text is."""
    return max(0.0, math.log(200 / (1 + pair.new.own_count)))


def slots(pair: Pair) -> int:
    """Differences in furniture on both sides."""
    found = pair.found
    own = found.count(found.new.own) + found.count_kept(found.kept.own)
    both = (found.count(~found.new.own) > 0) & (found.count_kept(~found.kept.own) > 0)
    return count_of(both & (own == 0))


def exchanged_numbers(pair: Pair) -> Counts:
    """Of each difference, how many new numbers stand in place of others."""
    found = pair.found
    news = found.count(found.new.is_number & found.new.is_new & found.new.own)
    return np.minimum(news, found.count_kept(found.kept.is_number))


def repeated(pair: Pair) -> int:
    """How often the same words were replaced by the same others."""
    pieces = pair.found.alignment.pieces[pair.exchanged]
    new, kept = pair.found.new.symbols, pair.found.kept.symbols
    counts = Counter(
        (new[begin:end].tobytes(), kept[kept_begin:kept_end].tobytes())
        for begin, end, kept_begin, kept_end in pieces.tolist()
        if end - begin <= _LONG_EXCHANGE and kept_end - kept_begin <= _LONG_EXCHANGE
    )
    return max(counts.values(), default=0)


def protagonist(pair: Pair) -> int:
    """How often both pages have a word that the other has nowhere: the lesser of the two counts."""
    new, kept = pair.found.new, pair.found.kept
    return min(most_frequent(new.symbols[new.is_new & new.own]), most_frequent(kept.symbols[kept.is_new & kept.own]))


def titles_exchanged(pair: Pair) -> int:
    """How many words each title has that the other lacks: the lesser of the two counts."""
    new, kept = pair.new.title, pair.kept.title
    return min(len(only_here(new, kept)), len(only_here(kept, new))) if len(new) and len(kept) else 0


def titles_told(pair: Pair) -> int:
    """Words in which the titles differ, that the texts differ in too."""
    new, kept = pair.new.title, pair.kept.title
    return min(told_words(only_here(new, kept), pair.found.new), told_words(only_here(kept, new), pair.found.kept))


def addresses_told(pair: Pair) -> int:
    """Words and numbers in which the addresses differ, that the texts or titles differ in too."""
    new, kept = url_words(pair.new.url), url_words(pair.kept.url)
    return min(told_words(only_here(new, kept), pair.found.new), told_words(only_here(kept, new), pair.found.kept))


def listed(pair: Pair) -> float:
    """How much more a kept page of another title says that links to the new one: it is a list, and this an original.

    An article links to its print view, its digest and its second part, too, which have its title.
    """
    if not pair.kept.links_to(pair.new):
        return 0.0
    is_titled = len(pair.new.title) and len(pair.kept.title)
    return pair.kept_uncovered * (1 - title_overlap(pair.new.title, pair.kept.title) if is_titled else 1.0)


def titles_of_equals(pair: Pair) -> float:
    """Of a shop's products many have one description: where the texts are equal, the titles say what they are about."""
    equal = max(0.0, 1 - pair.uncovered - pair.kept_uncovered)
    return pair.template * equal * log_of(titles_exchanged(pair))


def lists(pair: Pair) -> float:
    """How much the titles differ, of a new page that links to the kept one: it is a list, and the kept one in it."""
    return 1 - title_overlap(pair.new.title, pair.kept.title) if pair.new.links_to(pair.kept) else 0.0


def kept_links(pair: Pair) -> float:
    """How much of what the kept page has more is links: a listing."""
    return pair.kept_uncovered * min(1.0, _LINKS * len(pair.kept.around.links) / max(1, pair.kept.own_count))
