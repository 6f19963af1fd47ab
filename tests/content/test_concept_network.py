"""Networks and vectors of concepts."""

from __future__ import annotations

import math
from itertools import combinations, pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedupcrawl.content.concept_network import (
    MOST_POSITIONS,
    ConceptVector,
    KeyConcept,
    Network,
    cosine,
    key_concepts,
    key_nodes,
    mean_distance,
    position_deviation,
    text_network,
)

Edges = list[tuple[int, int]]


def network(size: int, edges: Edges) -> Network:
    return Network.of(size, np.array(edges, dtype=np.intp).reshape(-1, 2))


def by_networkx(size: int, edges: Edges, removed: int | None = None) -> float:
    """The definition, pair by pair."""
    import networkx as nx  # type: ignore[import-untyped]  # ships no types

    graph = nx.Graph()
    graph.add_nodes_from(node for node in range(size) if node != removed)
    graph.add_edges_from(edge for edge in edges if removed not in edge and edge[0] != edge[1])
    if len(graph) < 2:
        return 0.0
    parts = [graph.subgraph(part) for part in nx.connected_components(graph)]
    apart = sum(nx.diameter(part) for part in parts) + 2 * (len(parts) - 1)
    lengths = dict(nx.all_pairs_shortest_path_length(graph))
    distances = sum(lengths[one].get(other, apart) for one, other in permutations(graph, 2))
    return float(distances / (len(graph) * (len(graph) - 1)))


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, Edges]:
    size = draw(st.integers(1, 90))
    ends = st.integers(0, size - 1)
    return size, draw(st.lists(st.tuples(ends, ends), max_size=3 * size))


class TestMeanDistance:
    @given(graphs(), st.data())
    @settings(max_examples=60, deadline=None)
    def test_agrees_with_networkx(self, graph: tuple[int, Edges], data: st.DataObject) -> None:
        size, edges = graph
        removed = data.draw(st.one_of(st.none(), st.integers(0, size - 1)))
        assert mean_distance(network(size, edges), removed) == pytest.approx(by_networkx(size, edges, removed))

    def test_agrees_with_networkx_over_several_blocks_of_sources(self) -> None:
        import networkx as nx

        graph = nx.connected_watts_strogatz_graph(700, 6, 0.1, seed=1)
        made = network(700, list(graph.edges))
        assert mean_distance(made) == pytest.approx(nx.average_shortest_path_length(graph))
        graph.remove_node(600)
        assert mean_distance(made, 600) == pytest.approx(nx.average_shortest_path_length(graph))

    def test_pairs_that_are_apart_count_widths_and_joints(self) -> None:
        edges = [(0, 1), (1, 2), (3, 4)]  # widths 2 and 1, one joint of two steps: 5
        assert mean_distance(network(5, edges)) == pytest.approx((4 + 1 + 6 * 5) / 10)


class TestKeyNodes:
    def test_a_cut_vertex_has_a_large_contribution(self) -> None:
        cliques = [*combinations(range(6), 2), *combinations(range(6, 12), 2)]
        bridge = [*cliques, (0, 12), (12, 6)]  # 12 has the lowest degree of all
        assert set(key_nodes(network(13, bridge), 13, 3)) == {0, 6, 12}

    @given(graphs())
    @settings(max_examples=20, deadline=None)
    def test_order_is_that_of_the_contributions(self, graph: tuple[int, Edges]) -> None:
        size, edges = graph
        made = network(size, edges)
        keys = key_nodes(made, 10, 5)
        contributions = [by_networkx(size, edges, node) for node in keys]
        assert len(keys) == min(5, size)
        assert all(one >= other - 1e-9 for one, other in pairwise(contributions))


