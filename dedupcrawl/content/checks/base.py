"""What a content check is: a small signature, the keys by which it is found, and a comparison."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import ClassVar, Protocol, TypeAlias

import msgspec

from dedupcrawl.core.postings import Postings, prefixes_of
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.page import Page

Keys: TypeAlias = "array[int]"
"""64-bit numbers: an array of type "Q"."""

OF_WHOLE_PAGES = frozenset({"exact", "title"})
"""Checks whose signatures include the site template: they find pages whatever is known of the site."""


class Probe(msgspec.Struct, frozen=True):
    """The prefixes under which a page must be posted for a search to find it, computed without any postings."""

    prefixes: Keys  # different prefixes, some of which the keys of a page must have
    weights: Keys | None = None  # how much each prefix counts; None: 1 each
    least: int = 1  # the least sum of these weights for a page; with less it is neither a candidate nor contained


class Check(Protocol):
    """One way to find the kept pages that a new page duplicates. Stateless: settings only.

    The signature of a page is made once and stored; everything else works on stored signatures alone.
    """

    is_on: ClassVar[bool] = True
    """Whether the crawl uses the check. A check that is off has its place in an index, but makes no signatures."""
    keys_depend_on: ClassVar[frozenset[str]] = frozenset()
    """Names in the header on which keys depend: a crawl makes keys of all stored signatures, even for a check that is
    off."""

    @property
    def name(self) -> str:
        """The name in DEDUP_CHECKS; it also names the check's postings in the index."""
        ...

    @property
    def payload_bits(self) -> int:
        """How many low bits of a key are payload, 0 … 63."""
        return 0

    def header(self) -> Mapping[str, str | int | float]:
        """Everything that signatures depend on: an index made with another header is refused."""
        ...

    def signature(self, page: Page, text: SymbolText) -> bytes | None:
        """The page's signature, or None if the page says too little and the check abstains."""
        ...

    def keys(self, signature: bytes) -> Keys:
        """The keys under which a kept page is posted."""
        ...

    def candidates(self, signature: bytes, postings: Postings) -> list[int]:
        """Pages that `compare` may accept as keepers of a new page with this `signature`; misses none of them.

        In any order; a page may occur more than once.
        """
        ...

    def contained(self, signature: bytes, postings: Postings) -> list[int]:
        """Kept pages that a new page may supersede because it contains them; none if the check is symmetric."""
        return []

    def probe(self, signature: bytes) -> Probe:
        """The prefixes of which any page has some that `candidates` or `contained` may return for this `signature`."""
        return Probe(prefixes_of(self.keys(signature), self.payload_bits))

    def dissimilarity(self, new: bytes, kept: bytes) -> float:
        """How different two signatures are, in [0, 1], computed quickly; it orders candidates of equal similarity.

        By default, signatures differ by their lengths.
        """
        return abs(len(new) - len(kept)) / max(len(new), len(kept), 1)

    def compare(self, new: bytes, kept: bytes) -> float | None:
        """How much of `new` is inside `kept`, in [0, 1], or None if that is not a duplicate by this check."""
        ...


class Equality(Check, Protocol):
    """A check by which two pages match only if their signatures, of at least 8 bytes, are equal."""

    def keys(self, signature: bytes) -> Keys:
        """One key: the first 8 bytes, little-endian."""
        return array("Q", signature[:8])

    def dissimilarity(self, new: bytes, kept: bytes) -> float:
        return float(new != kept)

    def compare(self, new: bytes, kept: bytes) -> float | None:
        return 1.0 if new == kept else None
