"""Steps that take most of a page's time, compiled where there is a compiler when the package is built.

Each repeats, bit by bit, a step that is written in NumPy where it belongs; that is its reference, and what runs where
the extension is missing. A page is some hundred symbols, so in NumPy the calls cost more than the work.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

__all__ = ["Kernels", "compiled"]

_VERSION = 12  # of the functions; an extension of another one is left alone

Flags = NDArray[np.bool_]
U8 = NDArray[np.uint8]
U16 = NDArray[np.uint16]
U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]
U32 = NDArray[np.uint32]
Found = dict[int, tuple[int, ...] | list[int]]


class Kernels(Protocol):
    """The functions of the extension. Arrays come in as they are, contiguous, and go out as their bytes."""

    VERSION: int

    def outline(
        self,
        markup: bytes,
        meanings: Mapping[bytes | None, tuple[int, str, frozenset[str]] | None],
        cells: frozenset[str],
        around_cells: frozenset[str],
        text_of: Callable[[bytes, int], str],
        /,
    ) -> tuple[
        str,
        list[tuple[str, int, int, int]],
        list[tuple[int, str, bytes]],
        list[tuple[bytes, list[bytes], int]],
        list[bytes],
        bytes,
        bool,
    ]:
        """The fields of an `outline.Outline`; `text_of` is called where a block's text is no matter of white space."""
        ...

    def main_blocks(
        self,
        title: str,
        blocks: list[tuple[str, int, int, int]],
        elements: list[tuple[int, str, bytes]],
        hints: dict[bytes, int],
        element_hints: dict[str, int],
        /,
    ) -> list[int]:
        """`main_text.main_blocks` of an outline with these parts; `hints` makes what it lacks."""
        ...

    def symbols(self, text: str, kinds: NDArray[np.uint8], /) -> tuple[bytes, bytes, bytes]:
        """`SymbolText.starts`, `hashes` and `lengths` of a folded text."""
        ...

    def feature_code(  # noqa: PLR0913 - as the compiled function takes them
        self,
        text: str,
        kinds: NDArray[np.uint8],
        starts: I64,
        hashes: U64,
        symbols: int,
        anchor_words: U64,
        unit_length: int,
        unit_share: float,
        least: int,
        /,
    ) -> bytes:
        """`feature_codes.feature_code`: positions, int64."""
        ...

    def simhash(self, hashes: U64, lengths: I64, pairs: bool, /) -> tuple[int, int]:
        """`simhash.fingerprint` of `simhash.features`, and how many features there are."""
        ...

    def sampled_shingles(self, hashes: U64, levels: int, fewest: int, /) -> tuple[int, bytes]:
        """`shingles.sampled`."""
        ...

    def broken_symbols(self, text: str, starts: I64, hashes: U64, /) -> bytes:
        """`blocks.with_breaks`, uint16."""
        ...

    def blocks(self, broken: U16, skeletons: U16, /) -> tuple[bytes, list[int], list[int]]:
        """`Blocks.symbols`, `ends` and `hashes` of symbols with breaks between them."""
        ...

    def fold(self, text: str, folded: NDArray[np.uint32], /) -> str | None:
        """The text by the table; None where it has no 1 : 1 entry for a character."""
        ...

    def code_symbols(self, hashes: U64, positions: I64, /) -> bytes:
        """The upper 15 bits of the hashes at these positions, uint16."""
        ...

    def code_grams(self, signature: bytes, /) -> bytes:
        """`feature_code._grams`, uint64."""
        ...

    def different_grams(self, signature: bytes, step: int, /) -> tuple[bytes, int]:
        """`feature_code._different_grams`, uint64, and of how many."""
        ...

    def simhash_keys(self, signature: bytes, /) -> bytes:
        """`simhash._keys`, uint64."""
        ...

    def shared_shingles(self, new: bytes, kept: bytes, /) -> tuple[int, int]:
        """Of two signatures: shingles of `new` at the larger level, and how many of them `kept` has."""
        ...

    def by_page(self, keys: U64, pages: U32, /) -> tuple[bytes, bytes, bytes]:
        """For each page, ascending: the first of its keys, itself, how often it occurs (int64)."""
        ...

    def sorted_ranges(self, keys: U64, prefixes: U64, bits: int, /) -> list[tuple[int, int, int]]:
        """`PostingsView._ranges` of one table."""
        ...

    def tail_counts(self, tails: Sequence[Found], prefixes: list[int], /) -> bytes:
        """For each prefix how many postings it has, int64."""
        ...

    def tail_postings(self, tails: Sequence[Found], prefixes: list[int], /) -> tuple[bytes, bytes]:
        """Keys and pages of all postings of these prefixes, one prefix's after the other's."""
        ...

    def mwo_record(self, hashes: U32, weights: I64, lightest: int, most: int, /) -> bytes:
        """`mwo.Record.of`, as its bytes; terms of `lightest` weight together, at most, are left out."""
        ...

    def mwo_overlap(self, one: bytes, other: bytes, /) -> int:
        """`mwo.overlap` of two records' bytes."""
        ...

    def mwo_possible(  # noqa: PLR0913 - as the compiled function takes them
        self, hashes: U32, weights: I64, pieces: list[tuple[U64, U32]], least: int, least_alike: int, most: int, /
    ) -> bytes:
        """`mwo_search.possible`: pages, uint32."""
        ...

    def align(self, new: U16, kept: U16, /) -> tuple[bytes, bytes, bytes, int]:
        """The fields of an `alignment.Alignment`."""
        ...

    def occurring(self, new: U16, own: Flags, kept: U16, /) -> tuple[int, int]:
        """`evidence.occurring`."""
        ...

    def side(  # noqa: PLR0913 - as the compiled function takes them
        self,
        symbols: U16,
        own: Flags,
        aligned: Flags,
        other: U16,
        pieces: NDArray[np.int32],
        column: int,
        tells: U8,
        marks: U8,
        /,
    ) -> tuple[bytes, bytes]:
        """Of a `differences.Side` the flags `differs`, `is_new`, `own_novel` and `own_new`; and `count`, int32."""
        ...


def _load() -> Kernels | None:
    if sys.byteorder != "little":
        return None
    try:
        found = cast("Kernels", import_module("dedupcrawl.content.kernels._compiled"))
    except ImportError:
        return None
    return found if found.VERSION == _VERSION else None


compiled = _load()
"""None where the extension is missing."""
