"""MWO, minimum weight overlapping: pages as distributions of weight over terms (Das, Mathew, Vijayaraghavan; spec 3).

MWO(r, s) = Σ_x min(w_xr / W_r, w_xs / W_s), in [0, 1], is the overlap of two distributions: 1 minus their total
variation distance. Weights are whole numbers throughout, so that the result is the same on every machine. A page is a
candidate if its MWO reaches a threshold.

**Search is exact and needs no order that both sides share.** The paper, like every prefix filter, sorts both records by
one global order, made of document frequencies; but these change with every page of a crawl. So only the new page is cut
to a prefix, in whatever order is cheapest at that moment, and kept pages are posted under all their terms:

1. Let P be some of the new page's terms, ρ the weight of its others, and t the threshold. A kept page shares at most ρ
   outside P, so a duplicate shares at least t − ρ inside P.
2. ρ < t would be enough. With ρ <= t − β (`MARGIN`) a page must share β inside P before it is read, which excludes
   nearly all pages that share a rare term by chance.
3. P takes the terms that have the fewest postings for their weight, as the index counts them now. Terms that no kept
   page has come first and cost nothing; if they alone weigh more than 1 − t, there is nothing to find.
4. A posting holds its term's weight, so postings alone give the overlap inside P exactly, and the kept page's remaining
   weight too: the positional bound is `shared + min(left of one, left of the other)`.

**In a large index the search is bounded instead.** The posting lists of all but the rarest terms grow with the index.
If P has more than `MOST_POSTINGS` postings, only the rarest terms are looked up, as many as have no more than that
together. A page may lack any of them, so many shared terms count for more than much shared weight. Of the pages that
share enough of them (`LEAST_ALIKE`), the `CLOSEST` are compared. Both are measured by the sum of the roots of the
shared weights, term by term: one heavy term may be shared by chance, many are not. docs/measured/cost.md measures what
the bound loses; at worst a duplicate is kept. The posting lists of frequent terms are never read, so no term makes a
search slow.

Keys do not depend on the threshold, so an index serves every threshold.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar
from urllib.parse import unquote

import msgspec

from dedupcrawl.content import terms
from dedupcrawl.content.checks.base import Check, Keys, Probe
from dedupcrawl.core.overlap import (
    PAYLOAD_BITS,
    TOTAL,
    Weights,
    keys_of,
    overlap,
    overlapping,
)
from dedupcrawl.core.postings import Postings
from dedupcrawl.core.symbols import SYMBOLS_VERSION, SymbolText
from dedupcrawl.page import Page
from dedupcrawl.setting import BELOW_1, Takes, parameter, share, whole

_UNIT = 1000  # a field weight of 1, as a whole number
_HEAVIEST = 100.0  # the greatest weight that a user may give a field


class FieldWeights(msgspec.Struct, frozen=True):
    """The weight of one occurrence of a term, by its field; the defaults are the paper's Table 1."""

    url: float = 2  # in the URL, without its scheme
    headings: float = 2  # in a heading
    title: float = 2  # in the title
    same_site: float = 1  # in the text of a link within the site
    other_sites: float = 0.5  # in the text of a link that leaves it
    keywords: float = 3  # in the meta keywords
    description: float = 3  # in the meta description
    main: float = 1  # in the main text

    @classmethod
    def parse(cls, text: str) -> FieldWeights:
        """Read "url=2 title=1.5"; a field that is not named weighs nothing.

        Raises:
            ValueError: A field is unknown or repeated, a weight is outside 0 … 100, or no field weighs anything.
        """
        names = cls.__struct_fields__
        weights = dict.fromkeys(names, 0.0)
        unread = set(names)
        for part in text.replace(",", " ").split():
            name, _, number = part.partition("=")
            if name not in unread or not 0 <= float(number) <= _HEAVIEST:
                raise ValueError(f"{part!r} is no field and weight")
            unread.remove(name)
            weights[name] = float(number)
        if not any(round(weight * _UNIT) for weight in weights.values()):
            raise ValueError("no field weighs anything")
        return cls(**weights)

    def __str__(self) -> str:
        return " ".join(f"{field}={weight:g}" for field, weight in msgspec.structs.asdict(self).items() if weight)


