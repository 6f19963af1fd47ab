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
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

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


class Kept(NamedTuple):
    """The pages that a method has kept."""

    matches: Callable[[Any], Collection[int]]  # numbers of the kept pages that a new one's signature duplicates
    add: Callable[[int, Any], None]  # keeps a page


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


def grid(setting: Callable[[str, float], Setting]) -> tuple[Setting, ...]:
    """A setting for each kind of features and threshold."""
    return tuple(setting(features, threshold) for features in FEATURES for threshold in THRESHOLDS)


def datasketch(language: str) -> Peer:
    """MinHash and its LSH."""
    from datasketch import MinHash, MinHashLSH  # type: ignore[import-untyped]  # it has no types; and imports SciPy

    def setting(features: str, threshold: float) -> Setting:
        def sign(text: str) -> Any:
            made = MinHash(num_perm=PERMUTATIONS)
            made.update_batch([feature.encode() for feature in set(FEATURES[features](text, language))])
            return made

        def keep() -> Kept:
            index = MinHashLSH(threshold=threshold, num_perm=PERMUTATIONS)
            return Kept(index.query, index.insert)

        return Setting(f"{features}, {threshold}", sign, keep)

    return Peer("datasketch", setting("words", 0.5), grid(setting))


def _under_text(index: Any) -> Callable[[int, Any], None]:
    """Adds to an index whose keys are text."""
    return lambda number, made: index.add(str(number), made)


def rensa(language: str) -> Peer:
    """R-MinHash and its deduplicator."""

    def setting(features: str, threshold: float) -> Setting:
        def sign(text: str) -> Any:
            made = RMinHash(num_perm=PERMUTATIONS, seed=42)
            made.update(FEATURES[features](text, language))
            return made

        def keep() -> Kept:
            index = RMinHashDeduplicator(threshold=threshold, num_perm=PERMUTATIONS, use_lsh=True)
            return Kept(
                lambda made: list(map(int, index.get_duplicates(made))), lambda n, made: index.add(str(n), made)
            )

        return Setting(f"{features}, {threshold}", sign, keep)

    return Peer("rensa", setting("words", 0.8), grid(setting))


def gaoya(language: str) -> Peer:
    """MinHash and its LSH, text in: the index splits it at white space."""

    def sign(text: str) -> str:
        return " ".join(words(text, language))

    def kept(index: MinHashStringIndex) -> Kept:
        return Kept(index.query, index.insert_document)

    def bands(features: str, threshold: float) -> Setting:
        sizes = (SHINGLE, SHINGLE) if features == "3 words" else (1, 1)
        options = (32, threshold, None, None, PERMUTATIONS, "word", True, sizes)
        return Setting(f"{features}, {threshold}", sign, lambda: kept(MinHashStringIndex(*options)))

    documented = Setting("words, 0.75", sign, lambda: kept(MinHashStringIndex(lowercase=True)))
    return Peer("gaoya", documented, grid(bands))


def simhash(language: str) -> Peer:
    """SimHash and its index."""

    def characters(text: str) -> Any:
        plain = _NOT_WORD.sub("", text.lower())
        return Simhash([plain[place : place + SHINGLE] for place in range(max(1, len(plain) - SHINGLE + 1))])

    def three_words(text: str) -> Any:
        return Simhash(shingles(text, language))

    def setting(name: str, sign: Callable[[str], Any], distance: int) -> Setting:
        def keep() -> Kept:
            index = SimhashIndex([], k=distance)
            return Kept(lambda made: [int(key) for key in index.get_near_dups(made)], _under_text(index))

        return Setting(f"{name}, k = {distance}", sign, keep)

    ways = {"3 characters": characters, "3 words": three_words}
    return Peer(
        "simhash (PyPI)",
        setting("3 characters", characters, 3),
        tuple(setting(name, sign, k) for name, sign in ways.items() for k in (3, 5, 7, 9)),
    )


def nutch(language: str) -> Peer:
    """TextProfileSignature: pages with the same signature are duplicates."""

    def setting(rate: float, length: int, features: Features | None = None) -> Setting:
        def sign(text: str) -> bytes:
            plain = " ".join(features(text, language)) if features else text
            return text_profile.signature(plain, rate, length)

        def keep() -> Kept:
            first: dict[bytes, int] = {}
            return Kept(lambda made: [first[made]] if made in first else [], lambda n, made: first.update({made: n}))

        return Setting(f"{'words, ' if features else ''}{rate:g}, {length}", sign, keep)

    ways = ((None, 2),) if language == "en" else ((None, 2), (words, 1), (words, 0))
    return Peer(
        "Nutch TextProfile",
        setting(0.01, 2),
        tuple(setting(rate, length, features) for features, length in ways for rate in (0.01, 0.05, 0.1, 0.2, 0.4)),
    )


def all_peers(language: str) -> list[Peer]:
    """All five."""
    return [make(language) for make in (datasketch, rensa, gaoya, simhash, nutch)]
