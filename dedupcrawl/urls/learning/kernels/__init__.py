"""Steps that take most of the time of learning rules, compiled where there is a compiler when the package is built.

Each repeats a step that is written in Python where it belongs; that is its reference, and what runs where the extension
is missing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

__all__ = ["Kernels", "compiled"]

_VERSION = 6  # of the functions; an extension of another one is left alone

I64 = NDArray[np.int64]
I8 = NDArray[np.int8]
U8 = NDArray[np.uint8]
U64 = NDArray[np.uint64]
Runs = tuple[I64, I64, I64]  # pool, start, size


class Kernels(Protocol):
    """The functions of the extension. Arrays come in as they are, contiguous, and go out as their bytes."""

    VERSION: int

    def split_urls(
        self, urls: list[str], longest: int, longest_plain: int, most_separated: int, /
    ) -> tuple[list[str], list[str], list[str], bytes, bytes]:
        """`url_columns._split_urls`: fronts, segments, arguments, sizes (int64), marks (bool)."""
        ...

    def numbered(self, numbers: dict[str, int], texts: list[str], wanted: list[str], /) -> bytes:
        """`Texts.numbers`, int64."""
        ...

    def answered(self, test: Callable[[str], bool], texts: list[str], answers: I64, wanted: I64, /) -> None:
        """The answers of `Texts.which` that are missing, into `answers`."""
        ...

    def flat(self, pool: I64, start: I64, size: I64, rows: I64, owner: I64, place: I64, numbers: I64, /) -> None:
        """`Runs.flat`, into the last three."""
        ...

    def run_hashes(self, pool: I64, start: I64, size: I64, rows: I64, /) -> bytes:
        """`Runs.hashes`, uint64."""
        ...

    def url_hashes(self, segments: Runs, args: Runs, fronts: tuple[I64, I64, I64, I64], rows: I64, /) -> bytes:
        """`UrlColumns.hashes`, uint64."""
        ...

    def grouped(self, numbers: U64, /) -> tuple[bytes, bytes]:
        """`groups.grouped`, int64."""
        ...

    def places(self, numbers: U64, wanted: U64, /) -> bytes:
        """`groups.places`, int64."""
        ...

    def tally(
        self, numbers: I64, rows: I64, targets: I64, start: I64, labels: I64, different: int, /
    ) -> tuple[int, int, int, int, bytes]:
        """`evidence.tally`: its counts and flags, int8."""
        ...

    def split(
        self, numbers: I64, rows: I64, flags: I8, start: I64, codes: I64, key_of: I64, marks: U8, /
    ) -> tuple[int, list[tuple[int, int, int]]]:
        """`contexts.split`."""
        ...


def _load() -> Kernels | None:
    if sys.byteorder != "little":
        return None
    try:
        found = cast("Kernels", import_module("dedupcrawl.urls.learning.kernels._compiled"))
    except ImportError:
        return None
    return found if found.VERSION == _VERSION else None


compiled = _load()
"""None where the extension is missing."""