def add_fields(weights: Weights, page: Page, fields: FieldWeights, dictionary: str = "") -> None:
    """Add the weights of the terms in all fields of a page except its main text, in thousandths."""
    units = _units(fields)
    for unit, lines in zip(
        units,
        (
            (unquote(page.url.partition("://")[2] or page.url),),
            page.headings,
            (page.title,),
            page.anchors_same_site,
            page.anchors_other_sites,
            (page.keywords,),
            (page.description,),
        ),
        strict=True,
    ):
        for line in lines if unit else ():
            if line:
                weights.add(terms.terms_of_line(line, dictionary), unit)


@lru_cache(maxsize=16)
def _units(fields: FieldWeights) -> tuple[int, ...]:
    """The weights of all fields but the main text, in thousandths."""
    return tuple(round(weight * _UNIT) for weight in msgspec.structs.astuple(fields)[:-1])


_field_weights = lru_cache(maxsize=16)(FieldWeights.parse)


MARGIN = 0.3
"""β: the share of weight that a page must have in common with the prefix before it is compared."""

MOST_POSTINGS = 3 << 16
"""The most postings read for a page, in about half a millisecond; if its prefix has more, the search is bounded."""

LEAST_ALIKE = 0.225
"""The share that a page must have of the roots of the weights that a bounded search looks up."""

CLOSEST = 24
"""A bounded search compares at most this many of these pages, those that have the most in common."""

_WEIGHT = (1 << PAYLOAD_BITS) - 1


@dataclass(frozen=True, slots=True)
class MwoCheck(Check):
    """Pages that share `threshold` of their weight."""

    threshold: float = parameter(  # t
        "MWO_THRESHOLD",
        0.8,
        share(),
        "The MWO of duplicates is at least this. With `DEDUP_CHECKS = 'papers'` 0.5, unless it is set.",
        loosest=min,
    )
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
        "The lightest terms, up to this share of a page's weight, are left out.",
    )
    max_terms: int = parameter(
        "MWO_TERMS", 80, whole(1, 10_000), "How many terms of a page are kept, the heaviest first."
    )
    min_terms: int = parameter(
        "MWO_MIN_TERMS", 10, whole(1, 10_000), "A main text with fewer different terms is not compared by MWO."
    )
    dictionary: str = terms.dictionary_parameter()

    name: ClassVar[str] = "mwo"
    payload_bits: ClassVar[int] = PAYLOAD_BITS

    def header(self) -> Mapping[str, str | int | float]:
        """What signatures depend on; this does not include the threshold."""
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

        None if its main text has fewer than `min_terms` different terms, or if no term is in a field with a weight. The
        other fields alone (a URL, a navigation bar) say too little about a page for another to be dropped.
        """
        fields, weights = _field_weights(self.weights), Weights()
        weights.add(terms.main_terms(text, self.dictionary), round(fields.main * _UNIT))
        if len(weights) < self.min_terms:
            return None
        add_fields(weights, page, fields, self.dictionary)
        return weights.record(self.dropped, self.max_terms) or None

    def keys(self, signature: bytes) -> Keys:
        """A key for each term: its hash, then its weight."""
        return keys_of(signature)

    def candidates(self, signature: bytes, postings: Postings) -> list[int]:
        """Pages whose MWO may reach the threshold, by what they share with a prefix of this page."""
        least = least_overlap(self.threshold)
        most_left = least - min(least, least_overlap(MARGIN))
        return overlapping(postings, signature, least, most_left, MOST_POSTINGS, LEAST_ALIKE, CLOSEST)

    def probe(self, signature: bytes) -> Probe:
        """All terms with their weights: a page can share at most this page's weight of each term that it has."""
        keys = keys_of(signature)
        prefixes, weights = ([key >> PAYLOAD_BITS for key in keys], [key & _WEIGHT for key in keys])
        return Probe(array("Q", prefixes), array("Q", weights), least_overlap(self.threshold))

    def compare(self, new: bytes, kept: bytes) -> float | None:
        """MWO, if it reaches the threshold."""
        shared = overlap(new, kept)
        return shared / TOTAL if shared >= least_overlap(self.threshold) else None


def least_overlap(threshold: float) -> int:
    """The least `overlap` of duplicates, whose MWO is at least `threshold`."""
    return math.ceil(threshold * TOTAL - 1e-6)
