"""Shingles: pages of which a share stands in a kept page, by sampled runs of four symbols (Broder 1997).

The papers' checks find what is nearly the same from end to end. This one finds excerpts, cuts, pages that were edited
all over, moved blocks and pages in another frame. It finds different pages of one template too, so a match is only a
candidate, and evidence decides (`dedupcrawl.content.evidence`).

**Sample.** Of the hashes of all shingles those are kept that are 0 modulo `MODULUS` ("0 mod m" of the paper). Whether
one is kept depends only on the shingle, so the share of one page's sample that another page's sample has estimates how
much of the page stands in the other (the paper's containment), also for an excerpt of a long page. A page that would
have fewer than `FEWEST` is sampled at half the modulus, a quarter and so on; two pages of different moduli are compared
at the larger one, which the smaller divides. Only the symbols that an outline holds are looked at, because there is no
evidence about the others.

**Search.** With n sampled shingles, ⌈αn⌉ of which a keeper must have, a keeper has at least one of any n − ⌈αn⌉ + 1
(prefix filter: Chaudhuri, Ganti, Kaushik 2006). So the most frequent ⌈αn⌉ − 1 need no look-up. They are looked up all
the same while that is cheap, because a page must then share more to be a candidate. If even the rarest n − ⌈αn⌉ + 1
have more than `MOST_POSTINGS` postings (templates of large sites), only so many are read, rarest first; and of more
than `MOST_PAGES` candidates those that share most are returned. Below these bounds the search misses nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from dedupcrawl.content.checks.base import Check, Keys
from dedupcrawl.core.main_outline import OUTLINE_SYMBOLS
from dedupcrawl.core.postings import Postings
from dedupcrawl.core.signatures import ShingleSearch, sampled_shingles, shared_shingles, shingle_keys
from dedupcrawl.core.symbols import SYMBOLS_VERSION, SymbolText
from dedupcrawl.page import Page
from dedupcrawl.setting import parameter, share, whole

SHINGLE = 4
"""w: symbols of a shingle."""
LEVELS = 4  # moduli: 16, and for short pages 8, 4, 2 and 1; set by hand
MODULUS = 1 << LEVELS
"""m: one in so many shingles is kept."""
FEWEST = 8
"""Shingles that a page keeps at least, when it has as many."""
MOST_POSTINGS = 2_000
"""Postings that a search reads at most."""
MOST_PAGES = 200
"""Candidates that a search returns at most."""

_CHEAP = 500  # postings that are read although the prefix filter does not ask for them
_PAYLOAD_BITS = 32  # what a posting of eight bytes has beside a shingle of four


@dataclass(frozen=True, slots=True)
class ShinglesCheck(Check):
    """One-way: pages of whose sampled shingles a kept page has the share α.

    A signature is the level (1 byte: the modulus is 2 to that power) and the sampled shingles (4 bytes each,
    little-endian, ascending). A key is a shingle (32 bits), and as its payload how many the page has and its level.
    """

    share: float = parameter(  # α
        "SHINGLES_SHARE",
        0.3,
        share(),
        "The share of a page's sampled shingles that a kept page must have.",
        loosest=min,
    )
    min_symbols: int = parameter(  # what fewer say stands in many pages
        "SHINGLES_MIN_SYMBOLS",
        12,
        whole(SHINGLE, 10_000),
        "A page with fewer symbols is not searched for by its shingles.",
    )

    name: ClassVar[str] = "shingles"
    payload_bits: ClassVar[int] = _PAYLOAD_BITS

    def header(self) -> Mapping[str, str | int | float]:
        """What signatures and keys depend on; the threshold is not among it."""
        return {
            "symbols": SYMBOLS_VERSION,
            "shingle": SHINGLE,
            "modulus": MODULUS,
            "fewest": FEWEST,
            "first": OUTLINE_SYMBOLS,
            "min_symbols": self.min_symbols,
            "hash": "murmur3_fmix64",
        }

    def signature(self, page: Page, text: SymbolText) -> bytes | None:
        """Level and sample; None for a text of fewer than `min_symbols`."""
        if len(text) < max(SHINGLE, self.min_symbols):
            return None
        level, sample = sampled_shingles(text, OUTLINE_SYMBOLS, LEVELS, FEWEST)
        return bytes((level,)) + sample

    def keys(self, signature: bytes) -> Keys:
        """One a sampled shingle."""
        return shingle_keys(signature)

    def candidates(self, signature: bytes, postings: Postings) -> list[int]:
        """Pages that share α of the sample, at the larger of both moduli; more than these only where some is unread."""
        search = ShingleSearch(postings, signature, LEVELS, self.share)
        return search.candidates(_CHEAP, MOST_POSTINGS, MOST_PAGES)

    def contained(self, signature: bytes, postings: Postings) -> list[int]:
        """Kept pages of whose samples this page has the share α; more than these where that cannot be told."""
        return ShingleSearch(postings, signature, LEVELS, self.share).contained(MOST_POSTINGS, MOST_PAGES)

    def compare(self, new: bytes, kept: bytes) -> float | None:
        """The share of the sample of `new` that `kept` has, when it reaches α."""
        mine, shared = shared_shingles(new, kept)
        return shared / mine if shared and shared >= mine * self.share - 1e-9 else None
