# The functions of the extension. Arrays come in as they are, contiguous, and go out as their bytes.

import numpy as np
from numpy.typing import NDArray

_Flags = NDArray[np.bool_]
_U8 = NDArray[np.uint8]
_U16 = NDArray[np.uint16]
_U64 = NDArray[np.uint64]

VERSION: int

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
