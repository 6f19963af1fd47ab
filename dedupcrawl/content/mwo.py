"""Minimum weight overlapping: pages as distributions of weight over terms (Das, Mathew, Vijayaraghavan; spec 3).

MWO(r, s) = Σ_x min(w_xr / W_r, w_xs / W_s), in [0, 1], is the overlap of two distributions, 1 less their total
variation distance. Weights are whole numbers throughout, so that it is the same number on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import repeat
from urllib.parse import unquote

import mmh3
import msgspec
import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content.symbols import fold
from dedupcrawl.content.terms import STOPPED, term_counts
from dedupcrawl.page import Page

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
    total: dict[str, int] = {}
    for field, string in (
        ("url", unquote(page.url.partition("://")[2] or page.url)),
        ("headings", "\n".join(page.headings)),
        ("title", page.title),
        ("same_site", "\n".join(page.anchors_same_site)),
        ("other_sites", "\n".join(page.anchors_other_sites)),
        ("keywords", page.keywords),
        ("description", page.description),
        ("main", main),
    ):
        unit = round(getattr(weights, field) * _UNIT)
        if unit and string:
            counts = string if isinstance(string, Mapping) else term_counts(fold(string), dictionary)
            for term, count in counts.items():
                total[term] = total.get(term, 0) + unit * count
    total.pop(STOPPED, None)
    return total


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
        given = np.fromiter(map(mmh3.hash, weights, repeat(0), repeat(False)), np.uint32, len(weights))
        each = np.fromiter(weights.values(), np.int64, len(weights))
        lightest = math.floor(dropped * sum(weights.values()))
        hashes, place = np.unique(given, return_inverse=True)
        raw = np.bincount(place, each, len(hashes)).astype(np.int64)  # of two terms with one hash, both
        lightest_first = np.lexsort((~hashes, raw))
        light = int((np.cumsum(raw[lightest_first]) <= lightest).sum())
        kept = np.sort(lightest_first[max(light, len(hashes) - most) :])
        shares = _shares(raw[kept])
        return cls(hashes[kept][shares > 0], shares[shares > 0])

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
