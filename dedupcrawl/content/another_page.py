"""Another page: what no probability outweighs, because it is plain that the new page says what the kept one does not.

A logistic regression adds up shares, and knows what it was fitted on. Twenty changed figures are little in a page of
ten thousand words, and three hundred new words are, too; whoever looks for them finds them nowhere else. So these are
counted, and from the numbers below on the new page is none that may be dropped, whatever else holds. Each number lies
beyond what edits at random and the frames of other layouts come to on the tuning half of the labelled pages
(`benchmarks/labelled_pairs.py`).
"""

from __future__ import annotations

from dedupcrawl.content.facts import Facts

COVERED = 0.76
"""Least share of a new page's symbols that stand in the kept one."""

_LEAST_OWN, _MOST_OWN = 12, 240  # different symbols in one block
_OWN_SHARE = 20  # between these, one in so many of the page's symbols
_LEAST_AT_AN_END = 32  # there a frame may stand that is no part of the text
_REPLACED = 48  # symbols of a block in whose place the kept page has another
_ADDED = 288  # symbols at an end, whatever they say and whatever stands at the other
_FRAME = 96  # different symbols on either side of the common text, where they stand on both
_SIDES_OF_A_FRAME = 4  # times as much may stand on one side of it as on the other
_LEAST_OF_A_FRAME = 6  # on the lesser side
_FIGURES = 2  # beyond those that edits at random hit
_OF_THE_FIGURES = 16  # one in so many is no correction any more
_EDITED_ONE_IN = 100  # symbols; where fewer words were changed, nobody went through the text
_THROUGHOUT, _ONE_IN = 3, 200  # places; and one in so many symbols, and half of what differs: fewer are revisions
_FEW = 2  # pieces; where no more differ, one word that has moved is enough


def changed_words(facts: Facts) -> int:
    """Pieces that differ in words."""
    return facts.exchanged + facts.edits


def figures_by_edits(facts: Facts) -> float:
    """How many numbers edits at random would replace by numbers, at most."""
    numbers = facts.numbers_changed + facts.slots + facts.numbers_same
    return 3 * changed_words(facts) * (numbers / max(1, facts.symbols)) ** 2


def is_another(facts: Facts) -> bool:
    """Whether the new page is another one than the kept one, however alike they are."""
    return facts.covered < COVERED or says_more(facts) or _says_otherwise(facts)


def own_at_an_end(facts: Facts) -> int:
    """Different symbols before or after all that the pages share; 0 where a frame goes around it."""
    less, more = sorted((facts.own_before, facts.own_after))
    is_frame = less >= _LEAST_OF_A_FRAME and more <= min(_FRAME, _SIDES_OF_A_FRAME * less)
    return 0 if is_frame else more


def says_more(facts: Facts) -> bool:
    """Whether the new page says more, in blocks of its own.

    A twentieth of the page in one block does; of a long page that is much, but the next version of a manual has a
    sentence more, too, and 240 different symbols, some 300 words, are a page of their own wherever they stand.
    """
    much = min(facts.symbols / _OWN_SHARE, _MOST_OWN)
    return (
        facts.own >= max(_LEAST_OWN, much)
        or facts.replaced >= _REPLACED
        or own_at_an_end(facts) >= max(_LEAST_AT_AN_END, much)
        or facts.added_at_ends >= _ADDED
    )


def _says_otherwise(facts: Facts) -> bool:
    """Whether it says something else in the same words, but for few."""
    throughout = max(_THROUGHOUT, facts.symbols / _ONE_IN, facts.pieces / 2)
    return (
        _other_figures(facts)
        or facts.filled - figures_by_edits(facts) >= throughout
        or facts.rearranged >= throughout
        or facts.renamed >= throughout
        or _is_contrary(facts)
    )


def _is_contrary(facts: Facts) -> bool:
    """Whether hardly anything differs but a "not", an opposite, or names that have changed places."""
    words = changed_words(facts)
    return not facts.inserted and (
        (facts.contrary > 0 and words <= max(facts.contrary + 1, facts.symbols // _EDITED_ONE_IN))
        or (facts.moved > facts.moves and 2 * facts.moved >= words and (facts.moved > 1 or facts.pieces <= _FEW))
    )


def _other_figures(facts: Facts) -> bool:
    """Whether its figures are others: those of a text that was corrected are few of many, and words were, too."""
    figures = facts.figures_changed + facts.slots
    numbers = facts.numbers_changed + facts.numbers_same + facts.slots
    are_few = _OF_THE_FIGURES * figures < numbers and 2 * figures < changed_words(facts)
    return figures - figures_by_edits(facts) >= _FIGURES and not are_few
