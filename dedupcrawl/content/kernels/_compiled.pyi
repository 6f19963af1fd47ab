# The functions of the extension. Arrays come in as they are, contiguous, and go out as their bytes.

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

_Flags = NDArray[np.bool_]
_U8 = NDArray[np.uint8]
_U16 = NDArray[np.uint16]
_U64 = NDArray[np.uint64]
_I64 = NDArray[np.int64]

VERSION: int

# The fields of an `outline.Outline`; `text_of` is called where a block's text is no matter of white space.
def outline(
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
]: ...

# `main_text.main_blocks` of an outline with these parts; `hints` makes what it lacks.
def main_blocks(
    title: str,
    blocks: list[tuple[str, int, int, int]],
    elements: list[tuple[int, str, bytes]],
    hints: dict[bytes, int],
    element_hints: dict[str, int],
    /,
) -> list[int]: ...

# `SymbolText.starts`, `hashes` and `lengths` of a folded text.
def symbols(text: str, kinds: NDArray[np.uint8], /) -> tuple[bytes, bytes, bytes]: ...

# `main_outline.with_breaks`, uint16.
def broken_symbols(text: str, starts: _I64, hashes: _U64, /) -> bytes: ...

# `Blocks.symbols`, `ends` and `hashes` of symbols with breaks between them.
def blocks(broken: _U16, skeletons: _U16, /) -> tuple[bytes, list[int], list[int]]: ...

# `simhash.fingerprint` of `simhash.features`, and how many features there are.
def simhash(hashes: _U64, lengths: _I64, pairs: bool, /) -> tuple[int, int]: ...

# `shingles.sampled`.
def sampled_shingles(hashes: _U64, levels: int, fewest: int, /) -> tuple[int, bytes]: ...

# Of two signatures: shingles of `new` at the larger level, and how many of them `kept` has.
def shared_shingles(new: bytes, kept: bytes, /) -> tuple[int, int]: ...

# `PostingsView._ranges` of one table.
def sorted_ranges(keys: _U64, prefixes: _U64, bits: int, /) -> list[tuple[int, int, int]]: ...

# The fields of an `alignment.Alignment`.
def align(new: _U16, kept: _U16, /) -> tuple[bytes, bytes, bytes, int]: ...

# `sides.occurring`.
def occurring(symbols: _U16, text: _U16, /) -> int: ...

# `sides.sides`: of each Side its `flags` and `counts`, and the fields of a Tally.
def sides(
    new: _U16,
    own: _Flags,
    aligned: _Flags,
    kept: _U16,
    kept_own: _Flags,
    kept_aligned: _Flags,
    pieces: NDArray[np.int32],
    marks: _U8,
    antonyms: NDArray[np.uint32],
    /,
) -> tuple[tuple[bytes, bytes], tuple[bytes, bytes], tuple[int, ...]]: ...
