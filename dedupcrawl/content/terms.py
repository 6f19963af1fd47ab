"""Terms: what MWO weighs and what concept networks are made of.

A folded text has no traditional characters any more. A page with ideographs or kana is segmented by jieba's dictionary
and model (rjieba: the same words for Chinese, some twenty times faster); any other is cut up at everything that is
neither letter nor digit. Stop words go, and words of the letters a … z are reduced to their stems by Snowball's English
stemmer. Words of other scripts and numbers stay as they are.

The two libraries behind this are loaded when the first page needs them (about 0.1 s and 40 MB), so that a crawl
whose checks do without terms does not pay for them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, version
from itertools import chain

from dedupcrawl.content.characters import CJK, VOWEL_SIGNS
from dedupcrawl.content.checks.base import NOT_INSTALLED
from dedupcrawl.content.stop_words import STOP_WORDS

TERMS_VERSION = 2
"""Changes whenever a text's terms do, other than by a new version of a library."""

STOPPED = ""
"""Stands in a sequence for a stop word or a mark between clauses: a phrase ends there."""

_LONGEST = 64  # characters; longer words are cut into pieces, so that what is remembered stays small
_REMEMBERED = 1 << 16  # words whose terms are remembered

_CJK = re.compile(f"[{CJK}]")
_SPACED_WORD = re.compile(f"(?:[^\\W_{CJK}]|[{VOWEL_SIGNS}]){{1,{_LONGEST}}}")
_PLACE = "\ue000"  # of a spaced word; a character for private use, so part of no word
_SPLIT = re.compile(f"({_SPACED_WORD.pattern})")
_WORD = re.compile(f"[{CJK}]{{1,{_LONGEST}}}|{_SPACED_WORD.pattern}|{_PLACE}")


def header() -> dict[str, str | int]:
    """What terms depend on besides the text; the libraries by the versions that may change their words.

    Who has not installed them has no check that needs terms, and may share an index with who has.
    """
    return {"terms": TERMS_VERSION, **{library: _version(library) for library in ("rjieba", "PyStemmer")}}


def _version(library: str) -> str:
    try:
        return ".".join(version(library).split(".")[:2])
    except PackageNotFoundError:
        return NOT_INSTALLED


@cache
def _segmenter() -> Callable[[str], list[str]]:
    import rjieba  # here, and below, because only some crawls need terms

    segment: Callable[[str], list[str]] = rjieba.cut
    return segment


@cache
def _stemmer() -> Callable[[str], str]:
    import Stemmer  # type: ignore[import-not-found]  # ships no types

    stem: Callable[[str], str] = Stemmer.Stemmer("english").stemWord
    return stem


@lru_cache(maxsize=_REMEMBERED)
def term(word: str) -> str:
    """The term of one folded word; `STOPPED` for a stop word or a mark."""
    if word in STOP_WORDS or _WORD.match(word) is None:
        return STOPPED
    return _stemmer()(word) if word.isascii() and word.isalpha() else word


def term_sequence(folded: str) -> list[str]:
    """The terms of a folded text in order, `STOPPED` where a stop word or a mark stood; total for any string."""
    segments, spaced = _words(folded)
    if not spaced:
        return list(map(term, segments))
    terms = map(term, spaced)
    return [found if found != _PLACE else next(terms) for found in map(term, segments)]


def term_counts(folded: str) -> dict[str, int]:
    """How often each term occurs in a folded text, `STOPPED` among them: `Counter(term_sequence(folded))`.

    A word is made a term once, however often it occurs.
    """
    segments, spaced = _words(folded)
    words = Counter(segments)
    if spaced:
        del words[_PLACE]
        words.update(spaced)
    counts: dict[str, int] = {}
    for word, count in words.items():
        found = term(word)
        counts[found] = counts.get(found, 0) + count
    return counts


def _words(folded: str) -> tuple[list[str], list[str]]:
    """Words and marks in order; with ideographs or kana, `_PLACE` stands in it for each of the spaced words."""
    if folded.isascii() or _CJK.search(folded) is None:
        return _SPACED_WORD.findall(folded), []
    # The segmenter sees one mark in the place of each spaced word: it would cut Cyrillic into letters.
    pieces = _SPLIT.split(folded.replace(_PLACE, " "))
    segments = _segmenter()(_PLACE.join(pieces[::2]).encode("utf-8", "replace").decode("utf-8"))
    if max(map(len, segments), default=0) > _LONGEST:
        segments = list(chain.from_iterable(map(_WORD.findall, segments)))
    return [segment for segment in segments if segment != " "], pieces[1::2]
