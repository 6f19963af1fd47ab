"""What the concept network is compared with: I-Match, and the word network without concepts (DWSWN).

DWSWN is Matsuo, Ohsawa and Ishizuka's KeyWorld (2001) used as the paper uses it: the same network and the same
vectors, but of words, and every node is tried as a key, not only those of the highest degree.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from dedupcrawl.content.checks import concepts
from dedupcrawl.content.checks.concepts import MOST_NODES, ConceptsCheck, concept_sequence, phrases
from dedupcrawl.content.concept_network import ConceptVector, key_concepts
from dedupcrawl.content.terms import STOPPED, term_sequence

I_MATCH_TERMS = 20

Vector = bytes


class IMatch:
    """Chowdhury et al. 2002: the 20 terms of the highest IDF, as one fingerprint.

    IDF is that of a training corpus; terms outside it are left out, as the paper does, since they are typing errors.
    """

    def __init__(self, corpus: Iterable[str]) -> None:
        frequencies: Counter[str] = Counter()
        size = 0
        for text in corpus:
            frequencies.update(set(term_sequence(text)))
            size += 1
        self._idf = {term: math.log(size / count) for term, count in frequencies.items() if term != STOPPED}

    def fingerprint(self, text: str) -> frozenset[str]:
        known = {term for term in term_sequence(text) if term in self._idf}
        return frozenset(sorted(known, key=lambda term: (-self._idf[term], term))[:I_MATCH_TERMS])


def concepts_of(text: str, check: ConceptsCheck) -> list[str]:
    return concept_sequence(term_sequence(text), concepts.load(check.thesaurus), check.related)


def words_of(text: str) -> list[str]:
    return phrases(term_sequence(text))


def vector(nodes: Sequence[str], check: ConceptsCheck, considered: int) -> Vector | None:
    """A page's vector as the check stores it."""
    keys = key_concepts(nodes, above=check.above, considered=considered, kept=check.kept, most=MOST_NODES)
    return ConceptVector.of(keys, len(nodes)).to_bytes() if len(keys) >= check.min_kept else None
