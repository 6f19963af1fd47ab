"""Records of MWO as arrays, for benchmarks and tests."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content.checks.base import Check
from dedupcrawl.content.terms import term_hash
from dedupcrawl.core.overlap import Weights
from dedupcrawl.core.postings import Postings, Tail


class Record(msgspec.Struct, frozen=True, eq=False):
    """A page as MWO compares it."""

    hashes: NDArray[np.uint32]  # shape (n,): the terms' hashes, ascending, each once
    weights: NDArray[np.int64]  # shape (n,): their shares of the page's weight, 1 … TOTAL, TOTAL together

    def __len__(self) -> int:
        return len(self.hashes)

    @classmethod
    def from_bytes(cls, data: bytes) -> Record:
        """What `Weights.record` has made."""
        count = len(data) // 6
        weights = np.frombuffer(data, dtype="<u2", offset=4 * count)
        return cls(np.frombuffer(data, dtype="<u4", count=count), weights.astype(np.int64))


def record_of(weights: Mapping[str, int], *, dropped: float = 0.0, most: int = 1000) -> bytes:
    """The record of a page of which each term weighs so much; see `Weights.record`."""
    made = Weights()
    for term, weight in weights.items():
        made.add(array("I", [term_hash(term)]).tobytes(), weight)
    return made.record(dropped, most)


def postings_of(check: Check, signatures: Sequence[bytes | None]) -> Postings:
    """Pages and their postings in sorted arrays, as an index has them."""
    tail = Tail(check.payload_bits)
    for number, signature in enumerate(signatures):
        if signature is not None:
            tail.add(check.keys(signature), number)
    return Postings([tail.table()], [], check.payload_bits)
