"""Table 1 of the concept-network paper: how large the networks are, and what their key concepts cost."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.concept_methods import concepts_of, words_of
from benchmarks.concept_pairs import text_of
from benchmarks.markdown import table
from benchmarks.planted_cases import LATER, SOURCES, originals
from benchmarks.texts import documents
from dedupcrawl.content.checks.concepts import ConceptsCheck
from dedupcrawl.content.concept_network import Network, key_nodes, text_network

TABLE_1 = {145: 1685, 498: 6931, 1219: 24377, 3197: 256328}  # nodes → milliseconds a document
LENGTHS = ((0, 500), (500, 2000), (2000, 5000), (5000, 12_000))  # characters of a document
PAPER_LENGTHS = (  # Table 1: nodes and ms of DWDCS, of Matsuo et al.
    ("145 / 1,685", "227 / 2,379"),
    ("498 / 6,931", "786 / 32,579"),
    ("1,219 / 24,377", "1,938 / 184,342"),
    ("3,197 / 256,328", "5,378 / 2,798,874"),
)
DOCUMENTS = (20, 20, 8, 3)  # of each length and language
EVERY_NODE = 10**6
RELATED = (0.001, 0.1, 0.24, 0.5)


def text_like_network(nodes: int, chance: random.Random) -> Network:
    """A network as texts make them: words by Zipf's law, two neighbours on each side joined; about 8 edges a node."""
    heights = [1 / (rank + 1) ** 0.8 for rank in range(nodes)]
    text = [*map(str, range(nodes)), *map(str, chance.choices(range(nodes), heights, k=round(1.25 * nodes)))]
    chance.shuffle(text)
    return text_network(text, 0, nodes)[1]


def times() -> str:
    """Table 1: milliseconds of CPU for the key concepts of networks of its sizes."""
    chance = random.Random(9)
    rows: list[Sequence[object]] = []
    for nodes, paper in TABLE_1.items():
        network = text_like_network(nodes, chance)
        repeats = max(5, 15_000 // nodes)
        spent = []
        for _ in range(repeats):
            fresh = Network(network.starts, network.neighbours)
            start = time.process_time()
            key_nodes(fresh, 30, 20)
            spent.append(1000 * (time.process_time() - start))
        rows.append(
            (
                nodes,
                f"{network.degrees.mean():.1f}",
                f"{statistics.median(spent):.1f}",
                f"{paper:,}",
                f"{paper / statistics.median(spent):,.0f}",
            )
        )
    return table(("nodes", "edges a node", "CPU ms", "the paper's ms", "times faster"), rows)


def by_length(data: Path, lexicon: str) -> str:
    """Table 1 with real documents: nodes and times of both networks."""
    check = ConceptsCheck(thesaurus=lexicon)
    texts = {
        language: [text_of(page) for _, page in sorted(documents(data / "text" / f"{archive}.tar.xz").items())]
        for language, archive in LATER.items()
    }
    rows: list[Sequence[object]] = []
    for (least, most), paper, count in zip(LENGTHS, PAPER_LENGTHS, DOCUMENTS, strict=True):
        for language, found in texts.items():
            some = [text for text in found if least <= len(text) < most]
            chosen = random.Random(12).sample(some, min(count, len(some)))
            ways = ((lambda text: concepts_of(text, check), check.considered), (words_of, EVERY_NODE))
            cells = [_nodes_and_time(list(map(make, chosen)), considered) for make, considered in ways]
            rows.append((f"{least:,} – {most:,}", language, len(chosen), *paper, *cells))
    head = ("characters", "language", "documents", "the paper: DWDCS", "KeyWorld", "here: DWDCS", "KeyWorld")
    return table(head, rows)


def _nodes_and_time(texts: Sequence[list[str]], considered: int) -> str:
    """Nodes / CPU milliseconds for the key nodes, on average."""
    nodes, spent = [], 0.0
    for text in texts:
        network = text_network(text, 0, EVERY_NODE)[1]
        nodes.append(len(network))
        start = time.process_time()
        key_nodes(network, considered, 20)
        spent += time.process_time() - start
    return f"{statistics.mean(nodes):,.0f} / {1000 * spent / len(texts):,.1f}"


def merging(data: Path, lexicon: str) -> str:
    """How many different words and phrases are left as concepts, by Rel_thr."""
    pages = originals(data, "report", random.Random(9))
    rows = []
    for language in SOURCES:
        some = [text_of(pages[name]) for name in sorted(pages) if name.startswith(language)][::8]
        words = sum(len(set(words_of(text))) for text in some)
        shares = (
            sum(len(set(concepts_of(text, ConceptsCheck(related=related, thesaurus=lexicon)))) for text in some) / words
            for related in RELATED
        )
        rows.append((language, len(some), f"{words / len(some):.0f}", *(f"{share:.0%}" for share in shares)))
    return table(("language", "pages", "words and phrases a page", *(f"Rel_thr {value:g}" for value in RELATED)), rows)
