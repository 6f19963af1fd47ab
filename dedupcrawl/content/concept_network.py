"""The concept network of a text, the concepts that hold it together, and their comparison (Cao, Niu, Zhao, Peng).

Nodes are concepts, and edges join those that stand close together in the text. Key concepts are those without which the
mean distance between the others grows most. One breadth-first search from all nodes at once yields all distances: each
node has a bit for each source, which says whether the source has reached it, and a step ORs the words of its
neighbours. (3.2.2 and 3.3.)

A page's key concepts are stored as a vector (eq. 8 to 13): names as 32-bit hashes, weights (frequencies) and positions
as 16-bit numbers.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property

import mmh3
import msgspec
import numpy as np
from numpy.typing import NDArray

REACH = 2
"""Concepts that are at most this far apart in the text are joined."""

_WORD_BITS = 64  # of a uint64
_BLOCK = 8  # words of sources searched at once: as many as fit a core's cache

_MOST_STEPS = 30_000  # nodes times their mean distance; prose of a thousand concepts has 4,000

Nodes = NDArray[np.intp]
Bits = NDArray[np.uint64]


class Network(msgspec.Struct, frozen=True, dict=True):
    """An undirected graph without weights, as lists of neighbours, each node its own neighbour too."""

    starts: Nodes  # shape (n,): where each node's list starts
    neighbours: Nodes  # shape (n + 2 · edges,): the lists, one after the other

    @classmethod
    def of(cls, size: int, ends: Nodes) -> Network:
        """The graph of `size` nodes with the edges `ends`, shape (m, 2); loops and repeated edges count once."""
        loops = np.arange(size, dtype=np.intp)
        one = np.concatenate((ends[:, 0], ends[:, 1], loops))
        other = np.concatenate((ends[:, 1], ends[:, 0], loops))
        codes = np.unique(one * size + other)
        return cls(np.searchsorted(codes, loops * size), codes % max(size, 1))

    def __len__(self) -> int:
        return len(self.starts)

    @cached_property
    def degrees(self) -> Nodes:
        """Shape (n,): neighbours of each node, itself not counted."""
        return np.diff(self.starts, append=len(self.neighbours)) - 1

    @cached_property
    def owners(self) -> Nodes:
        """Shape (n + 2 · edges,): the node in whose list each neighbour stands."""
        return np.repeat(np.arange(len(self), dtype=np.intp), self.degrees + 1)

    @cached_property
    def within_one(self) -> Bits:
        """Shape (words, n): bit s of column v says whether node s is v or a neighbour of v."""
        bits = np.zeros((-(-len(self) // _WORD_BITS), len(self)), dtype=np.uint64)
        sources = self.neighbours
        np.bitwise_or.at(bits, (sources // _WORD_BITS, self.owners), _bit(sources))
        return bits

    def without(self, node: int) -> Nodes:
        """The lists of neighbours when `node` has no edges: each of its edges becomes a loop of the other end."""
        changed = np.where(self.neighbours == node, self.owners, self.neighbours)
        changed[self.owners == node] = node
        return changed

    def labels(self, neighbours: Nodes) -> Nodes:
        """Shape (n,): the lowest node of each node's component."""
        label = np.arange(len(self), dtype=np.intp)
        while True:
            lower = np.minimum.reduceat(label[neighbours], self.starts)
            if np.array_equal(lower, label):
                return label
            label = lower

    def within_one_without(self, node: int) -> Bits:
        """`within_one` when `node` has no edges."""
        bits: Bits = self.within_one.copy()
        word, bit = node // _WORD_BITS, np.uint64(1 << node % _WORD_BITS)
        bits[word] &= ~bit
        bits[:, node] = 0
        bits[word, node] = bit
        return bits


def _bit(nodes: Nodes) -> Bits:
    bits: Bits = np.uint64(1) << (nodes % _WORD_BITS).astype(np.uint64)
    return bits


