"""The concept network as a check: pages with the same key concepts in the same places (DWDCS; spec 4).

**Search.** A page is posted under its first n key concepts, and its candidates are the pages posted under any of its
own first n, as in the paper. A posting holds the concept's share of its vector, so most of them are dropped without a
look at the page: with a and b the parts of the two unit vectors that are seen to be shared, what is not seen can add
at most sqrt(1 − |a|²) · sqrt(1 − |b|²) to the cosine (Cauchy-Schwarz).
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

import numpy as np

from dedupcrawl.content import concepts, terms
from dedupcrawl.content.checks.base import Check, Keys, PageIds, Postings
from dedupcrawl.content.concept_network import ConceptVector, cosine, key_concepts, position_deviation
from dedupcrawl.content.symbols import SYMBOLS_VERSION, SymbolText
from dedupcrawl.page import Page
from dedupcrawl.setting import BELOW_1, file, parameter, share, whole

MOST_TERMS = 20_000
"""Terms of a page that are looked at."""
MOST_NODES = 1_000
"""Nodes of a network; the search takes about a twentieth of a second for so many."""
MAX_KEY_CONCEPTS = 255

_PAYLOAD_BITS = 32
_ONE = 0xFFFF  # a share of 1 in a posting
_ROUNDING = 1e-3  # what rounded shares can add to or take from a bound


@lru_cache(maxsize=4)
def _checksum(path: str) -> int:
    return zlib.crc32(Path(path).read_bytes()) if path else 0


@dataclass(frozen=True, slots=True)
class ConceptsCheck(Check):
    """Pages whose concept vectors have a cosine above `similarity` and whose concepts lie alike."""

    similarity: float = parameter(  # Sim_thr
        "CONCEPTS_SIMILARITY", 0.9, BELOW_1, "The cosine of duplicates' concept vectors is greater.", loosest=min
    )
    deviation: float = parameter(  # S_thr
        "CONCEPTS_DEVIATION",
        0.2,
        share(),
        "How unevenly duplicates' concepts are shifted is less, as a share of the texts' length.",
        loosest=max,
    )
    searched: int = parameter(  # n
        "CONCEPTS_SEARCHED",
        5,
        whole(1, MAX_KEY_CONCEPTS),
        "A common concept is among so many first key concepts of both duplicates.",
    )
    related: float = parameter(  # Rel_thr
        "CONCEPTS_RELATED",
        0.24,
        share(),
        "Two words are one concept when their synonyms overlap by more; 1 merges none.",
    )
    above: int = parameter(  # f_thr
        "CONCEPTS_ABOVE", 0, whole(0, 1000), "A concept that occurs no more often is not a node of the network."
    )
    considered: int = parameter(  # l
        "CONCEPTS_CONSIDERED", 30, whole(1, 10_000), "So many nodes of the highest degree are tried as key concepts."
    )
    kept: int = parameter("CONCEPTS_KEPT", 20, whole(1, MAX_KEY_CONCEPTS), "Key concepts of a page.")  # p
    min_kept: int = parameter(
        "CONCEPTS_MIN_KEPT", 10, whole(1, MAX_KEY_CONCEPTS), "A page with fewer key concepts is not compared by them."
    )
    thesaurus: str = parameter(
        "CONCEPTS_THESAURUS",
        "",
        file("a thesaurus in Open Multilingual Wordnet or Cilin form", concepts.read_file),
        "Synonyms besides WordNet's, for Chinese say.",
    )
    dictionary: str = terms.dictionary_parameter()

    name: ClassVar[str] = "concepts"
    payload_bits: ClassVar[int] = _PAYLOAD_BITS

    def header(self) -> Mapping[str, str | int | float]:
        """What signatures and keys depend on; the two thresholds of duplicates are not among it."""
        return {
            "symbols": SYMBOLS_VERSION,
            **terms.header(self.dictionary),
            "searched": self.searched,
            "related": self.related,
            "phrase": f"{concepts.LONGEST_PHRASE} {concepts.PHRASE_FREQUENCY}",
            "above": self.above,
            "most": MOST_NODES,
            "considered": self.considered,
            "kept": self.kept,
            "min_kept": self.min_kept,
            "thesaurus": f"{concepts.ENGLISH} {_checksum(self.thesaurus):08x}",
            "hash": "murmur3_x86_32",
        }

    def signature(self, page: Page, text: SymbolText) -> bytes | None:
        """The page's concept vector; None for a page of fewer than `min_kept` key concepts."""
        words = terms.term_sequence(text.text, self.dictionary)[:MOST_TERMS]
        text_concepts = concepts.concept_sequence(words, concepts.load(self.thesaurus), self.related)
        limits = {"above": self.above, "considered": self.considered, "kept": self.kept, "most": MOST_NODES}
        keys = key_concepts(text_concepts, **limits)
        least = min(self.min_kept, self.kept, self.considered)
        return ConceptVector.of(keys, len(text_concepts)).to_bytes() if len(keys) >= least else None

    def keys(self, signature: bytes) -> Keys:
        """One key for each of the first n key concepts: its hash, then its share of the vector."""
        vector = ConceptVector.from_bytes(signature)
        names = vector.names[: self.searched].astype(np.uint64)
        shares = np.rint(vector.directions[: self.searched] * _ONE).astype(np.uint64)
        keys: Keys = names << np.uint64(_PAYLOAD_BITS) | shares
        return keys

    def candidates(self, signature: bytes, postings: Postings) -> PageIds:
        """Pages with one of the first n key concepts among their own first n, whose cosine may be high enough."""
        own = np.sort(self.keys(signature))
        names = own >> np.uint64(_PAYLOAD_BITS)
        keys, pages = postings.find(names)
        place = names.searchsorted(keys >> np.uint64(_PAYLOAD_BITS))
        here, there = (np.bitwise_and(part, np.uint64(0xFFFFFFFF)) / _ONE for part in (own[place], keys))
        unique, page = np.unique(pages, return_inverse=True)
        seen, own_seen, kept_seen = (
            np.bincount(page, product, len(unique)) for product in (here * there, here * here, there * there)
        )
        unseen = np.sqrt(np.clip(1 - own_seen, 0, 1) * np.clip(1 - kept_seen, 0, 1))
        return unique[seen + unseen > self.similarity - _ROUNDING]

    def compare(self, new: bytes, kept: bytes) -> float | None:
        """The cosine, when it and the positions say duplicate and the search could have found the page."""
        one, other = ConceptVector.from_bytes(new), ConceptVector.from_bytes(kept)
        if not set(one.names[: self.searched].tolist()) & set(other.names[: self.searched].tolist()):
            return None
        similarity = cosine(one, other)
        if similarity <= self.similarity or position_deviation(one, other) >= self.deviation:
            return None
        return similarity
