"""Features: what the typed differences of two pages come to, each a few lines with a name and a sign.

The model (`dedupcrawl.content.model`) adds them up. A feature is bounded and never speaks the other way: "against" ones
make it no more probable that the new page duplicates the kept one. Counts are taken as
log(1 + count), for the second changed word tells less than the first.

They are few because few tell something about pages of other sources. Of some 90 that were tried, 22 were left
when one after the other was taken away as long as pages of sources that the model had not seen were judged no worse:
the mean AUC of the read sources rose from .949 to .963 by it. `items` came later, because lists
of a shop were dropped for lists of other products: with it .981 of the duplicates of an archive that the model has not
seen are found at 98 % precision, .977 without.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log, log1p
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content.differences import Differences, Side
from dedupcrawl.content.view import View
from dedupcrawl.core.alignment import align
from dedupcrawl.core.diff import (
    ADDED,
    CLOSING,
    COUNTED,
    DATED,
    DIFFERENCES,
    FIGURED,
    FILLER,
    FOOT,
    HEAD,
    LEFT_OUT,
    LINE,
    MEASURED,
    NAMED,
    RENAMED,
    REPLACED,
    REWORDED,
    SECTIONS,
    SENTENCE,
    SLOT,
    SWAPPED,
    TOP,
    TURNED,
    differences,
    occurring,
)

Counts = tuple[tuple[int, ...], ...]
"""Shape (DIFFERENCES, SECTIONS)."""

_LINKS = 20  # symbols for a link, of a text that is nothing but links
_UNTITLED = 0.4  # where a page has no title: the mean of `untold_title` over the labelled pairs is .44


class Pair(msgspec.Struct, frozen=True, gc=False):
    """A new page beside a kept one."""

    new: View
    kept: View
    found: Differences  # where their main texts differ
    counts: Counts  # of each kind and place, how many of these differences there are
    title_counts: Counts  # of each kind and place, how many differences their titles have
    is_of_one_host: bool  # whether both are pages of one host
    template: float  # how much of the new page is furniture that it may share with the kept one
    uncovered: float  # share of the new page's own text that does not stand in the kept page
    kept_uncovered: float  # share of the kept page's own text that does not stand in the new page
    beside: int  # symbols of lines of text around the new main text that the kept page has nowhere

    @classmethod
    def of(cls, new: View, kept: View) -> Pair:
        """Lay two pages side by side."""
        found = Differences.of(new, kept)
        is_of_one_host = new.host == kept.host
        return cls(
            new,
            kept,
            found,
            counts_of(found.rows),
            counts_of(title_rows(new, kept)),
            is_of_one_host,
            new.furniture if is_of_one_host else 0.0,
            uncovered(found.tally.uncovered, new, kept),
            uncovered(found.tally.kept_uncovered, kept, new),
            unknown_lines(new.around.asides, kept),
        )


def counts_of(rows: NDArray[np.uint8]) -> Counts:
    """Of each kind and place, how many of some differences there are."""
    counts = np.bincount(rows[:, 0].astype(int) * SECTIONS + rows[:, 1], minlength=DIFFERENCES * SECTIONS)
    return tuple(map(tuple, counts.reshape(DIFFERENCES, SECTIONS).tolist()))


def title_rows(new: View, kept: View) -> NDArray[np.uint8]:
    """The differences of two titles, as those of two texts; none where either page has no title."""
    (here, kinds), (there, kept_kinds) = new.title_text, kept.title_text
    if not here or not there or here == there:
        return np.zeros((0, 3), dtype=np.uint8)
    in_kept, in_new, pieces, _ = align(here, there)
    one = here, kinds, b"\1" * len(kinds), [len(kinds)]
    other = there, kept_kinds, b"\1" * len(kept_kinds), [len(kept_kinds)]
    rows, *_ = differences(one, other, in_kept, in_new, pieces, new.secret)
    return np.frombuffer(rows, np.uint8).reshape(-1, 3)


def uncovered(differs: int, page: View, other: View) -> float:
    """Share of a page's own text that does not stand in the other page, of which so many symbols differ."""
    beyond = 0 if page.main.tail_hash == other.main.tail_hash else page.main.tail
    return (differs + beyond) / max(1, page.own_count)


def scattered(pair: Pair) -> float:
    """Share of the new text between the first and the last common symbol that is not common."""
    tally = pair.found.tally
    return 1 - tally.common / tally.spread if tally.common else 0.0


def density(pair: Pair) -> float:
    """Places that differ for twenty symbols, where most of the common text stands."""
    tally = pair.found.tally
    return min(1.0, 20 * tally.amid / tally.dense) if tally.common else 0.0


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
    equal = (1 + len(pair.found.pieces)) * (1 + pair.beside) * (1 + titles_differ(pair))
    if equal == 1:
        return 0.0
    return (1 - told_words(title, pair.found.new, differs=False) / len(title)) * (1 - 1 / equal)


def told_words(words: frozenset[int], side: Side, *, differs: bool) -> int:
    """How many of these words are in the text what only it says, or what both say."""
    if not words:
        return 0
    said = side.symbols[side.is_new if differs else ~side.differs]
    return occurring(np.fromiter(words, dtype=np.uint16, count=len(words)).tobytes(), said.tobytes())


def unknown_lines(lines: dict[int, int], other: View) -> int:
    """Symbols of lines around a main text, of text or of links, that the other page has nowhere."""
    if not lines:
        return 0
    around = other.around
    last, asides, links = around.last, around.asides, around.link_lines
    unknown = [line for line in lines if line <= last and line not in asides and line not in links]
    return sum(lines[line] for line in set(unknown).difference(other.blocks)) if unknown else 0


