"""MWO, minimum weight overlapping: pages as distributions of weight over terms (Das, Mathew, Vijayaraghavan; spec 3).

MWO(r, s) = Σ_x min(w_xr / W_r, w_xs / W_s), in [0, 1], is the overlap of two distributions, 1 less their total
variation distance. Weights are whole numbers throughout, so that it is the same number on every machine. Pages are
candidates when it reaches a threshold.

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
from functools import lru_cache
from typing import ClassVar
from urllib.parse import unquote

import mmh3
import msgspec
import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content import terms
from dedupcrawl.content.checks.base import NO_PAGES, Check, Keys, PageIds, Postings, Probe
from dedupcrawl.core.symbols import SYMBOLS_VERSION, SymbolText
from dedupcrawl.page import Page
from dedupcrawl.setting import BELOW_1, Takes, parameter, share, whole

TOTAL = 65535
"""The weights of a record add up to it."""

_UNIT = 1000  # a field weight of 1, as a whole number
_HEAVIEST = 100.0

Hashes = NDArray[np.uint32]
Weights = NDArray[np.int64]


class FieldWeights(msgspec.Struct, frozen=True):
    """What one occurrence of a term weighs, by the field it stands in; the defaults are the paper's Table 1."""

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
            ValueError: for an unknown or repeated field, a weight outside 0 … 100, or when no field weighs anything.
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


def term_weights(page: Page, main: Mapping[str, int], weights: FieldWeights, dictionary: str = "") -> dict[str, int]:
    """W_x for each term of the page: the sum of its occurrences' field weights, in thousandths.

    `main` says how often each term occurs in the main text; `dictionary` segments the other fields.
    """
    unit = round(weights.main * _UNIT)
    total = {term: unit * count for term, count in main.items()} if unit else {}
    for field, lines in (
        ("url", (unquote(page.url.partition("://")[2] or page.url),)),
        ("headings", page.headings),
        ("title", (page.title,)),
        ("same_site", page.anchors_same_site),
        ("other_sites", page.anchors_other_sites),
        ("keywords", (page.keywords,)),
        ("description", (page.description,)),
    ):
        if unit := round(getattr(weights, field) * _UNIT):
            for line in lines:
                for term in terms.terms_of_line(line, dictionary):
                    total[term] = total.get(term, 0) + unit
    total.pop(terms.STOPPED, None)
    return total


_field_weights = lru_cache(maxsize=16)(FieldWeights.parse)


@lru_cache(maxsize=1 << 16)
def _hash(term: str) -> int:
    """MurmurHash3 x86 32."""
    return mmh3.hash(term.encode("utf-8", "replace"), 0, False)


def _by_weight(term: tuple[int, int]) -> int:
    """Of terms that weigh the same the one of the higher hash comes first."""
    hashed, weight = term
    return weight << 32 | (0xFFFFFFFF - hashed)


class Record(msgspec.Struct, frozen=True, eq=False):
    """A page as MWO compares it."""

    hashes: Hashes  # shape (n,): the terms' hashes, ascending, each once
    weights: Weights  # shape (n,): their shares of the page's weight, 1 … TOTAL, TOTAL together

    @classmethod
    def of(cls, weights: Mapping[str, int], *, dropped: float, most: int) -> Record:
        """The record of a page's term weights.

        Args:
            weights: W_x for each term; above 0.
            dropped: The dynamic threshold: the lightest terms that make up at most this share of W_r are left out.
            most: Only so many terms are kept, the heaviest. Of terms that weigh the same those with the lower hash
                stay, on every page, so that two pages leave out the same ones.
        """
        raw: dict[int, int] = {}
        for term, weight in weights.items():  # of two terms with one hash, both
            hashed = _hash(term)
            raw[hashed] = raw.get(hashed, 0) + weight
        left = math.floor(dropped * sum(weights.values()))
        lightest_first = sorted(raw.items(), key=_by_weight)
        light = 0
        while light < len(lightest_first) and lightest_first[light][1] <= left:
            left -= lightest_first[light][1]
            light += 1
        kept = sorted(lightest_first[max(light, len(lightest_first) - most) :])
        shares = _shares(np.array([weight for _, weight in kept], np.int64))
        hashes = np.array([hashed for hashed, _ in kept], np.uint32)
        return cls(hashes[shares > 0], shares[shares > 0])

    def __len__(self) -> int:
        return len(self.hashes)

    def to_bytes(self) -> bytes:
        """Six bytes per term: all hashes, then all weights, little-endian."""
        return self.hashes.astype("<u4").tobytes() + self.weights.astype("<u2").tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Record:
        """The inverse of `to_bytes`."""
        count = len(data) // 6
        hashes = np.frombuffer(data, dtype="<u4", count=count)
        return cls(hashes, np.frombuffer(data, dtype="<u2", offset=4 * count).astype(np.int64))


def _shares(raw: Weights) -> Weights:
    """Whole shares that add up to TOTAL, by largest remainders; of equal remainders the first gets more."""
    if not len(raw):
        return raw
    shares: Weights
    remainders: Weights
    shares, remainders = np.divmod(raw * TOTAL, raw.sum())
    shares[np.argsort(-remainders, kind="stable")[: TOTAL - int(shares.sum())]] += 1
    return shares


