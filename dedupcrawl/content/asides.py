"""Asides: the visible text around a page's main text that is no link.

Extraction takes the text that is worth most for the main text, and sometimes that is a box which all pages of a site
have: a notice about cookies, a list of teasers. The page's own text then stands among the asides. So two pages of a
site with the same main text are two pages all the same when one of them says more elsewhere, and where the main text
turns out to be nothing but template, the asides that the site does not repeat are read in its place.

An aside is known by a hash of its text. Numbers in a sentence do not count: "This page has been viewed 1,281 times"
is a template with a slot. Of a kept page the hashes of those are stored that its site did not repeat then: some bytes a
page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import mmh3
import numpy as np

from dedupcrawl.content.characters import fold
from dedupcrawl.content.symbols import SymbolText

STORED = 64
"""Asides of a kept page that are stored; of a page with more, those that come first by their hashes."""

SENTENCE = 20
"""Symbols of a line that is more than a caption."""

_NUMBER = re.compile(r"\d+")
_WORDS = re.compile(r"[^\W\d_]{2}.*?[^\W\d_]{2}")
_LAST = (1 << 32) - 1
_SEED = 1  # another one than that of the blocks of a main text, which are made of symbols


def hashes_of(asides: Iterable[str]) -> list[int]:
    """MurmurHash3 x86 32 of each aside, folded as texts are, and as if all numbers beside words were the same."""
    folded = map(fold, asides)
    return [mmh3.hash(_NUMBER.sub("0", it) if _WORDS.search(it) else it, _SEED, False) for it in folded]


def packed(hashes: Iterable[int]) -> bytes:
    """Different hashes ascending, 4 bytes each, little-endian; at most `STORED`."""
    first = sorted(set(hashes))[:STORED]
    return np.array(first, dtype="<u4").tobytes() if first else b""


def says_more(asides: Mapping[int, str], kept: bytes, prose: int, in_all: int) -> bool:
    """Whether a page's own asides say something that a kept page's do not.

    Lines of a sentence or more are a text. Captions and small notices stand around any text, around its reprint others;
    only many of them make another page.

    Args:
        asides: Hash → text, of the new page.
        kept: What was packed of the kept page's.
        prose: Symbols of lines of `SENTENCE` symbols and more that are enough.
        in_all: Symbols of lines of any length that are enough.
    """
    known = np.frombuffer(kept, dtype="<u4", count=len(kept) // 4).tolist()
    last = known[-1] if len(known) == STORED else _LAST
    others = [text for number, text in asides.items() if number <= last and number not in known]
    lengths = [len(SymbolText.of((text,)).hashes) for text in others]
    return sum(lengths) >= in_all or sum(length for length in lengths if length >= SENTENCE) >= prose
