"""Thesauri: Con(t), the synonyms of a term (Cao, Niu, Zhao, Peng, eq. 5), for English and, by a file, for Chinese.

English is Princeton WordNet 3.0, cut down to its synonyms and shipped with the package under its own licence
(content/data/LICENSE.WordNet, made by tools/wordnet_synonyms.py). Any other thesaurus is a file in one of two forms:

- Open Multilingual Wordnet: "synset TAB lang:lemma TAB word" lines; a "+" in a word marks a suffix and is dropped.
- Cilin: "Aa01A02= word word …" lines; "=" makes them synonyms, "#" only related and "@" stands for one word alone.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from importlib.resources import files
from pathlib import Path

from dedupcrawl.content.characters import fold
from dedupcrawl.content.terms import STOPPED, term

ENGLISH = "wordnet-3.0.txt.gz"

_CILIN = re.compile(r"\S+=\s+(\S.*)")
_BETWEEN_WORDS = re.compile(r"[\s_\-]+")
_REMEMBERED = 1 << 14  # terms whose synonyms are remembered

Synonyms = tuple[str, ...]


class ThesaurusError(ValueError):
    """A file that is no thesaurus; the message says which and what it takes."""


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
        """Term → numbers of its sets. Of words with one stem the one in most sets counts ("orange", not "orang")."""
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
        """How many sets the term stands in: the more, the more common a word is."""
        return len(self._of_term.get(of_term, ()))

    def _synonyms(self, of_term: str) -> frozenset[str]:
        """Con(t): the term itself and the terms of all words it shares a set with."""
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
    """The sets of synonyms of a file in either form; lines of neither form, comments and lone words are passed over."""
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
        ThesaurusError: when there is none in it, or it cannot be read.
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
