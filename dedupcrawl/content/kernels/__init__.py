"""Steps that take most of a page's time, compiled where there is a compiler when the package is built.

Each repeats, bit by bit, a step that is written in NumPy where it belongs; that is its reference, and what runs where
the extension is missing. A page is some hundred symbols, so in NumPy the calls cost more than the work.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

__all__ = ["Kernels", "compiled"]

_VERSION = 14  # of the functions; an extension of another one is left alone

Flags = NDArray[np.bool_]
U8 = NDArray[np.uint8]
U16 = NDArray[np.uint16]
U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]


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

    def broken_symbols(self, text: str, starts: I64, hashes: U64, /) -> bytes:
        """`blocks.with_breaks`, uint16."""
        ...

    def blocks(self, broken: U16, skeletons: U16, /) -> tuple[bytes, list[int], list[int]]:
        """`Blocks.symbols`, `ends` and `hashes` of symbols with breaks between them."""
        ...

    def fold(self, text: str, folded: NDArray[np.uint32], /) -> str | None:
        """The text by the table; None where it has no 1 : 1 entry for a character."""
        ...

    def simhash(self, hashes: U64, lengths: I64, pairs: bool, /) -> tuple[int, int]:
        """`simhash.fingerprint` of `simhash.features`, and how many features there are."""
        ...

    def sampled_shingles(self, hashes: U64, levels: int, fewest: int, /) -> tuple[int, bytes]:
        """`shingles.sampled`."""
        ...

    def shared_shingles(self, new: bytes, kept: bytes, /) -> tuple[int, int]:
        """Of two signatures: shingles of `new` at the larger level, and how many of them `kept` has."""
        ...

    def sorted_ranges(self, keys: U64, prefixes: U64, bits: int, /) -> list[tuple[int, int, int]]:
        """`PostingsView._ranges` of one table."""
        ...

    def align(self, new: U16, kept: U16, /) -> tuple[bytes, bytes, bytes, int]:
        """The fields of an `alignment.Alignment`."""
        ...

    def sides(  # noqa: PLR0913 - as the compiled function takes them
        self,
        new: U16,
        own: Flags,
        aligned: Flags,
        kept: U16,
        kept_own: Flags,
        kept_aligned: Flags,
        pieces: NDArray[np.int32],
        marks: U8,
        antonyms: NDArray[np.uint32],
        /,
    ) -> tuple[tuple[bytes, bytes], tuple[bytes, bytes], tuple[int, ...]]:
        """`sides.sides`: of each Side its `flags` and `counts`, and the fields of a Tally."""
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
