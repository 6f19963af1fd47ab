"""Concept vectors: what is stored of a page's key concepts, and how two of them compare (eq. 8 to 13).

Names are kept as 32-bit hashes, weights (frequencies) and positions as 16-bit numbers.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import mmh3
import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content.concept_network import KeyConcept

MOST_POSITIONS = 16
"""Occurrences of a concept whose positions are kept, the first ones."""

_LARGEST = 0xFFFF  # of a weight; what is larger counts as this
_HEAD = struct.Struct("<BH")


@dataclass(frozen=True, slots=True, eq=False)
class ConceptVector:
    """The key concepts of a page, the most important first.

    Attributes:
        length: Concepts of the whole text.
        names: Shape (p,): their hashes, each once.
        weights: Shape (p,): their frequencies.
        positions: For each the places of its first `MOST_POSITIONS` occurrences.
    """

    length: int
    names: NDArray[np.uint32]
    weights: NDArray[np.float64]
    positions: tuple[NDArray[np.float64], ...]

    @classmethod
    def of(cls, concepts: Sequence[KeyConcept], length: int) -> ConceptVector:
        """The vector of a text's key concepts; of two whose hashes collide the first is kept."""
        kept: dict[int, KeyConcept] = {}
        for concept in concepts:
            kept.setdefault(mmh3.hash(concept.name.encode("utf-8", "replace"), signed=False), concept)
        return cls(
            length,
            np.array(list(kept), dtype=np.uint32),
            np.array([min(len(concept.positions), _LARGEST) for concept in kept.values()], dtype=np.float64),
            tuple(np.array(concept.positions[:MOST_POSITIONS], dtype=np.float64) for concept in kept.values()),
        )

    def __len__(self) -> int:
        return len(self.names)

    @property
    def directions(self) -> NDArray[np.float64]:
        """Shape (p,): the weights over their Euclidean norm."""
        unit: NDArray[np.float64] = self.weights / np.sqrt(self.weights @ self.weights)
        return unit

    def to_bytes(self) -> bytes:
        """p, the length, names, weights, numbers of positions and positions, little-endian."""
        counts = np.array([len(places) for places in self.positions], dtype=np.uint8)
        places = np.concatenate((*self.positions, ()))
        parts = (self.names.astype("<u4"), self.weights.astype("<u2"), counts, places.astype("<u2"))
        return _HEAD.pack(len(self), self.length) + b"".join(part.tobytes() for part in parts)

    @classmethod
    def from_bytes(cls, data: bytes) -> ConceptVector:
        """The inverse of `to_bytes`."""
        count, length = _HEAD.unpack_from(data)
        at = _HEAD.size
        names = np.frombuffer(data, dtype="<u4", offset=at, count=count)
        weights = np.frombuffer(data, dtype="<u2", offset=at + 4 * count, count=count)
        lengths = np.frombuffer(data, dtype=np.uint8, offset=at + 6 * count, count=count)
        places = np.frombuffer(data, dtype="<u2", offset=at + 7 * count).astype(np.float64)
        return cls(length, names, weights.astype(np.float64), tuple(np.split(places, np.cumsum(lengths[:-1]))))


def shared(one: ConceptVector, other: ConceptVector) -> Iterator[tuple[int, int]]:
    """Places of the names that both have, in each of them."""
    place_of = {name: place for place, name in enumerate(other.names.tolist())}
    for place, name in enumerate(one.names.tolist()):
        if name in place_of:
            yield place, place_of[name]


def cosine(one: ConceptVector, other: ConceptVector) -> float:
    """Eq. 9, its denominator being the product of the norms; in [0, 1]."""
    product = sum(one.weights[here] * other.weights[there] for here, there in shared(one, other))
    return min(1.0, float(product / np.sqrt((one.weights @ one.weights) * (other.weights @ other.weights))))


def position_deviation(one: ConceptVector, other: ConceptVector) -> float:
    """S: how unevenly the shared concepts are shifted, 0 when all are shifted by one constant (eq. 10 to 13).

    For each shared concept the standard deviation of the differences between its j-th positions in the two texts, as
    far as both have one; then their mean, over the mean length of the texts, because the same share of edits shifts a
    long text's concepts further. Eq. 11 prints the mean of absolute differences: then a paragraph inserted at the top
    of the one page would count, and at the top of the other would not. The mean here is the signed one.
    """
    deviations = []
    for here, there in shared(one, other):
        count = min(len(one.positions[here]), len(other.positions[there]))
        deviations.append(float(np.std(one.positions[here][:count] - other.positions[there][:count])))
    return 2 * sum(deviations) / (len(deviations) * (one.length + other.length)) if deviations else 0.0