def shortness(pair: Pair) -> float:
    """How short the new page's own text is."""
    return max(0.0, log(200 / (1 + pair.new.own_count)))


def share_of_differences(pair: Pair, count: int) -> float:
    """Which share of all differences these are."""
    return count / max(1, len(pair.found.pieces))


def titles_differ(pair: Pair) -> int:
    """How many words one title has that the other lacks: the greater of the two counts."""
    new, kept = pair.new.title, pair.kept.title
    return max(len(new - kept), len(kept - new)) if new and kept else 0


def titles_told(pair: Pair) -> int:
    """Words in which the titles differ, that the texts differ in too."""
    new, kept = pair.new.title, pair.kept.title
    mine, its = (new - kept, pair.found.new), (kept - new, pair.found.kept)
    return min(told_words(words, side, differs=True) for words, side in (mine, its))


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


def moved(pair: Pair) -> float:
    """Places where the order differs, of a page in a template or of a short one that is links: it is another list.

    Of prose with its blocks shuffled .991 is found by it, .973 where any short page counts (English pages made for it).
    """
    return log1p(pair.found.moves) * max(pair.template, shortness(pair) * _link_share(pair.new))


def items(pair: Pair) -> float:
    """Paragraphs that some of the site's pages repeat, and not nearly all, and the kept page has nowhere.

    They are furniture, and lists of products that other lists have, in another order, differ in nothing else.
    """
    new, kept, around = pair.new, pair.kept, pair.kept.said_around
    repeated = new.blocks.difference(new.site.own(new.blocks), new.everywhere, kept.blocks)
    known = around.asides.keys() | around.link_lines.keys()
    return log1p(sum(block <= around.last and block not in known for block in repeated))


def kept_links(pair: Pair) -> float:
    """How much of what the kept page has more is links: a listing."""
    return pair.kept_uncovered * _link_share(pair.kept)


def _link_share(page: View) -> float:
    return min(1.0, _LINKS * len(page.around.links) / max(1, page.own_count))


Sign = Literal["against", "either"]
Unit = Literal["count", "share", "flag", "score"]


class Feature(msgspec.Struct, frozen=True):
    """One thing that speaks for or against two pages being the same."""

    name: str  # in the model and in evidence
    sign: Sign  # which way it speaks
    value: Callable[[Pair], float]  # its value for a pair
    says: str  # what it counts, for people
    # what its value is: log(1 + count) of a "count"; a "share" in [0, 1]; a "flag", 0 or 1; or a "score". A model
    # takes a count or score for no more extreme than 98 % of what it was fitted on, a share as it is
    unit: Unit = "score"


FEATURES: tuple[Feature, ...] = (
    Feature(
        "novel_share",
        "against",
        lambda p: p.found.tally.novel / max(1, p.new.own_count),
        "share of its own text that the kept page has nowhere in this context",
        "share",
    ),
    Feature(
        "novel_middle",
        "against",
        lambda p: log1p(p.found.tally.novel_inside),
        "words between beginning and end that the kept page has nowhere in this context",
        "count",
    ),
    Feature(
        "new_words_middle",
        "against",
        lambda p: log1p(p.found.tally.new_inside),
        "words and numbers between beginning and end that the kept page has nowhere",
        "count",
    ),
    Feature("scattered", "against", scattered, "share of other text amid the common text", "share"),
    Feature("density", "against", density, "how densely differences stand in the common text", "share"),
    Feature("differences", "either", lambda p: log1p(len(p.found.pieces)), "places that differ", "count"),
    Feature(
        "items", "against", items, "paragraphs that some other pages of its site have, and the kept one lacks", "count"
    ),
    Feature("slots", "against", lambda p: log1p(sum(p.counts[SLOT])), "values that differ in furniture", "count"),
    Feature(
        "furniture",
        "either",
        lambda p: 1 - p.found.tally.own / max(1, len(p.found.new.own)),
        "share of its main text that the site repeats",
        "share",
    ),
    Feature("moved", "against", moved, "places where the order differs, of a list or a page in a template"),
    Feature(
        "beside", "against", lambda p: log1p(p.beside), "words around its main text that the kept page lacks", "count"
    ),
    Feature(
        "beside_links_templated",
        "against",
        lambda p: p.template * log1p(unknown_lines(p.new.around.link_lines, p.kept)),
        "words in links around it that the kept page lacks, of a page in a template",
    ),
    Feature(
        "untold_title",
        "against",
        untold_title,
        "share of the kept page's title that the common text lacks, where anything differs",
        "share",
    ),
    Feature(
        "titles_told", "against", lambda p: log1p(titles_told(p)), "words that differ in titles and texts", "count"
    ),
    Feature(
        "titles_templated",
        "against",
        lambda p: p.template * log1p(titles_differ(p)),
        "words in which the titles differ, of a page in a template",
    ),
    Feature("listed", "against", listed, "share of the kept page that is more than this one, to which it links"),
    Feature("lists", "against", lists, "difference of the titles, of a page that links to the kept one"),
    Feature(
        "kept_links", "against", kept_links, "share of the kept page that is more than this one, in links", "share"
    ),
    Feature("short", "either", shortness, "how short its own text is"),
    Feature("one_host", "either", lambda p: float(p.is_of_one_host), "both pages of one host", "flag"),
)
"""In the order in which they are told."""


def features(pair: Pair) -> list[float]:
    """The values of `FEATURES`."""
    return [feature.value(pair) for feature in FEATURES]
