# What Python code sees of overlap.py.

from typing import final

import numpy as np
from numpy.typing import NDArray

TOTAL: int
PAYLOAD_BITS: int

@final
class Weights:
    def __new__(cls) -> Weights: ...
    def __len__(self) -> int: ...
    def add(self, hashes: bytes, unit: int) -> None: ...
    def record(self, dropped: float, most: int) -> bytes: ...

def overlap(new: bytes, kept: bytes) -> int: ...
def keys_of(record: bytes) -> NDArray[np.uint64]: ...
def cheapest_prefix(record: bytes, costs: NDArray[np.int64], least: int, most_left: int) -> NDArray[np.intp]: ...
def rarest(record: bytes, costs: NDArray[np.int64], most: int) -> tuple[NDArray[np.intp], int]: ...
def possible(
    record: bytes,
    places: NDArray[np.intp],
    keys: NDArray[np.uint64],
    pages: NDArray[np.uint32],
    least: int,
    least_alike: int,
    most: int,
) -> NDArray[np.uint32]: ...
