"""The peers, each with the settings that its documentation shows, and what else is tried on the tuning half.

datasketch: "MinHash LSH" of its documentation, sets of words, 128 permutations, threshold .5.
rensa: "Keep unique documents" of its README, R-MinHash of words, 128 permutations, LSH, threshold .8. Its rho pipeline,
    which samples positions and is the fastest, works on batches only and takes no part in a stream.
gaoya: the defaults of MinHashStringIndex: words, 20 bands of 5 hashes of 32 bits, threshold .75; in lower case, as its
    example has it.
simhash: its author's introduction, strings of three characters, k = 3.
Nutch: the defaults of TextProfileSignature.

None of the five says how Chinese is to be split. Those that take words are given the words of rjieba.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from gaoya.minhash import MinHashStringIndex  # type: ignore[import-untyped]  # it has no types
from rensa import RMinHash, RMinHashDeduplicator  # type: ignore[import-untyped]  # nor has this
from simhash import Simhash, SimhashIndex  # type: ignore[import-untyped]  # nor has this

from benchmarks.peers import text_profile

_WORD = re.compile(r"[^\W_]+")
_NOT_WORD = re.compile(r"[^\w]+")
PERMUTATIONS = 128
SHINGLE = 3
THRESHOLDS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)  # of Jaccard similarity

logging.getLogger("simhash").setLevel(logging.ERROR)  # it warns of every big bucket


class Kept(Protocol):
    """The pages that a method has kept."""

    def matches(self, signature: Any) -> Collection[int]:
        """Numbers of the kept pages that a new one duplicates."""
        ...

    def add(self, number: int, signature: Any) -> None:
        """Keep a page."""
        ...


@dataclass(frozen=True, slots=True)
class Setting:
    """How a method is used.

    Attributes:
        name: For people.
        sign: Text → signature.
        keep: Makes an empty store.
    """

    name: str
    sign: Callable[[str], Any]
    keep: Callable[[], Kept]


@dataclass(frozen=True, slots=True)
class Peer:
    """A library.

    Attributes:
        name: For people.
        documented: As its documentation has it.
        tried: What its best setting is chosen of.
    """

    name: str
    documented: Setting
    tried: tuple[Setting, ...]


def words(text: str, language: str) -> list[str]:
    """The words of a text, in lower case."""
    if language == "zh":
        import rjieba

        return [word for word in rjieba.cut(text.lower()) if _WORD.match(word)]
    return _WORD.findall(text.lower())


def shingles(text: str, language: str) -> list[str]:
    """Every three words that follow one another."""
    found = words(text, language)
    return [" ".join(found[place : place + SHINGLE]) for place in range(max(1, len(found) - SHINGLE + 1))]


Features = Callable[[str, str], list[str]]
FEATURES: Mapping[str, Features] = {"words": words, "3 words": shingles}


class _Datasketch:
    def __init__(self, threshold: float) -> None:
        from datasketch import MinHashLSH  # type: ignore[import-untyped]  # it has no types; and imports SciPy

        self._index = MinHashLSH(threshold=threshold, num_perm=PERMUTATIONS)

    def matches(self, signature: Any) -> Collection[int]:
        found: list[int] = self._index.query(signature)
        return found

    def add(self, number: int, signature: Any) -> None:
        self._index.insert(number, signature)


def datasketch(language: str) -> Peer:
    """MinHash and its LSH."""

    def setting(features: str, threshold: float) -> Setting:
        def sign(text: str) -> Any:
            from datasketch import MinHash

            made = MinHash(num_perm=PERMUTATIONS)
            made.update_batch([feature.encode() for feature in set(FEATURES[features](text, language))])
            return made

        return Setting(f"{features}, {threshold}", sign, lambda: _Datasketch(threshold))

    return Peer(
        "datasketch", setting("words", 0.5), tuple(setting(features, t) for features in FEATURES for t in THRESHOLDS)
    )


class _Rensa:
    def __init__(self, threshold: float) -> None:
        self._index = RMinHashDeduplicator(threshold=threshold, num_perm=PERMUTATIONS, use_lsh=True)

    def matches(self, signature: Any) -> Collection[int]:
        return [int(key) for key in self._index.get_duplicates(signature)]

    def add(self, number: int, signature: Any) -> None:
        self._index.add(str(number), signature)


def rensa(language: str) -> Peer:
    """R-MinHash and its deduplicator."""

    def setting(features: str, threshold: float) -> Setting:
        def sign(text: str) -> Any:
            made = RMinHash(num_perm=PERMUTATIONS, seed=42)
            made.update(FEATURES[features](text, language))
            return made

        return Setting(f"{features}, {threshold}", sign, lambda: _Rensa(threshold))

    return Peer(
        "rensa", setting("words", 0.8), tuple(setting(features, t) for features in FEATURES for t in THRESHOLDS)
    )


class _Gaoya:
    def __init__(self, make: Callable[[], MinHashStringIndex]) -> None:
        self._index = make()

    def matches(self, signature: Any) -> Collection[int]:
        found: list[int] = self._index.query(signature)
        return found

    def add(self, number: int, signature: Any) -> None:
        self._index.insert_document(number, signature)


def gaoya(language: str) -> Peer:
    """MinHash and its LSH, text in: the index splits it at white space."""

    def sign(text: str) -> str:
        return " ".join(words(text, language))

    def bands(features: str, threshold: float) -> Setting:
        size = SHINGLE if features == "3 words" else 1

        def make() -> MinHashStringIndex:
            return MinHashStringIndex(32, threshold, None, None, PERMUTATIONS, "word", True, (size, size))

        return Setting(f"{features}, {threshold}", sign, lambda: _Gaoya(make))

    return Peer(
        "gaoya",
        Setting("words, 0.75", sign, lambda: _Gaoya(lambda: MinHashStringIndex(lowercase=True))),
        tuple(bands(features, t) for features in FEATURES for t in THRESHOLDS),
    )


class _Simhash:
    def __init__(self, distance: int) -> None:
        self._index = SimhashIndex([], k=distance)

    def matches(self, signature: Any) -> Collection[int]:
        return [int(key) for key in self._index.get_near_dups(signature)]

    def add(self, number: int, signature: Any) -> None:
        self._index.add(str(number), signature)


def simhash(language: str) -> Peer:
    """SimHash and its index."""

    def characters(text: str) -> Any:
        plain = _NOT_WORD.sub("", text.lower())
        return Simhash([plain[place : place + SHINGLE] for place in range(max(1, len(plain) - SHINGLE + 1))])

    def setting(name: str, sign: Callable[[str], Any], distance: int) -> Setting:
        return Setting(f"{name}, k = {distance}", sign, lambda: _Simhash(distance))

    def of(features: Features) -> Callable[[str], Any]:
        return lambda text: Simhash(features(text, language))

    ways = {"3 characters": characters, "3 words": of(shingles)}
    return Peer(
        "simhash (PyPI)",
        setting("3 characters", characters, 3),
        tuple(setting(name, sign, k) for name, sign in ways.items() for k in (3, 5, 7, 9)),
    )


class _Equal:
    """Pages with the same signature."""

    def __init__(self) -> None:
        self._first: dict[Hashable, int] = {}

    def matches(self, signature: Any) -> Collection[int]:
        return [self._first[signature]] if signature in self._first else []

    def add(self, number: int, signature: Any) -> None:
        self._first[signature] = number


def nutch(language: str) -> Peer:
    """TextProfileSignature."""

    def setting(rate: float, length: int, features: Features | None = None) -> Setting:
        def sign(text: str) -> bytes:
            plain = " ".join(features(text, language)) if features else text
            return text_profile.signature(plain, rate, length)

        return Setting(f"{'words, ' if features else ''}{rate:g}, {length}", sign, _Equal)

    ways = ((None, 2),) if language == "en" else ((None, 2), (words, 1), (words, 0))
    return Peer(
        "Nutch TextProfile",
        setting(0.01, 2),
        tuple(setting(rate, length, features) for features, length in ways for rate in (0.01, 0.05, 0.1, 0.2, 0.4)),
    )


def all_peers(language: str) -> list[Peer]:
    """All five."""
    return [make(language) for make in (datasketch, rensa, gaoya, simhash, nutch)]
