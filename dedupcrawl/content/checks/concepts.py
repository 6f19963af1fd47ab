"""The concept network as a check: pages with the same key concepts in the same places (DWDCS; spec 4).

Concepts of a text are its words, with synonyms merged, and its recurring phrases (Cao, Niu, Zhao, Peng, 3.2.1).

**Words.** Two words are one concept when Rel (eq. 7) of their synonyms exceeds a threshold. That relation is not
transitive, so following it would chain words together without end. Instead the words are taken from the most frequent
in the text to the rarest. Each joins the word to which it is most related among those that already stand for a concept,
or represents a new one itself. Every member is thus related to its representative directly, and the result depends on
how often each word occurs, not on the order in which words occur. A word that an edit adds joins a frequent one instead
of replacing it, so a page and its copy keep the same representatives.

**Phrases** are recurring runs of two or three concepts without a stop word or a mark inside. A phrase's concept is the
run of its words' concepts, so "vitamin deficiency" and "vitamin lack" are the same: eq. 6 and 7 with the synonyms of
each word counted as one token, all of which have to agree.

**Synonyms**, Con(t) of eq. 5, are for English those of Princeton WordNet 3.0, reduced to its synonyms and shipped with
the package under its own licence (content/data/LICENSE.WordNet, made by tools/wordnet_synonyms.py). Any other
thesaurus, for example for Chinese, is a file in one of two forms:

- Open Multilingual Wordnet: "synset TAB lang:lemma TAB word" lines; a "+" in a word marks a suffix and is dropped.
- Cilin: "Aa01A02= word word …" lines; "=" makes them synonyms, "#" only related, and "@" stands for a single word.

**Search.** A page is posted under its first n key concepts, and its candidates are the pages posted under any of its
own first n, as in the paper. A posting holds the concept's share of its vector, so most candidates are dropped without
reading the page: if a and b are the parts of the two unit vectors that are known to be shared, the unknown rest can
add at most sqrt(1 − |a|²) · sqrt(1 − |b|²) to the cosine (Cauchy-Schwarz).
"""

from __future__ import annotations

import gzip
import re
import zlib
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import ClassVar

from dedupcrawl.content import terms
from dedupcrawl.content.checks.base import Check, Keys
from dedupcrawl.content.terms import STOPPED, term
from dedupcrawl.core.characters import fold
from dedupcrawl.core.postings import Postings
from dedupcrawl.core.symbols import SYMBOLS_VERSION, SymbolText
from dedupcrawl.page import Page
from dedupcrawl.setting import BELOW_1, file, parameter, share, whole

ENGLISH = "wordnet-3.0.txt.gz"

_CILIN = re.compile(r"\S+=\s+(\S.*)")
_BETWEEN_WORDS = re.compile(r"[\s_\-]+")
_REMEMBERED = 1 << 14  # terms whose synonyms are cached

Synonyms = tuple[str, ...]


class ThesaurusError(ValueError):
    """A file is not a thesaurus; the message names it and says what to do."""


class Thesaurus:
    """Sets of synonyms, looked up by term.

    A word of several parts adds each of its parts that is not a stop word ("orange tree": orange, tree), as the paper
    counts overlapping tokens; a name of several parts ("Republic of Cuba") adds only itself, or every republic would
    be a synonym of every other.
    """

    def __init__(self, sets: Iterable[Synonyms]) -> None:
        """Keep `sets`, each the words of one concept, with a space or underscore inside a word of several parts."""
        self._sets = list(sets)
        self.synonyms = lru_cache(maxsize=_REMEMBERED)(self._synonyms)

    @cached_property
    def _of_term(self) -> dict[str, list[int]]:
        """Term → numbers of its sets. Of words with one stem, the one in most sets counts ("orange", not "orang")."""
        of_word: dict[str, list[int]] = {}
        for number, words in enumerate(self._sets):
            for word in words:
                if _BETWEEN_WORDS.search(word) is None:
                    of_word.setdefault(fold(word), []).append(number)
        of_term: dict[str, list[int]] = {}
        for word in sorted(of_word, key=lambda word: (len(of_word[word]), word)):
            of_term[term(word)] = of_word[word]
        of_term.pop(STOPPED, None)
        return of_term

    def senses(self, of_term: str) -> int:
        """The number of sets that contain the term; common words are in more sets."""
        return len(self._of_term.get(of_term, ()))

    def _synonyms(self, of_term: str) -> frozenset[str]:
        """Con(t): the term itself and the terms of all words with which it shares a set."""
        parts = {of_term}
        for number in self._of_term.get(of_term, ()):
            for word in self._sets[number]:
                parts.update(_parts(word))
        parts.discard(STOPPED)
        return frozenset(parts)


def _parts(word: str) -> Iterable[str]:
    folded = fold(word)
    pieces = _BETWEEN_WORDS.split(folded)
    return [folded] if len(pieces) > 1 and word != folded else map(term, pieces)


