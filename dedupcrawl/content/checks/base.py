"""What a content check is: a small signature, the keys it is found by, and a comparison."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import ClassVar, Protocol, TypeAlias

from dedupcrawl.core.postings import Postings
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.page import Page

Keys: TypeAlias = "array[int]"
"""64-bit numbers: an array of type "Q"."""

OF_WHOLE_PAGES = frozenset({"exact", "title"})
"""Checks whose signatures do not leave out what a site repeats: they find pages whatever is known of the site."""


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
        """The keys under which a kept page is posted."""
        ...

    def candidates(self, signature: bytes, postings: Postings) -> list[int]:
        """Pages that `compare` may accept as keepers of a new page with this `signature`; misses none of them.

        In any order, and some of them more than once.
        """
        ...

    def contained(self, signature: bytes, postings: Postings) -> list[int]:
        """Kept pages that a new page may supersede because it contains them; none if the check is symmetric."""
        return []

    def dissimilarity(self, new: bytes, kept: bytes) -> float:
        """How different two signatures are, computed quickly, in [0, 1]: the order of candidates that are equally
        similar.

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
        return array("Q", signature[:8])

    def dissimilarity(self, new: bytes, kept: bytes) -> float:
        return float(new != kept)

    def compare(self, new: bytes, kept: bytes) -> float | None:
        return 1.0 if new == kept else None
