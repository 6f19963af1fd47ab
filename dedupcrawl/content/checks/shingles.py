"""Shingles: pages that have enough of their sampled runs of four symbols in common with a kept page (Broder 1997).

The papers' checks find pages that are nearly the same from end to end. This one finds excerpts, cuts, pages that were
edited all over, moved blocks and pages in another frame. It finds different pages of one template too, so a match is
only a candidate, and evidence decides (`dedupcrawl.content.evidence`).

**Sample.** The sample holds the shingles whose hashes are 0 modulo `MODULUS` ("0 mod m" of the paper). Whether it holds
a shingle depends only on the shingle, so the share of one page's sample that another page's sample has estimates how
much of the page stands in the other (the paper's containment), also for an excerpt of a long page. A page that would
have fewer than `FEWEST` is sampled at half the modulus, a quarter and so on; two pages of different moduli are compared
at the larger one, which the smaller divides. Only the symbols that an outline holds are read, because there is no
evidence about the others.

**Search.** With n sampled shingles, ⌈αn⌉ of which a keeper must have, a keeper has at least one of any n − ⌈αn⌉ + 1
(prefix filter: Chaudhuri, Ganti, Kaushik 2006). So the most frequent ⌈αn⌉ − 1 need no look-up. They are looked up all
the same while that is cheap, because a page must then share more to be a candidate. If even the rarest n − ⌈αn⌉ + 1
have more than `MOST_POSTINGS` postings (templates of large sites), only so many are read, those of the rarest shingles
first. If there are more than `MOST_PAGES` candidates, those that share most are returned. Below these bounds the search
misses nothing.
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
"""w: the symbols of a shingle."""
LEVELS = 4  # moduli: 16, and for short pages 8, 4, 2 and 1; set by hand
MODULUS = 1 << LEVELS
"""m: one in so many shingles is in the sample."""
FEWEST = 8
"""The fewest shingles in a sample, if the page has as many."""
MOST_POSTINGS = 2_000
"""The most postings that a search reads."""
MOST_PAGES = 200
"""The most candidates that a search returns."""

_CHEAP = 500  # postings that are read even if the prefix filter does not need them
_PAYLOAD_BITS = 32  # the rest of a key of eight bytes, besides a shingle of four


@dataclass(frozen=True, slots=True)
class ShinglesCheck(Check):
    """One-way: a kept page must have the share α of the new page's sampled shingles.

    A signature is the level (1 byte: the modulus is 2 to that power) and the sampled shingles (4 bytes each,
    little-endian, ascending). A key is a shingle (32 bits); its payload is the page's number of shingles and its level.
    """

    share: float = parameter(  # α
        "SHINGLES_SHARE",
        0.3,
        share(),
        "The share of a page's sampled shingles that a kept page must have.",
        loosest=min,
    )
    min_symbols: int = parameter(  # a few symbols may be common to many pages
        "SHINGLES_MIN_SYMBOLS",
        12,
        whole(SHINGLE, 10_000),
        "A page with fewer symbols is not searched for by its shingles.",
    )

    name: ClassVar[str] = "shingles"
    payload_bits: ClassVar[int] = _PAYLOAD_BITS

    def header(self) -> Mapping[str, str | int | float]:
        """What signatures and keys depend on; this does not include the threshold."""
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
        """Level and sample; None for a text with fewer than `min_symbols` symbols."""
        if len(text) < max(SHINGLE, self.min_symbols):
            return None
        level, sample = sampled_shingles(text, OUTLINE_SYMBOLS, LEVELS, FEWEST)
        return bytes((level,)) + sample

    def keys(self, signature: bytes) -> Keys:
        """A key for each sampled shingle."""
        return shingle_keys(signature)

    def candidates(self, signature: bytes, postings: Postings) -> list[int]:
        """Pages that share α of the sample, at the larger of both moduli; others only if some postings are unread."""
        search = ShingleSearch(postings, signature, LEVELS, self.share)
        return search.candidates(_CHEAP, MOST_POSTINGS, MOST_PAGES)

    def contained(self, signature: bytes, postings: Postings) -> list[int]:
        """Kept pages of whose samples this page has the share α; others too if that cannot be determined."""
        return ShingleSearch(postings, signature, LEVELS, self.share).contained(MOST_POSTINGS, MOST_PAGES)

    def compare(self, new: bytes, kept: bytes) -> float | None:
        """The share of the sample of `new` that `kept` has, if it reaches α."""
        mine, shared = shared_shingles(new, kept)
        return shared / mine if shared and shared >= mine * self.share - 1e-9 else None
