"""Names: how the titles and headlines of two pages differ, as features count it.

A title or a headline may be all that tells two pages of a site apart; an editor's other headline over one text, or a
title that only names the site, tells nothing. So it counts whether what differs is said by the texts.
"""

from __future__ import annotations

import numpy as np

from dedupcrawl.content.differences import Side
from dedupcrawl.content.pair import Pair, own_differences
from dedupcrawl.core.diff import occurring

_UNTITLED = 0.4  # where a page has no title: the mean of `untold_title` over the labelled pairs is .44
# Words of a page that its headline may tell apart from another one. (With it .84 of the contrast pairs of short pages
# that differ in the headline alone are kept, by fits without their language, .82 without; set by hand.)
_SHORT = 150


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


def titles_differ(pair: Pair) -> int:
    """How many words one title has that the other lacks: the greater of the two counts."""
    new, kept = pair.new.title, pair.kept.title
    return max(len(new - kept), len(kept - new)) if new and kept else 0


def titles_told(pair: Pair) -> int:
    """Words in which the titles differ, that the texts differ in too."""
    new, kept = pair.new.title, pair.kept.title
    mine, its = (new - kept, pair.found.new), (kept - new, pair.found.kept)
    return min(told_words(words, side, differs=True) for words, side in (mine, its))


def untold_headline(pair: Pair) -> float:
    """Share of the words of the new page's headline that the common text lacks, of two of a host that differ in it.

    One that is made of words of a text is another headline of it, one of other words may be all that tells it apart.
    """
    return _untold(pair.new.headline_words, pair) if own_differences(pair.headline_counts) else 0.0


def _untold(words: frozenset[int], pair: Pair) -> float:
    """Share of these words that the common text lacks."""
    return 1 - told_words(words, pair.found.new, differs=False) / max(1, len(words))


def framed_headline(pair: Pair) -> float:
    """How much the headlines of two pages of a host have in common that differ: those of a series differ in a word."""
    if not own_differences(pair.headline_counts):
        return 0.0
    return title_overlap(pair.new.headline_words, pair.kept.headline_words)


def headline_alone(pair: Pair) -> float:
    """The same of short pages: under a few words that many pages of a site have, the headline tells them apart.

    A text without a headline is named by its title, with the name of its site or without.
    """
    if pair.new.own_words >= _SHORT or not pair.is_of_one_host:
        return 0.0
    if pair.new.headline or pair.kept.headline:
        return untold_headline(pair)
    new, kept = pair.new.title, pair.kept.title
    return 0.0 if new <= kept or kept <= new else _untold(new, pair)
