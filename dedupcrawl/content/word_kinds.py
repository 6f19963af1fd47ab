"""Kinds of words: what a symbol that differs is, told from its 15 bits alone, for the text is gone then.

Which words are of which kind: `data/words.txt`.

"Five percent" and "nine percent", 三月 and 五月, Monday and Friday tell bulletins apart as 5 and 9 do. But many of
these words often mean no number (一 in 一些, "may", "second", "sun"), so they are told from digits.

A word in whose place its antonym stands reverses a sentence, however long the page is. English ones are the antonyms of
Princeton WordNet 3.0 with their inflected forms (content/data/LICENSE.WordNet, made by tools/wordnet_antonyms.py), and
function words, which WordNet does not have. Chinese ones are single characters, as an outline has them: 上升 and 下降
differ in two.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content.alignment import Symbols
from dedupcrawl.core.characters import TOUCHING, VALUES
from dedupcrawl.core.digests import NO_SECRET, Secret
from dedupcrawl.core.symbols import SymbolText

_, *_PARTS = re.split(
    r"^\[(\w+)\] .*\n", (files("dedupcrawl.content") / "data" / "words.txt").read_text("utf-8"), flags=re.MULTILINE
)
WORDS = dict(zip(_PARTS[::2], _PARTS[1::2], strict=True))
"""Name of a list → its words, with white space between them."""

STOP_WORDS = frozenset(WORDS["stop"].split())


_ANTONYMS = "antonyms-3.0.txt.gz"

NUMBER, CONTENT, FUNCTION, NEGATION, CONTENT_NUMERAL, FUNCTION_NUMERAL = range(6)
_VALUES = 1 << 16  # of a symbol in an outline


@lru_cache(maxsize=16)
def word_kinds(secret: Secret = NO_SECRET) -> NDArray[np.uint8]:
    """Shape (65536,): the kind of each value that a symbol of an outline of this index may have."""
    kinds = np.full(_VALUES, CONTENT, dtype=np.uint8)
    kinds[1::2] = NUMBER
    # Filler last: it is commoner than a negation that has the same 15 bits, as "cannot" has those of "a".
    negations, telling = (frozenset(WORDS[name].split()) for name in ("negations", "telling"))
    for words, kind in ((negations, NEGATION), (STOP_WORDS - telling - negations, FUNCTION)):
        kinds[values_of(words, secret)] = kind
    kinds[symbols_of(SymbolText.of((VALUES,), secret))] = FUNCTION_NUMERAL
    kinds[symbols_of(SymbolText.of(tuple(f"a{sign}" for sign in TOUCHING), secret))[1::2]] = FUNCTION_NUMERAL
    numerals = values_of(frozenset(WORDS["numerals"].split()), secret)
    kinds[numerals] = np.where(kinds[numerals] == FUNCTION, FUNCTION_NUMERAL, CONTENT_NUMERAL)
    return kinds


def values_of(words: Iterable[str], secret: Secret) -> Symbols:
    """The values of those words that are one symbol."""
    text = SymbolText.of(tuple(sorted(words)), secret)
    values: Symbols = symbols_of(text)[[first for first, size in text.block_places if size == 1]]
    return values


def symbols_of(text: SymbolText) -> Symbols:
    """Shape (n,) uint16: the upper 15 bits of each symbol's hash and, as bit 0, whether it holds a digit."""
    symbols: Symbols = (text.hashes >> np.uint64(48)).astype("<u2")
    symbols &= np.uint16(0xFFFE)
    symbols |= (text.hashes & np.uint64(1)).astype("<u2")
    return symbols


@lru_cache(maxsize=16)
def antonyms(secret: Secret = NO_SECRET) -> NDArray[np.uint32]:
    """Symbols of an outline that are antonyms, two in one word each, in both orders; ascending, some more than once."""
    raw = (files("dedupcrawl.content") / "data" / _ANTONYMS).read_bytes()
    texts = gzip.decompress(raw).decode("ascii"), WORDS["antonyms"], WORDS["chinese_antonyms"]  # pair after pair
    one, other = symbols_of(SymbolText.of(texts, secret)).reshape(-1, 2).T.astype(np.uint32)
    one, other = one[one != other], other[one != other]
    return np.sort(np.concatenate((one << np.uint32(16) | other, other << np.uint32(16) | one)))
