"""Symbols: the one tokenization that every content check shares, for Chinese, English and mixed pages.

A symbol is a CJK ideograph or kana, or a whole run of letters and digits in a script that writes words with spaces
(spec 1, "characters"). Text is NFKC-normalized and case-folded first, so full-width digits and capitals do not count.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property

import mmh3
import numpy as np
from numpy.typing import NDArray

CJK = "\u3005\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
SYMBOL = re.compile(f"[{CJK}]|[^\\W_{CJK}]+")
_HAS_DIGIT = re.compile(r"\d")
_CACHE_LIMIT = 200_000  # symbols; about 25 MB
_SYMBOL_LIMIT = 256  # characters; a longer run is cut, so a megabyte without a space stays cheap


def fold(text: str) -> str:
    """NFKC-normalize and case-fold `text`: two spellings of one symbol become equal."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return text.casefold()


class _SymbolHashes(dict[str, int]):
    """Memo of symbol hashes, emptied when full: a page's symbols cost one dictionary look-up each."""

    def __missing__(self, symbol: str) -> int:
        if len(self) >= _CACHE_LIMIT:
            self.clear()
        value = mmh3.hash64(symbol[:_SYMBOL_LIMIT].encode("utf-8", "replace"), signed=False)[0]
        value = (value & ~1) | (_HAS_DIGIT.search(symbol) is not None)
        self[symbol] = value
        return value


_hashes = _SymbolHashes()


@dataclass(frozen=True)
class SymbolText:
    """A page's main text as symbols.

    Attributes:
        text: The folded main text, paragraphs separated by newlines.
    """

    text: str

    @classmethod
    def of(cls, paragraphs: tuple[str, ...]) -> SymbolText:
        """Fold `paragraphs` and join them by newlines."""
        return cls(fold("\n".join(paragraphs)))

    @cached_property
    def symbols(self) -> list[str]:
        """The symbols in text order."""
        return SYMBOL.findall(self.text)

    @cached_property
    def hashes(self) -> NDArray[np.uint64]:
        """Shape (len(symbols),): first half of MurmurHash3 x64 128 of each symbol's UTF-8.

        Bit 0 says whether the symbol holds a digit, so numbers can be told from words after the text is gone.
        Part of the stored format: equal on every machine and byte order.
        """
        return np.fromiter(map(_hashes.__getitem__, self.symbols), dtype=np.uint64, count=len(self.symbols))