def mean_distance(network: Network, removed: int | None = None) -> float:
    """d: the mean path length over all pairs of nodes (eq. 3 and 4), without the node `removed` and its edges.

    The distance of an unconnected pair is the sum of the components' widths (their longest shortest paths) and two
    steps from each component to the next, as if a node joined them. The node whose removal separated them gave them no
    longer path than that, so a cut vertex always counts. Matsuo, Ohsawa, Ishizuka (2001) take the widths alone, by
    which the centre of a star, or a lone bridge between two parts, would be worth nothing. The mean is 0 for fewer than
    two nodes.
    """
    size = len(network) - (removed is not None)
    if size < 2:
        return 0.0
    neighbours = network.neighbours if removed is None else network.without(removed)
    within_one = network.within_one if removed is None else network.within_one_without(removed)
    blocks = np.arange(len(network)) // (_WORD_BITS * _BLOCK)
    widths = np.zeros(len(network), dtype=np.int64)
    distances, reached = 0, 0
    for block, first in enumerate(range(0, len(within_one), _BLOCK)):
        nearby = within_one[first : first + _BLOCK]
        before = (blocks == block).astype(np.int64)  # at first each source has reached itself
        alone = int(removed is not None and blocks[removed] == block)  # the removed node reaches itself only
        everything = size * (int(before.sum()) - alone) + alone
        step = 1
        while True:
            counts = np.bitwise_count(nearby).sum(axis=0, dtype=np.int64)
            grown = counts > before
            if not grown.any():
                break
            distances += step * int((counts - before).sum())
            widths[grown] = np.maximum(widths[grown], step)
            if counts.sum() == everything:
                break
            before = counts
            step += 1
            nearby = np.bitwise_or.reduceat(nearby.take(neighbours, axis=1), network.starts, axis=1)
        reached += int(counts.sum())
    pairs = size * (size - 1)
    unreached = pairs - (reached - len(network))
    if unreached:
        labels = network.labels(neighbours)
        width_of = np.zeros(len(network), dtype=np.int64)
        np.maximum.at(width_of, labels, widths)
        components = len(np.unique(labels)) - (removed is not None)
        distances += unreached * (int(width_of.sum()) + 2 * (components - 1))
    return distances / pairs


def key_nodes(network: Network, considered: int, kept: int) -> list[int]:
    """The nodes whose removal lengthens the mean distance most, CB_i = d without i − d, first the one with the most.

    Args:
        network: A connected network. Of two nodes that are equal in everything, the lower one comes first.
        considered: l: only this many nodes are tried, those of the highest degree.
        kept: p: at most this many are returned. None is returned for a network so long and thin that trying them would
            take seconds, such as that of a list of words none of which recurs.
    """
    hubs = np.argsort(-network.degrees, kind="stable")[:considered].tolist()
    whole = mean_distance(network)
    if whole * len(network) > _MOST_STEPS:
        return []
    contributions = {hub: mean_distance(network, hub) - whole for hub in hubs}
    return sorted(hubs, key=lambda hub: -contributions[hub])[:kept]


class KeyConcept(msgspec.Struct, frozen=True):
    """One row of the feature vector (eq. 8)."""

    name: str
    # where it occurs in the concept sequence, ascending; the number of positions is its frequency
    positions: tuple[int, ...]


def text_network(concepts: Sequence[str], above: int, most: int) -> tuple[list[str], Network]:
    """The largest connected part of a text's network, and the concept of each of its nodes.

    Nodes are ordered by frequency, then alphabetically. Of two parts of equal size, the one with the first node is
    taken. Nodes are the concepts that occur more often than `above`, f_thr; only the `most` frequent ones, so that an
    endless page stays cheap.
    """
    counts = Counter(concepts)
    names = sorted((name for name, count in counts.items() if count > above), key=lambda name: (-counts[name], name))
    number = {name: place for place, name in enumerate(names[:most])}
    text = np.fromiter((number.get(name, -1) for name in concepts), dtype=np.intp, count=len(concepts))
    pairs = np.concatenate([np.column_stack((text[:-gap], text[gap:])) for gap in range(1, REACH + 1)])
    network = Network.of(len(number), pairs[(pairs >= 0).all(axis=1)])
    if not len(network):
        return [], network
    labels = network.labels(network.neighbours)
    inside = labels == np.argmax(np.bincount(labels))
    place_of = np.cumsum(inside) - 1
    edges = np.column_stack((network.owners, network.neighbours))
    part = Network.of(int(inside.sum()), place_of[edges[inside[edges[:, 0]]]])
    return [name for name, kept in zip(names, inside.tolist(), strict=False) if kept], part


def key_concepts(concepts: Sequence[str], *, above: int, considered: int, kept: int, most: int) -> list[KeyConcept]:
    """The key concepts of a text, the most important first; see `text_network` and `key_nodes`."""
    names, network = text_network(concepts, above, most)
    keys = [names[node] for node in key_nodes(network, considered, kept)] if names else []
    positions: dict[str, list[int]] = {name: [] for name in keys}
    for place, name in enumerate(concepts):
        if name in positions:
            positions[name].append(place)
    return [KeyConcept(name, tuple(positions[name])) for name in keys]


MOST_POSITIONS = 16
"""Only the positions of a concept's first occurrences are stored, at most this many."""

_LARGEST = 0xFFFF  # the greatest weight; greater ones are stored as this
_HEAD = struct.Struct("<BH")


