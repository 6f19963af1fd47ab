# The Python interface of overlap.py.

from array import array
from typing import final

from dedupcrawl.core.postings import Postings

TOTAL: int
PAYLOAD_BITS: int

@final
class Weights:
    def __new__(cls) -> Weights: ...
    def __len__(self) -> int: ...
    def add(self, hashes: bytes, unit: int) -> None: ...
    def record(self, dropped: float, most: int) -> bytes: ...

def overlap(new: bytes, kept: bytes) -> int: ...
def keys_of(record: bytes) -> array[int]: ...
def cheapest_prefix(record: bytes, costs: list[int], least: int, most_left: int) -> list[int]: ...
def rarest(record: bytes, costs: list[int], most: int) -> tuple[list[int], int]: ...
def possible(
    record: bytes,
    places: list[int],
    keys: array[int],
    pages: array[int],
    least: int,
    least_alike: int,
    most: int,
) -> list[int]: ...
def overlapping(
    postings: Postings,
    record: bytes,
    least: int,
    most_left: int,
    most_postings: int,
    share_alike: float,
    closest: int,
) -> list[int]: ...