class TestTextNetwork:
    def test_concepts_at_most_two_apart_are_joined(self) -> None:
        names, made = text_network(["a", "b", "c", "d"], above=0, most=10)
        assert names == ["a", "b", "c", "d"]
        edges = sorted(
            {tuple(sorted(edge)) for edge in zip(made.owners.tolist(), made.neighbours.tolist(), strict=True)}
        )
        assert [edge for edge in edges if edge[0] != edge[1]] == [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]

    def test_only_the_largest_part_is_kept(self) -> None:
        apart = ["a", "b", "r1", "r2", "c", "d", "e", "r3", "r4", "a", "b", "r5", "r6", "c", "d", "e"]
        assert text_network(apart, above=1, most=10)[0] == ["c", "d", "e"]

    @pytest.mark.parametrize("concepts", [[], ["a"], ["a", "a", "a"], ["a", "b"]])
    def test_next_to_nothing(self, concepts: list[str]) -> None:
        assert len(text_network(concepts, above=0, most=10)[0]) == len(set(concepts))
        found = key_concepts(concepts, above=0, considered=30, kept=20, most=10)
        assert {concept.name for concept in found} == set(concepts)
        assert sorted(place for concept in found for place in concept.positions) == list(range(len(concepts)))

    @given(st.lists(st.sampled_from("abcdefghij"), max_size=80))
    def test_positions_are_where_the_concepts_are(self, text: list[str]) -> None:
        for concept in key_concepts(text, above=1, considered=8, kept=5, most=100):
            assert [text[place] for place in concept.positions] == [concept.name] * text.count(concept.name)


PLACES = st.lists(st.integers(0, 5000), min_size=1, max_size=30, unique=True).map(sorted)
VECTORS = st.dictionaries(st.sampled_from([f"c{n}" for n in range(12)]), PLACES, min_size=1)


def vector(places: dict[str, list[int]], length: int = 100) -> ConceptVector:
    return ConceptVector.of([KeyConcept(name, tuple(found)) for name, found in places.items()], length)


@given(VECTORS, st.integers(0, 20_000))
def test_a_vector_survives_its_bytes(places: dict[str, list[int]], length: int) -> None:
    made = vector(places, length)
    read = ConceptVector.from_bytes(made.to_bytes())
    assert read.length == length
    assert read.names.tolist() == made.names.tolist()
    assert read.weights.tolist() == [len(found) for found in places.values()]
    assert [found.tolist() for found in read.positions] == [found[:MOST_POSITIONS] for found in places.values()]


def test_cosine_of_two_vectors_by_hand() -> None:
    one, other = vector({"a": [1, 2, 3], "b": [4]}), vector({"a": [1, 2], "c": [5, 6]})
    assert cosine(one, other) == pytest.approx(3 * 2 / (math.sqrt(10) * math.sqrt(8)))


@given(VECTORS, VECTORS)
def test_both_measures_are_symmetric_and_bounded(one: dict[str, list[int]], other: dict[str, list[int]]) -> None:
    left, right = vector(one), vector(other)
    assert 0 <= cosine(left, right) <= 1
    assert cosine(left, right) == pytest.approx(cosine(right, left))
    assert position_deviation(left, right) == pytest.approx(position_deviation(right, left))
    assert cosine(left, left) == pytest.approx(1)
    assert position_deviation(left, left) == 0


@given(VECTORS, st.integers(0, 1000))
def test_text_inserted_at_the_top_of_either_page_does_not_count(places: dict[str, list[int]], shift: int) -> None:
    one = vector(places)
    other = vector({name: [place + shift for place in found] for name, found in places.items()})
    assert position_deviation(one, other) == pytest.approx(0, abs=1e-9)
    assert position_deviation(other, one) == pytest.approx(0, abs=1e-9)


def test_deviation_by_hand() -> None:
    one, other = vector({"a": [0, 10, 20], "b": [5]}, 40), vector({"a": [0, 10, 26, 30], "b": [7]}, 60)
    # a: differences 0, 0, -6: mean -2, deviation sqrt(8); b: none. Mean over both, over a mean length of 50.
    assert position_deviation(one, other) == pytest.approx(math.sqrt(8) / 2 / 50)