class ConceptVector(msgspec.Struct, frozen=True, eq=False):
    """The key concepts of a page, the most important first."""

    length: int  # concepts of the whole text
    names: NDArray[np.uint32]  # shape (p,): their hashes, each once
    weights: NDArray[np.float64]  # shape (p,): their frequencies
    positions: tuple[NDArray[np.float64], ...]  # for each, where its first `MOST_POSITIONS` occurrences are

    @classmethod
    def of(cls, concepts: Sequence[KeyConcept], length: int) -> ConceptVector:
        """The vector of a text's key concepts; of two whose hashes collide, the first is kept."""
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
        count, length = _HEAD.unpack_from(data)
        at = _HEAD.size
        names = np.frombuffer(data, dtype="<u4", offset=at, count=count)
        weights = np.frombuffer(data, dtype="<u2", offset=at + 4 * count, count=count)
        lengths = np.frombuffer(data, dtype=np.uint8, offset=at + 6 * count, count=count)
        places = np.frombuffer(data, dtype="<u2", offset=at + 7 * count).astype(np.float64)
        return cls(length, names, weights.astype(np.float64), tuple(np.split(places, np.cumsum(lengths[:-1]))))


def shared(one: ConceptVector, other: ConceptVector) -> Iterator[tuple[int, int]]:
    """For each name that both vectors have, its index in either."""
    place_of = {name: place for place, name in enumerate(other.names.tolist())}
    for place, name in enumerate(one.names.tolist()):
        if name in place_of:
            yield place, place_of[name]


def cosine(one: ConceptVector, other: ConceptVector) -> float:
    """Eq. 9, with the product of the norms as its denominator; in [0, 1]."""
    product = sum(one.weights[here] * other.weights[there] for here, there in shared(one, other))
    return min(1.0, float(product / np.sqrt((one.weights @ one.weights) * (other.weights @ other.weights))))


def position_deviation(one: ConceptVector, other: ConceptVector) -> float:
    """S: how unevenly the shared concepts are shifted; 0 if all are shifted by one constant (eq. 10 to 13).

    For each shared concept, it takes the standard deviation of the differences between its j-th positions in the two
    texts, as far as both have one. S is the mean of these, divided by the mean length of the texts, because the same
    share of edits shifts a long text's concepts further. Eq. 11 prints the mean of absolute differences: then a
    paragraph inserted at the top of one page would count, and at the top of the other would not. The mean here is the
    signed one.
    """
    deviations = []
    for here, there in shared(one, other):
        count = min(len(one.positions[here]), len(other.positions[there]))
        deviations.append(float(np.std(one.positions[here][:count] - other.positions[there][:count])))
    return 2 * sum(deviations) / (len(deviations) * (one.length + other.length)) if deviations else 0.0


_SHARE_BITS = np.uint64(32)
_ONE = 0xFFFF  # a share of 1 in a key
_ROUNDING = 1e-3  # the most that rounded shares can add to a bound or take from it


def keys_of(signature: bytes, first: int) -> Bits:
    """A key for each of the first key concepts, shape (n,): its hash above its share of the vector, in 32 bits."""
    vector = ConceptVector.from_bytes(signature)
    shares = np.rint(vector.directions[:first] * _ONE).astype(np.uint64)
    keys: Bits = vector.names[:first].astype(np.uint64) << _SHARE_BITS | shares
    return keys


def likely(signature: bytes, first: int, keys: Sequence[int], pages: Sequence[int], similarity: float) -> list[int]:
    """Pages whose cosine may be above `similarity`, by the postings of the first key concepts of a vector.

    If a and b are the parts of the two unit vectors that the postings show to be shared, the rest can add at most
    sqrt(1 − |a|²) · sqrt(1 − |b|²) to the cosine (Cauchy-Schwarz).

    Args:
        signature: The vector.
        first: The number of key concepts that are posted.
        keys: The keys of the postings, shape (m,).
        pages: The pages of the postings, shape (m,).
        similarity: The threshold of the cosine.
    """
    own, kept = np.sort(keys_of(signature, first)), np.asarray(keys)
    place = (own >> _SHARE_BITS).searchsorted(kept >> _SHARE_BITS)
    here, there = (np.bitwise_and(part, np.uint64(0xFFFFFFFF)) / _ONE for part in (own[place], kept))
    unique, page = np.unique(np.asarray(pages), return_inverse=True)
    seen, own_seen, kept_seen = (
        np.bincount(page, product, len(unique)) for product in (here * there, here * here, there * there)
    )
    unseen = np.sqrt(np.clip(1 - own_seen, 0, 1) * np.clip(1 - kept_seen, 0, 1))
    above: list[int] = unique[seen + unseen > similarity - _ROUNDING].tolist()
    return above
