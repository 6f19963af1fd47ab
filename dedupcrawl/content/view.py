"""View: a page as it is compared, by what is known of its site when that is done.

The same of a page at hand and of one that is kept, of which there is but its outline, the hashes of what stands around
its main text, and its title. Blocks whose skeleton the site repeats are furniture; what is left is the page's own text.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from itertools import compress

import msgspec
import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content.around import Around
from dedupcrawl.content.main_outline import READ_LAST, MainOutline, read, symbols_of
from dedupcrawl.core.digests import NO_SECRET, Secret
from dedupcrawl.core.links import link_hash, local_form
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.core.template import RECURRING, Template
from dedupcrawl.core.words import IDEOGRAPH, LETTER, kinds_of
from dedupcrawl.sites import host_alike

TITLE = 200
"""Characters of a title that are looked at, and kept."""

LITTLE = 12  # set by hand
"""Symbols of own text, below which some of a page's furniture counts as its own: all but what nearly all pages of its
site have; and where that is as little, all of it, for the page says nothing else."""


class View(msgspec.Struct, frozen=True, dict=True):
    """A page as it is compared. Most are told apart by their main texts, so the rest is made when asked for."""

    url: str  # where it was found
    titled: str
    outline: bytes  # its main text, as `main_outline.packed` makes it
    all_around: Around | bytes  # what stands around its main text; as bytes, of a kept page
    site: Template  # what its host repeats
    secret: Secret = NO_SECRET  # of the index
    headline: str = ""

    @cached_property
    def main(self) -> MainOutline:
        """Its main text."""
        return read(self.outline, self.secret)

    @cached_property
    def title(self) -> frozenset[int]:
        """The symbols of its title."""
        return words_of(self.titled[:TITLE], self.secret)

    @cached_property
    def title_text(self) -> tuple[bytes, bytes]:
        """The symbols of its title in their order, two bytes each, and their kinds."""
        return _told(self.titled, self.secret)

    @cached_property
    def headline_text(self) -> tuple[bytes, bytes]:
        """The same of its headline."""
        return _told(self.headline, self.secret)

    @cached_property
    def headline_words(self) -> frozenset[int]:
        """The symbols of its headline."""
        return words_of(self.headline[:TITLE], self.secret)

    @cached_property
    def is_named_by_headline(self) -> bool:
        """Whether its title says its headline, of two words or more, and something else that need not be its name."""
        return len(self.headline_words) > 1 and self.headline_words <= self.title

    @cached_property
    def host(self) -> str:
        """Its host, be it with "www." or not."""
        return host_alike(self.url)

    @cached_property
    def blocks(self) -> frozenset[int]:
        """The blocks of its main text, by their hashes."""
        return frozenset(self.main.hashes)

    @cached_property
    def everywhere(self) -> set[int]:
        """Blocks of its main text that nearly all pages of its site have."""
        blocks = self.main.hashes
        return set(compress(blocks, self.site.everywhere(blocks)))

    @cached_property
    def _no_furniture(self) -> NDArray[np.bool_]:
        return self.main.keep(self.site.recurring(self.main.hashes))

    @cached_property
    def own(self) -> NDArray[np.bool_]:
        """Shape (n,): which symbols of its main text are its own."""
        own = self._no_furniture
        if self._is_little(own):  # names of products that many lists have tell the lists apart
            own = self.main.keep(self.site.everywhere(self.main.hashes))
        return np.ones(len(own), dtype=np.bool_) if self._is_little(own) else own

    def _is_little(self, own: NDArray[np.bool_]) -> bool:
        return int(np.count_nonzero(own)) + self.main.tail < LITTLE

    @cached_property
    def own_count(self) -> int:
        """How many of all its symbols are its own, tail included."""
        return int(np.count_nonzero(self.own)) + self.main.tail

    @cached_property
    def own_words(self) -> int:
        """How many words its own text has: an ideograph is half of one, a letter of Thai and its like a quarter."""
        kinds = np.frombuffer(self.main.kinds, dtype=np.uint8)[self.own]
        letters, ideographs = (int(np.count_nonzero(kinds & bit)) for bit in (LETTER, IDEOGRAPH))
        return len(kinds) + self.main.tail - (3 * letters + 2 * ideographs) // 4

    @cached_property
    def said_around(self) -> Around:
        """What stands around its main text; of a kept page, what is no furniture."""
        around = self.all_around
        return Around.from_bytes(around) if isinstance(around, bytes) else around

    @cached_property
    def around(self) -> Around:
        """What stands around its main text and is no furniture."""
        return self.said_around.without(self.site)

    @property
    def kept_around(self) -> bytes:
        """What an index keeps of what stands around its main text: what is no furniture, and all its resources.

        A picture that recurs on the pages of a small site may be one page's own once there are more: which are its own
        is asked anew whenever it is compared.
        """
        return msgspec.structs.replace(self.around, resources=self.said_around.resources).to_bytes()

    @cached_property
    def furniture(self) -> float:
        """Share of all that it says, around its main text too, that is furniture; of a kept page not known.

        All of it, before a host's furniture is known: an error should keep a page.
        """
        if self.site.pages < RECURRING:
            return 1.0
        own = int(np.count_nonzero(self._no_furniture)) + self.main.tail + self.around.size
        total = len(self._no_furniture) + self.main.tail + self.said_around.size
        return 1 - own / total if total else 0.0

    @property
    def is_all_own(self) -> bool:
        """Whether no furniture was told apart: it has none, or too little else to be compared by."""
        return bool(self.own.all())

    def links_to(self, other: View) -> bool:
        """Whether this page has a link to another one of its host."""
        if self.host != other.host or not self.around.links:
            return False
        return self.around.links_to((link_hash(local_form(other.url)), *other.said_around.also_at))


def _told(text: str, secret: Secret) -> tuple[bytes, bytes]:
    line = SymbolText.of((" ".join(text[:TITLE].split()),), secret)
    return symbols_of(line).tobytes(), kinds_of(line)


@lru_cache(maxsize=READ_LAST)
def words_of(text: str, secret: Secret = NO_SECRET) -> frozenset[int]:
    """The symbols of a line."""
    return frozenset(symbols_of(SymbolText.of((text,), secret)).tolist())
