"""MWO as a check: pages whose weighted terms overlap by at least a threshold.

**Search is exact and needs no order that both sides share.** The paper, like every prefix filter, sorts both records by
one global order, made of document frequencies; but these change with every page of a crawl. So only the new page is
cut to a prefix, in whatever order is cheapest at that moment, and kept pages are posted under all their terms:

1. Let P be some of the new page's terms, ρ the weight of its others, and t the threshold. What a kept page shares
   outside P is at most ρ, so a duplicate shares at least t − ρ inside P.
2. ρ < t alone would do. With ρ <= t − β (`MARGIN`) a page must share β inside P to be looked at any closer: nearly
   all that share a rare term by chance are out.
3. P is taken in the order of postings for their weight, as the index counts them now. Terms that no kept page has
   come first and cost nothing; when they already outweigh 1 − t there is nothing to find.
4. A posting holds its term's weight, so the overlap inside P is known exactly from postings alone, and the kept
   page's remaining weight too: the positional bound is `shared + min(left of one, left of the other)`.

**In a large index the search is bounded instead.** Postings of all but the rarest terms grow with the index. When
those of P are more than `MOST_POSTINGS`, the rarest terms are looked up, as many as have no more postings together: a
page may lack any of them, so many terms count for more than much weight. Of the pages that share enough of them
(`LEAST_ALIKE`) the `CLOSEST` are compared. Both go by the sum of the roots of what is shared, term by term: one heavy
term is shared by chance, many are not. What that loses is measured in docs/page-index.md; at worst a duplicate is
kept. Terms that more pages have are never read, so no term makes a search slow.

Keys do not depend on the threshold, so an index serves every threshold.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dedupcrawl.content import mwo, terms
from dedupcrawl.content.checks import mwo_search
from dedupcrawl.content.checks.base import Keys, PageIds, Postings, Probe, length_dissimilarity
from dedupcrawl.content.mwo import FieldWeights, Record
from dedupcrawl.content.symbols import SYMBOLS_VERSION, SymbolText
from dedupcrawl.page import Page
from dedupcrawl.setting import BELOW_1, Takes, parameter, share, whole

MARGIN = 0.3
"""β: the share of weight that a page must have in common with the prefix before it is looked at any closer."""

MOST_POSTINGS = 3 << 16
"""Postings that are read for one page, about half a millisecond; with a prefix that has more the search is bounded."""

LEAST_ALIKE = 0.225
"""Of the roots of the weights that a bounded search looks up, the share a page must have to be compared."""

CLOSEST = 24
"""Only so many of these are compared, those that have the most in common."""

_PAYLOAD_BITS = 32


@dataclass(frozen=True, slots=True)
class MwoCheck:
    """Pages that share `threshold` of their weight."""

    threshold: float = parameter("MWO_THRESHOLD", 0.5, share(), "Least MWO of duplicates.", loosest=min)  # t
    weights: str = parameter(
        "MWO_WEIGHTS",
        str(FieldWeights()),
        Takes(
            "weights as in 'main=1 title=2', of url, headings, title, same_site, other_sites, keywords, description, "
            "main",
            lambda value: str(FieldWeights.parse(value if isinstance(value, str) else "")),
        ),
        "What a term weighs in each field of a page.",
    )
    dropped: float = parameter(  # the dynamic threshold
        "MWO_DROPPED",
        0.1,
        BELOW_1,
        "The lightest terms are left out that make up at most this share of a page's weight.",
    )
    max_terms: int = parameter("MWO_TERMS", 80, whole(1, 10_000), "Terms of a page that are kept, the heaviest.")
    min_terms: int = parameter(
        "MWO_MIN_TERMS", 10, whole(1, 10_000), "A main text of fewer different terms is not compared by MWO."
    )
    dictionary: str = terms.dictionary_parameter()

    name: ClassVar[str] = "mwo"
    payload_bits: ClassVar[int] = _PAYLOAD_BITS

    def header(self) -> Mapping[str, str | int | float]:
        """What signatures depend on; the threshold is not among it."""
        return {
            "symbols": SYMBOLS_VERSION,
            **terms.header(self.dictionary),
            "weights": self.weights,
            "dropped": self.dropped,
            "max_terms": self.max_terms,
            "min_terms": self.min_terms,
            "hash": "murmur3_x86_32",
        }

    def signature(self, page: Page, text: SymbolText) -> bytes | None:
        """The page's record, six bytes per term.

        None when its main text has fewer than `min_terms` different terms, or no term stands in a field that weighs.
        The other fields alone (a URL, a navigation bar) say too little about a page to drop another by.
        """
        main = terms.term_counts(text.text, self.dictionary)
        if len(main) - (terms.STOPPED in main) < self.min_terms:
            return None
        weights = mwo.term_weights(page, main, FieldWeights.parse(self.weights), self.dictionary)
        return Record.of(weights, dropped=self.dropped, most=self.max_terms).to_bytes() or None

    def keys(self, signature: bytes) -> Keys:
        """One key a term: its hash, then its weight."""
        record = Record.from_bytes(signature)
        keys: Keys = record.hashes.astype(np.uint64) << np.uint64(_PAYLOAD_BITS) | record.weights.astype(np.uint64)
        return keys

    def candidates(self, signature: bytes, postings: Postings) -> PageIds:
        """Pages whose MWO may reach the threshold, by what they share with a prefix of this one."""
        record = Record.from_bytes(signature)
        least = mwo_search.least_overlap(self.threshold)
        prefixes = record.hashes.astype(np.uint64)
        costs = postings.count(prefixes)
        if int(record.weights[costs > 0].sum()) < least:
            return np.zeros(0, dtype=np.uint32)
        most_left = least - min(least, mwo_search.least_overlap(MARGIN))
        prefix = mwo_search.cheapest_prefix(record.weights, costs, most_left)
        least_alike, most = 0, int(costs[prefix].sum())
        if most > MOST_POSTINGS:
            prefix = mwo_search.rarest(costs, MOST_POSTINGS)
            known = mwo_search.roots(record.weights[prefix[costs[prefix] > 0]])
            least_alike, most = math.ceil(LEAST_ALIKE * int(known.sum())), CLOSEST
        pieces = postings.pieces(prefixes[prefix])
        return mwo_search.possible(record, prefix, pieces, least, least_alike, most)

    def contained(self, signature: bytes, postings: Postings) -> PageIds:
        """None: MWO is symmetric."""
        return np.zeros(0, dtype=np.uint32)

    def probe(self, signature: bytes) -> Probe:
        """Terms that make up the threshold of this page's weight: the shared weight is at most this page's part."""
        record = Record.from_bytes(signature)
        weights = record.weights.astype(np.uint32)
        return Probe(record.hashes.astype(np.uint64), weights, mwo_search.least_overlap(self.threshold))

    def dissimilarity(self, new: bytes, kept: bytes) -> float:
        """By length."""
        return length_dissimilarity(new, kept)

    def compare(self, new: bytes, kept: bytes) -> float | None:
        """MWO, when it reaches the threshold."""
        shared = mwo.overlap(Record.from_bytes(new), Record.from_bytes(kept))
        return shared / mwo.TOTAL if shared >= mwo_search.least_overlap(self.threshold) else None
