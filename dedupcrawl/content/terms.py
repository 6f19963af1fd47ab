"""Terms: what MWO weighs and what concept networks are made of.

Normalized text has only simplified characters. A page with ideographs or kana is segmented with jieba's dictionary and
model (rjieba: the same words for Chinese, much faster), and with a user's dictionary (DEDUP_DICTIONARY); any other page
is split at everything that is neither letter nor digit. Stop words are dropped, and words of the letters a … z are
reduced to their stems by Snowball's English stemmer. Words of other scripts and numbers are not changed.

The two libraries are loaded when the first page needs them, so that a crawl whose checks use no terms does not pay for
them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from functools import cache, lru_cache
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import mmh3

from dedupcrawl.core.characters import CJK, VOWEL_SIGNS, fold
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.core.terms import LONGEST_WORD, PLACE, SpacedTerms, TermHashes, cut, term_hashes, term_of
from dedupcrawl.setting import file, parameter

TERMS_VERSION = 2
"""Changes whenever the terms of a text change for other reasons than a new version of a library."""

STOPPED = ""
"""Stands in a sequence for a stop word and, in text with ideographs, also for a mark: a phrase ends there."""

_REMEMBERED = 1 << 16  # words whose terms are cached

_ENTRY = re.compile("(.+?)(?: ([0-9]{1,12}))?(?: ([A-Za-z]+))?")  # of a dictionary, as jieba's load_userdict reads it


class _Patterns(NamedTuple):
    """The patterns of words."""

    word: re.Pattern[str]
    ideographs: re.Pattern[str]


@cache  # made on first use, like the libraries: compiling them takes 20 ms
def _patterns() -> _Patterns:
    ideographs = f"[{CJK}]{{1,{LONGEST_WORD}}}"
    spaced = f"(?:[^\\W_{CJK}]|[{VOWEL_SIGNS}]){{1,{LONGEST_WORD}}}"
    return _Patterns(re.compile(f"{ideographs}|{spaced}|{PLACE}"), re.compile(ideographs))


class DictionaryError(ValueError):
    """A file is not a dictionary for segmentation; the message names it and says what to do."""


def header(dictionary: str = "") -> dict[str, str | int]:
    """What terms depend on besides the text: the libraries' major and minor versions, and the dictionary's digest."""
    made_by = {library: _version(library) for library in ("rjieba", "PyStemmer")}
    return {"terms": TERMS_VERSION, **made_by, **({"dictionary": _digest(dictionary)} if dictionary else {})}


@lru_cache(maxsize=4)
def _digest(dictionary: str) -> str:
    return hashlib.blake2b(Path(dictionary).read_bytes(), digest_size=8).hexdigest()


def dictionary_parameter() -> Any:
    """The field of a check for a dictionary besides jieba's."""
    return parameter(
        "DICTIONARY",
        "",
        file("a dictionary in jieba's format", read_dictionary),
        "Chinese words that `mwo` and `concepts` know in addition to jieba's own.",
    )


def read_dictionary(path: Path) -> dict[str, int | None]:
    """The words of a dictionary in jieba's format, folded, each with its frequency or None.

    A line is a word, its frequency and its tag, the last two optional, with a space between them. Words with
    anything but ideographs are ignored, because letters and digits are words of their own wherever they stand.

    Raises:
        DictionaryError: The file has no word in it, or cannot be read.
    """
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except OSError as error:
        raise DictionaryError(f"{path}: cannot be read ({error.strerror}); give the path of a dictionary") from error
    except UnicodeDecodeError as error:
        raise DictionaryError(f"{path}: not UTF-8; save it in that encoding") from error
    frequencies: dict[str, int | None] = {}
    for number, line in enumerate(lines, 1):
        if entry := _ENTRY.fullmatch(line.strip()):
            word, *rest = fold(entry[1]).split() or [""]
            if _patterns().ideographs.fullmatch(word):
                if rest:
                    raise DictionaryError(f"{path}, line {number}: after a word come its frequency and its tag")
                frequencies[word] = int(entry[2]) if entry[2] else None
    if not frequencies:
        raise DictionaryError(f"{path}: no word of ideographs in it; give lines such as '云计算 5 n'")
    return frequencies


@cache
def _version(library: str) -> str:
    return ".".join(version(library).split(".")[:2])


@lru_cache(maxsize=4)
def _segmenter(dictionary: str) -> Callable[[str], list[str]]:
    import rjieba  # imported here, and below, because only some crawls need terms

    segmenter = rjieba.Jieba() if dictionary else rjieba
    for word, frequency in (read_dictionary(Path(dictionary)) if dictionary else {}).items():
        segmenter.add_word(word, frequency, None)
    segment: Callable[[str], list[str]] = segmenter.cut
    return segment


@cache
def _stemmer() -> Callable[[str], str]:
    import Stemmer  # type: ignore[import-not-found]  # ships no types

    stem: Callable[[str], str] = Stemmer.Stemmer("english").stemWord
    return stem


@lru_cache(maxsize=_REMEMBERED)
def term(word: str) -> str:
    """The term of one folded word; `STOPPED` for a stop word or a mark."""
    return term_of(word, _stemmer)


def term_sequence(folded: str, dictionary: str = "") -> list[str]:
    """The terms of a folded text in order, with `STOPPED` for stop words and marks; never raises."""
    text, spaced = cut(folded)
    if not text:
        return list(map(term, spaced))
    terms = map(term, spaced)
    return [one if one != PLACE else next(terms) for one in map(term, _segmented(text, dictionary))]


def main_terms(text: SymbolText, dictionary: str = "") -> bytes:
    """The hashes of the terms of a text, without `STOPPED`, four bytes each, in no particular order."""
    hashes, rest = _spaced.of(text)
    return hashes + _hashes(rest, [], dictionary) if rest else hashes


@lru_cache(maxsize=_REMEMBERED)
def terms_of_line(line: str, dictionary: str = "") -> bytes:
    """The same for a line; cached, because lines such as the texts of links recur on the pages of a site."""
    return _hashes(*cut(fold(line)), dictionary)


def term_hash(term: str) -> int:
    """MurmurHash3 x86 32."""
    return mmh3.hash(term.encode("utf-8", "replace"), 0, False)


_term_hashes = TermHashes(_stemmer)
_spaced = SpacedTerms(_term_hashes)


def _hashes(text: str, spaced: list[str], dictionary: str) -> bytes:
    words = spaced + _segmenter(dictionary)(text) if text else spaced
    hashes, longer = term_hashes(words, _term_hashes)
    return hashes + term_hashes(_pieces(longer), _term_hashes)[0] if longer else hashes


def _segmented(text: str, dictionary: str) -> list[str]:
    """The words and marks of a text in order; `PLACE` counts as a word."""
    segments = _segmenter(dictionary)(text)
    if max(map(len, segments), default=0) > LONGEST_WORD:
        segments = _pieces(segments)
    return [segment for segment in segments if segment != " "]


def _pieces(words: list[str]) -> list[str]:
    return list(chain.from_iterable(map(_patterns().word.findall, words)))
