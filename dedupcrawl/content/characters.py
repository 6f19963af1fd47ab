"""Character tables: what kind a code point is, and what it folds to, so that texts can be cut up by NumPy.

The regular expression `SYMBOL` is the definition; the tables say the same, character by character, and are made from it
when first used (about 70 ms, 1.2 MB). They hold for the Unicode version of the running Python; later versions only
add characters.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

import numpy as np
from numpy.typing import NDArray

CJK = "\u3005\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
SYMBOL = re.compile(f"[{CJK}]|[^\\W_{CJK}]+")

# Bits of a character's kind.
LETTER = 1  # part of a symbol
ALONE = 2  # a symbol by itself
DIGIT = 4
MARK = 8  # punctuation that ends or encloses a clause

# Apostrophes, hyphens and slashes are left out: they stand inside words.
_MARKS = '.。,、;:?!"“”()《》〈〉「」『』【】[]…—'

_CODE_POINTS = 0x110000


@cache
def kinds() -> NDArray[np.uint8]:
    """Shape (0x110000,): for each folded code point the bits LETTER, ALONE, DIGIT and MARK."""
    everything = np.arange(_CODE_POINTS, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
    table = np.zeros(_CODE_POINTS, dtype=np.uint8)
    for pattern, bit in (("[^\\W_]+", LETTER), (f"[{CJK}]+", LETTER | ALONE), ("\\d+", DIGIT)):
        for run in re.finditer(pattern, everything):
            table[run.start() : run.end()] |= bit
    table[[ord(mark) for mark in _MARKS]] |= MARK
    return table


def fold(text: str) -> str:
    """NFKC-normalize and case-fold `text`: two spellings of one symbol become equal."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return text.casefold()


def code_points(text: str) -> NDArray[np.uint32]:
    """Shape (len(text),): the text as numbers; lone surrogates are kept."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint32, copy=False)
