"""View: a page as it is compared, by what is known of its site when that is done.

The same of a page at hand and of one that is kept, of which there is but its outline, the hashes of what stands around
its main text, and its title. Blocks whose skeleton the site repeats are furniture; what is left is the page's own text.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec
import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content.around import Around
from dedupcrawl.content.furniture import RECURRING, Furniture
from dedupcrawl.content.links import local_form
from dedupcrawl.content.main_outline import MainOutline
from dedupcrawl.content.symbols import SymbolText
from dedupcrawl.content.word_kinds import symbols_of

_LITTLE = 12  # set by hand
"""Symbols of own text, below which a page's furniture counts as its own: it is all that the page says."""


class View(msgspec.Struct, frozen=True, gc=False):
    """A page as it is compared.

    Attributes:
        url: Where it was found.
        title: The symbols of its title.
        main: Its main text.
        own: Shape (n,): which symbols of that are its own text.
        own_count: How many of all its symbols, tail included.
        around: What stands around its main text and is no furniture.
        furniture: Share of all that it says, around its main text too, that is furniture: all of it, before a host's
            furniture is known; of a kept page not known.
    """

    url: str
    title: frozenset[int]
    main: MainOutline
    own: NDArray[np.bool_]
    own_count: int
    around: Around
    furniture: float

    @classmethod
    def of(cls, url: str, title: str, main: MainOutline, around: Around, furniture: Furniture) -> View:
        """Tell a page's own text from furniture."""
        blocks = main.blocks
        own = blocks.keep(furniture.recurring(blocks.hashes))
        count = own_symbols = int(np.count_nonzero(own))
        if count + main.tail < _LITTLE:
            own, count = np.ones(len(own), dtype=np.bool_), len(own)
        its_own = around.without(furniture)
        total = len(own) + main.tail + around.size
        share = 1 - (own_symbols + main.tail + its_own.size) / total if total else 0.0
        if furniture.pages < RECURRING:
            share = 1.0  # nothing is known yet: who errs shall keep a page
        return cls(url, words_of(title), main, own, count + main.tail, its_own, share)

    @property
    def is_all_own(self) -> bool:
        """Whether no furniture was told apart: it has none, or too little else to be compared by."""
        return bool(self.own.all())

    def links_to(self, other: View) -> bool:
        """Whether this page has a link to another one of its host."""
        return bool(self.around.links) and self.around.links_to(local_form(other.url))


@lru_cache(maxsize=32)  # of the page at hand, which is compared with others in turn
def words_of(text: str) -> frozenset[int]:
    """The symbols of a line."""
    return frozenset(symbols_of(SymbolText.of((text,))).tolist())