def overlap(one: Record, other: Record) -> int:
    """MWO of two records, times TOTAL."""
    if not len(one) or not len(other):
        return 0
    place = other.hashes.searchsorted(one.hashes)
    place[place == len(other)] = 0
    smaller = np.minimum(one.weights, other.weights[place])
    return int(smaller[other.hashes[place] == one.hashes].sum())


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
class MwoCheck(Check):
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
        main = terms.term_counts(text, self.dictionary)
        if len(main) - (terms.STOPPED in main) < self.min_terms:
            return None
        weights = term_weights(page, main, _field_weights(self.weights), self.dictionary)
        return Record.of(weights, dropped=self.dropped, most=self.max_terms).to_bytes() or None

    def keys(self, signature: bytes) -> Keys:
        """One key a term: its hash, then its weight."""
        record = Record.from_bytes(signature)
        keys: Keys = record.hashes.astype(np.uint64) << np.uint64(_PAYLOAD_BITS) | record.weights.astype(np.uint64)
        return keys

    def candidates(self, signature: bytes, postings: Postings) -> PageIds:
        """Pages whose MWO may reach the threshold, by what they share with a prefix of this one."""
        record = Record.from_bytes(signature)
        least = least_overlap(self.threshold)
        prefixes = record.hashes.astype(np.uint64)
        costs = postings.count(prefixes)
        if int(record.weights[costs > 0].sum()) < least:
            return NO_PAGES
        most_left = least - min(least, least_overlap(MARGIN))
        prefix = cheapest_prefix(record.weights, costs, most_left)
        least_alike, most = 0, int(costs[prefix].sum())
        if most > MOST_POSTINGS:
            prefix = rarest(costs, MOST_POSTINGS)
            known = roots(record.weights[prefix[costs[prefix] > 0]])
            least_alike, most = math.ceil(LEAST_ALIKE * int(known.sum())), CLOSEST
        return possible(record, prefix, *postings.find(prefixes[prefix]), least, least_alike, most)

    def probe(self, signature: bytes) -> Probe:
        """Terms that make up the threshold of this page's weight: the shared weight is at most this page's part."""
        record = Record.from_bytes(signature)
        weights = record.weights.astype(np.uint32)
        return Probe(record.hashes.astype(np.uint64), weights, least_overlap(self.threshold))

    def compare(self, new: bytes, kept: bytes) -> float | None:
        """MWO, when it reaches the threshold."""
        shared = overlap(Record.from_bytes(new), Record.from_bytes(kept))
        return shared / TOTAL if shared >= least_overlap(self.threshold) else None


_DENSE = 32  # pages of a range for each posting, at most, that are counted without sorting

Costs = NDArray[np.int64]
"""Shape (n,): how many kept pages have each of a record's terms."""


def least_overlap(threshold: float) -> int:
    """The least `overlap` of duplicates, whose MWO is at least `threshold`."""
    return math.ceil(threshold * TOTAL - 1e-6)


def cheapest_prefix(weights: Weights, costs: Costs, most_left: int) -> NDArray[np.intp]:
    """Terms to look up, so that those left out weigh at most `most_left`, and the look-up stays cheap.

    Places in the record, the cheapest for their weight first; all of a cost of 0 among them.
    """
    order = np.argsort(costs / weights, kind="stable")
    left = TOTAL - np.cumsum(weights[order])
    needed = int((left > most_left).sum()) + 1
    return order[: max(needed, int((costs == 0).sum()))]


def rarest(costs: Costs, most: int) -> NDArray[np.intp]:
    """Terms to look up where those of a `cheapest_prefix` cannot all be: as many as have `most` postings together.

    Places in the record, the rarest first.
    """
    order = np.argsort(costs, kind="stable")
    return order[: int((costs[order].cumsum() <= most).sum())]


def roots(weights: Weights) -> Weights:
    """Square roots of weights, in units of 1/256: several terms in common say more than a single heavy one."""
    return (np.sqrt(weights) * 256).astype(np.int64)


def possible(  # noqa: PLR0913 - the terms of one equation
    record: Record, prefix: NDArray[np.intp], keys: Keys, pages: PageIds, least: int, least_alike: int, most: int
) -> PageIds:
    """Pages whose `overlap` with `record` may reach `least`, by what the postings of a prefix say; ascending.

    The bound is the paper's positional filter with weights in the place of positions: what is shared so far, and at
    most the smaller of what is left of the two records.

    Args:
        record: The new page.
        prefix: Places of the terms that were looked up.
        keys: Of their postings, shape (m,): a term's hash in the high 32 bits, the kept page's weight in the low.
        pages: Of the same, shape (m,).
        least: See `least_overlap`.
        least_alike: Least sum of the roots (see `roots`) of what a page shares with the prefix, term by term.
        most: Only so many pages, those of the largest such sums; of equals the older.
    """
    looked_up = np.sort(prefix)
    hashes, own = record.hashes[looked_up], record.weights[looked_up]
    kept = (keys & np.uint64(0xFFFFFFFF)).astype(np.int64)
    smaller = np.minimum(own[hashes.searchsorted((keys >> np.uint64(32)).astype(np.uint32))], kept)
    first = int(pages.min(initial=np.iinfo(np.uint32).max))
    if len(pages) and int(pages.max()) - first < _DENSE * len(pages):
        unique, page = None, pages.astype(np.intp) - first  # a counter for every page of the range beats sorting
    else:
        unique, page = np.unique(pages, return_inverse=True)
    shared, seen, alike = np.bincount(page, smaller), np.bincount(page, kept), np.bincount(page, roots(smaller))
    left = np.minimum(TOTAL - int(own.sum()), TOTAL - seen)
    likely = np.flatnonzero((shared + left >= least) & (alike >= least_alike) & (seen > 0))
    if len(likely) > most:
        likely = np.sort(likely[np.argsort(-alike[likely], kind="stable")[:most]])
    return (likely + first).astype(np.uint32) if unique is None else unique[likely]
