"""What a content check is: a small signature, the keys it is found by, and a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from dedupcrawl.core.postings import View
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.page import Page

Keys = NDArray[np.uint64]
PageIds = NDArray[np.uint32]

NO_PAGES: PageIds = np.zeros(0, dtype=np.uint32)

OF_WHOLE_PAGES = frozenset({"exact", "title"})
"""Checks whose signatures do not leave out what a site repeats: they find pages whatever is known of the site."""


Postings = View
"""One check's inverted index, as a check sees it."""


def page_ids(pages: list[int]) -> PageIds:
    """Pages that were found."""
    return np.array(pages, dtype=np.uint32) if pages else NO_PAGES


class Probe(msgspec.Struct, frozen=True):
    """What a page must be posted under for a search to find it, said without any postings."""

    prefixes: Keys  # shape (n,): some of a page's keys must have one of these, all different
    weights: NDArray[np.uint32]  # shape (n,): how much each counts
    least: int  # what those a page has must add up to. A page with less is neither a candidate nor contained

    @classmethod
    def any_of(cls, prefixes: Keys) -> Probe:
        """One of these prefixes is enough."""
        return cls(prefixes, np.ones(len(prefixes), dtype=np.uint32), 1)


class Check(Protocol):
    """One way to find the kept pages that a new page duplicates. Stateless: settings only.

    `signature` is made once a page and stored; everything else works on stored signatures alone.
    """

    is_on: ClassVar[bool] = True
    """Whether the crawl asks it. A check that is off has its place in an index, but makes no signatures."""
    keys_depend_on: ClassVar[frozenset[str]] = frozenset()
    """Names in the header that keys depend on too, which every crawl makes of all signatures."""

    @property
    def name(self) -> str:
        """As in DEDUP_CHECKS; names the check's postings in the index."""
        ...

    @property
    def payload_bits(self) -> int:
        """How many low bits of a key are payload, 0 … 63."""
        return 0

    def header(self) -> Mapping[str, str | int | float]:
        """All that signatures depend on: an index made under another header is refused."""
        ...

    def signature(self, page: Page, text: SymbolText) -> bytes | None:
        """The page's signature, or None when the page says too little and the check abstains."""
        ...

    def keys(self, signature: bytes) -> Keys:
        """Shape (n,): the keys under which a kept page is posted."""
        ...

    def candidates(self, signature: bytes, postings: Postings) -> PageIds:
        """Pages that `compare` may accept as keepers of a new page with this `signature`; misses none of them.

        In any order, and some of them more than once.
        """
        ...

    def contained(self, signature: bytes, postings: Postings) -> PageIds:
        """Kept pages that a new page may supersede because they lie inside it; none where a check is symmetric."""
        return NO_PAGES

    def probe(self, signature: bytes) -> Probe:
        """What every page has that `candidates` or `contained` may return for this `signature`: any of its keys."""
        return Probe.any_of(np.unique(self.keys(signature) >> np.uint64(self.payload_bits)))

    def dissimilarity(self, new: bytes, kept: bytes) -> float:
        """How unlike two signatures are, at next to no cost, in [0, 1]: what comes first of candidates as similar.

        By their lengths.
        """
        return abs(len(new) - len(kept)) / max(len(new), len(kept), 1)

    def compare(self, new: bytes, kept: bytes) -> float | None:
        """How much of `new` is inside `kept`, in [0, 1], or None when that is not a duplicate by this check."""
        ...


class Equality(Check, Protocol):
    """A check by which two pages are alike when their signatures, of at least 8 bytes, are equal, and not otherwise."""

    def keys(self, signature: bytes) -> Keys:
        """One key: the first 8 bytes, little-endian."""
        return np.frombuffer(signature, dtype="<u8", count=1)

    def dissimilarity(self, new: bytes, kept: bytes) -> float:
        return float(new != kept)

    def compare(self, new: bytes, kept: bytes) -> float | None:
        return 1.0 if new == kept else None