def overlap_ratio(one: frozenset[str], other: frozenset[str]) -> float:
    """Rel, eq. 7: the common tokens of two concepts over their mean number of tokens, in [0, 1]."""
    return 2 * len(one & other) / (len(one) + len(other))


def parse(text: str) -> Iterator[Synonyms]:
    """The sets of synonyms of a file in either form; lines of neither form, comments and lone words are skipped."""
    by_synset: dict[str, list[str]] = {}
    for line in text.splitlines():
        fields = line.split("\t")
        if len(fields) >= 3 and fields[1].endswith("lemma"):
            by_synset.setdefault(fields[0], []).append(fields[2].strip().replace("+", ""))
        elif (cilin := _CILIN.fullmatch(line.strip())) is not None:
            yield tuple(cilin[1].split())
    yield from (tuple(words) for words in by_synset.values() if len(words) > 1)


def read_file(path: Path) -> list[Synonyms]:
    """The sets of synonyms of a file, in UTF-8 or GB 18030.

    Raises:
        ThesaurusError: The file has none, or cannot be read.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ThesaurusError(f"{path}: cannot be read ({error.strerror}); give the path of a thesaurus") from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("gb18030", "replace")
    sets = list(parse(text))
    if not sets:
        raise ThesaurusError(f"{path}: no synonyms in it; give a file in Open Multilingual Wordnet or Cilin form")
    return sets


@lru_cache(maxsize=4)
def load(path: str = "") -> Thesaurus:
    """WordNet's synonyms, and those of the file at `path` unless that is empty.

    Raises:
        ThesaurusError: see `read_file`.
    """
    packed = files("dedupcrawl.content").joinpath("data").joinpath(ENGLISH).read_bytes()
    sets = list(parse(gzip.decompress(packed).decode("ascii")))
    return Thesaurus(sets + read_file(Path(path)) if path else sets)


LONGEST_PHRASE = 3
"""The most words of a phrase."""

PHRASE_FREQUENCY = 3
"""A run of words that occurs at least this often is a phrase."""


def representatives(frequencies: Mapping[str, int], thesaurus: Thesaurus, threshold: float) -> dict[str, str]:
    """Word → the word that stands for its concept. Does not depend on the order of `frequencies`.

    Two words are one concept when their Rel exceeds `threshold`, Rel_thr, 0 … 1. Of two equally frequent words, the one
    in more sets of the thesaurus comes first, then the alphabet decides. Of two equally related representatives, the
    first is taken.
    """
    order = sorted(frequencies, key=lambda word: (-frequencies[word], -thesaurus.senses(word), word))
    place = {word: number for number, word in enumerate(order)}
    concept_of: dict[str, str] = {}
    standing_for: dict[str, list[str]] = {}  # token → representatives with it among their synonyms
    for word in order:
        synonyms = thesaurus.synonyms(word)
        best, most = word, threshold
        for other in sorted(
            {other for token in synonyms for other in standing_for.get(token, ())}, key=place.__getitem__
        ):
            ratio = overlap_ratio(synonyms, thesaurus.synonyms(other))
            if ratio > most:
                best, most = other, ratio
        concept_of[word] = best
        if best == word:
            for token in synonyms:
                standing_for.setdefault(token, []).append(word)
    return concept_of


def phrases(words: Sequence[str]) -> list[str]:
    """The words, with recurring runs joined by spaces, the longest first; `STOPPED` is left out."""
    runs: Counter[tuple[str, ...]] = Counter()
    for length in range(2, LONGEST_PHRASE + 1):
        runs.update(zip(*(words[start:] for start in range(length)), strict=False))
    frequent = {run for run, count in runs.items() if count >= PHRASE_FREQUENCY and STOPPED not in run}
    joined: list[str] = []
    place = 0
    while place < len(words):
        length = next(
            (size for size in range(LONGEST_PHRASE, 1, -1) if tuple(words[place : place + size]) in frequent), 1
        )
        if words[place] != STOPPED:
            joined.append(" ".join(words[place : place + length]))
        place += length
    return joined


def concept_sequence(words: Sequence[str], thesaurus: Thesaurus, threshold: float) -> list[str]:
    """The concepts of a text in order, from its terms (`dedupcrawl.content.terms.term_sequence`)."""
    frequencies = Counter(words)
    del frequencies[STOPPED]
    concept_of = representatives(frequencies, thesaurus, threshold)
    concept_of[STOPPED] = STOPPED
    return phrases([concept_of[word] for word in words])


MOST_TERMS = 20_000
"""The most terms of a page that are read."""
MOST_NODES = 1_000
"""The most nodes of a network; the search takes about a twentieth of a second for so many."""
MAX_KEY_CONCEPTS = 255  # a signature has their number in one byte

_PAYLOAD_BITS = 32  # see `concept_network.keys_of`


@lru_cache(maxsize=4)
def _checksum(path: str) -> int:
    return zlib.crc32(Path(path).read_bytes()) if path else 0


@dataclass(frozen=True, slots=True)
class ConceptsCheck(Check):
    """Pages whose concept vectors have a cosine above `similarity` and whose concepts occur in similar places."""

    similarity: float = parameter(  # Sim_thr
        "CONCEPTS_SIMILARITY", 0.9, BELOW_1, "The cosine of duplicates' concept vectors is greater.", loosest=min
    )
    deviation: float = parameter(  # S_thr
        "CONCEPTS_DEVIATION",
        0.2,
        share(),
        "The concepts of duplicates are shifted less unevenly than this, as a share of the texts' length.",
        loosest=max,
    )
    searched: int = parameter(  # n
        "CONCEPTS_SEARCHED",
        5,
        whole(1, MAX_KEY_CONCEPTS),
        "Duplicates have a concept in common among this many first key concepts of both.",
    )
    related: float = parameter(  # Rel_thr
        "CONCEPTS_RELATED",
        0.24,
        share(),
        "Two words are one concept if their synonyms overlap by more than this; 1 merges none.",
    )
    above: int = parameter(  # f_thr
        "CONCEPTS_ABOVE", 0, whole(0, 1000), "Only concepts that occur more often than this are nodes of the network."
    )
    considered: int = parameter(  # l
        "CONCEPTS_CONSIDERED",
        30,
        whole(1, 10_000),
        "This many nodes, those of the highest degree, are tried as key concepts.",
    )
    kept: int = parameter(
        "CONCEPTS_KEPT", 20, whole(1, MAX_KEY_CONCEPTS), "How many key concepts a page has at most."
    )  # p
    min_kept: int = parameter(
        "CONCEPTS_MIN_KEPT", 10, whole(1, MAX_KEY_CONCEPTS), "A page with fewer key concepts is not compared by them."
    )
    thesaurus: str = parameter(
        "CONCEPTS_THESAURUS",
        "",
        file("a thesaurus in Open Multilingual Wordnet or Cilin form", read_file),
        "Synonyms in addition to WordNet's, for example for Chinese.",
    )
    dictionary: str = terms.dictionary_parameter()

    name: ClassVar[str] = "concepts"
    keys_depend_on: ClassVar[frozenset[str]] = frozenset({"searched"})
    payload_bits: ClassVar[int] = _PAYLOAD_BITS

    def header(self) -> Mapping[str, str | int | float]:
        """What signatures and keys depend on; this does not include the two thresholds of duplicates."""
        return {
            "symbols": SYMBOLS_VERSION,
            **terms.header(self.dictionary),
            "searched": self.searched,
            "related": self.related,
            "phrase": f"{LONGEST_PHRASE} {PHRASE_FREQUENCY}",
            "above": self.above,
            "most": MOST_NODES,
            "considered": self.considered,
            "kept": self.kept,
            "min_kept": self.min_kept,
            "thesaurus": f"{ENGLISH} {_checksum(self.thesaurus):08x}",
            "hash": "murmur3_x86_32",
        }

    def signature(self, page: Page, text: SymbolText) -> bytes | None:
        """The page's concept vector; None for a page with fewer than `min_kept` key concepts."""
        from dedupcrawl.content.concept_network import ConceptVector, key_concepts  # NumPy, which no other check needs

        words = terms.term_sequence(text.text, self.dictionary)[:MOST_TERMS]
        text_concepts = concept_sequence(words, load(self.thesaurus), self.related)
        limits = {"above": self.above, "considered": self.considered, "kept": self.kept, "most": MOST_NODES}
        keys = key_concepts(text_concepts, **limits)
        least = min(self.min_kept, self.kept, self.considered)
        return ConceptVector.of(keys, len(text_concepts)).to_bytes() if len(keys) >= least else None

    def keys(self, signature: bytes) -> Keys:
        """A key for each of the first n key concepts: its hash, then its share of the vector."""
        from dedupcrawl.content.concept_network import keys_of

        return array("Q", keys_of(signature, self.searched).tobytes())

    def candidates(self, signature: bytes, postings: Postings) -> list[int]:
        """Pages with one of the first n key concepts among their own first n, whose cosine may be high enough."""
        from dedupcrawl.content.concept_network import likely

        prefixes = self.probe(signature).prefixes
        return likely(signature, self.searched, *postings.find(prefixes), self.similarity)

    def compare(self, new: bytes, kept: bytes) -> float | None:
        """The cosine, if it and the positions indicate a duplicate that the search could have found."""
        from dedupcrawl.content.concept_network import ConceptVector, cosine, position_deviation

        one, other = ConceptVector.from_bytes(new), ConceptVector.from_bytes(kept)
        if not set(one.names[: self.searched].tolist()) & set(other.names[: self.searched].tolist()):
            return None
        similarity = cosine(one, other)
        if similarity <= self.similarity or position_deviation(one, other) >= self.deviation:
            return None
        return similarity
